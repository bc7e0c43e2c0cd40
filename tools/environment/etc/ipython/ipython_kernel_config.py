"""All kernels name one version of Python, so that a page just opened does not show as changed."""

from ipykernel.ipkernel import IPythonKernel

IPythonKernel.language_info["version"] = "3"

"""Settings of every run, and the marks that follow from where a test lies."""

import gc
import importlib.util
import os
import re
import sys

import pytest

# Two processes with one thread each are faster than with two. Kernels inherit this.
os.environ["OMP_NUM_THREADS"] = "1"
os.environ["PYDEVD_DISABLE_FILE_VALIDATION"] = "1"  # or every kernel of Colab's age greets with a warning
os.environ.pop("MPLBACKEND", None)  # a person's own: notebooks choose theirs

gc.set_threshold(20_000)  # or a tenth of the time goes in looking at what is imported, and stays

# jsonschema, with which nbval reads notebooks, would make a grammar of addresses: a second in each process.
sys.modules["rfc3987_syntax"] = None
pytest_plugins = ["nbval.plugin"] if importlib.util.find_spec("nbval") else []

# Part of a test's id: its mark.
MARKS = {
    r"tests/browser/": "browser",
    r"tests/pages/|tests/core/test_panel": "colab",
    r"tests/libraries/": "libraries",
}


def pytest_configure():
    if importlib.util.find_spec("jupyter_client"):  # the part `libraries` of .ci/run has no kernels
        from tools import forked_kernels  # here, because only now the number of threads is set

        forked_kernels.install()


def pytest_collection_modifyitems(config, items):
    for item in items:
        if item.get_closest_marker("judge") and "judge" not in config.option.markexpr:
            item.add_marker(pytest.mark.skip(reason="transformers is asked by `course.py test -m judge`"))
        for pattern, mark in MARKS.items():
            if re.search(pattern, item.nodeid):
                item.add_marker(mark)


@pytest.fixture(autouse=True)
def torch_as_usual():
    """Whatever a page's cell, or the test before, has set."""
    import torch

    torch.set_printoptions(profile="default")
    torch.set_default_dtype(torch.float32)

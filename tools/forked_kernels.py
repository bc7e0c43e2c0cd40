"""Kernels that are forked from one process that has imported what is large: the tests start fifty of them.

On Linux alone, where that is safe; elsewhere each kernel imports its own, as it does for a learner.
"""

import gc
import multiprocessing
import os
import sys

from jupyter_client.provisioning import local_provisioner

LARGE = ["torch", "seaborn", "matplotlib.backends.backend_agg", "ipykernel.kernelapp", "ipywidgets"]
LARGE += ["torch._dynamo"]  # which the first optimiser imports, and the first vmap
BACKEND = "module://matplotlib_inline.backend_inline"  # which a kernel tells matplotlib before it is imported
FORKS = multiprocessing.get_context("forkserver" if sys.platform == "linux" else None)


def install():
    """Let this process, which starts kernels, fork them."""
    if sys.platform == "linux":
        FORKS.set_forkserver_preload(LARGE)
        local_provisioner.launch_kernel = Forked


class Forked(FORKS.Process):
    """A kernel's process, which answers what is asked of a ``subprocess.Popen``, too."""

    stdin = stdout = stderr = None

    def __init__(self, command, *, env, cwd=None, stderr=None, **_):
        begun, begins = FORKS.Pipe(duplex=False)
        arguments = command[2:], env, cwd, stderr is not None, begins  # without `python -m`
        super().__init__(target=run, args=arguments, daemon=True)
        self.start()
        begins.close()
        begun.recv()

    def poll(self):
        return self.exitcode

    def wait(self):
        self.join()
        return self.exitcode

    def send_signal(self, number):
        os.kill(self.pid, number)


def run(arguments, environment, folder, silent, begins):
    """Run a kernel in the process that has been forked for it."""
    os.setsid()  # signals go to all of its group, which must not be that of the tests
    begins.send(None)
    if silent:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stderr.fileno())
    os.environ.clear()
    os.environ.update(environment)
    os.chdir(folder or ".")
    sys.argv = [*arguments, f"--IPKernelApp.parent_handle={os.getppid()}"]  # with which it ends
    gc.freeze()  # or the first collection would copy what is shared
    import matplotlib
    from ipykernel.kernelapp import launch_new_instance

    matplotlib.rcParams["backend"] = BACKEND
    launch_new_instance()

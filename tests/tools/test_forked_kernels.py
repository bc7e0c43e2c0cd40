"""A forked kernel is one as any other to whoever starts it; that it computes the same, the pages of the course show."""

import os
import signal
import sys

import pytest
from nbval.kernel import CURRENT_ENV_KERNEL_NAME, start_new_kernel

from tools.forked_kernels import BACKEND, Forked

CODE = """
import os, matplotlib
print(os.getcwd(), os.environ["WHERE"], os.getpgid(0) == os.getpid(), matplotlib.get_backend(), "__file__" in globals())
"""


@pytest.mark.skipif(sys.platform != "linux", reason="kernels are forked on Linux alone")
def test_a_kernel_has_its_folder_and_environment_is_interrupted_alone_and_says_that_it_was_killed(tmp_path):
    options = {"cwd": str(tmp_path), "env": os.environ | {"WHERE": "here"}}
    manager, client = start_new_kernel(kernel_name=CURRENT_ENV_KERNEL_NAME, **options)
    said = []
    try:
        process = manager.provisioner.process
        assert isinstance(process, Forked) and process.poll() is None
        client.execute_interactive(CODE, timeout=60, output_hook=said.append)
        (text,) = [message["content"]["text"] for message in said if "text" in message["content"]]
        assert text.split() == [str(tmp_path), "here", "True", BACKEND, "False"]
        message = client.execute("import time; print('sleeping'); time.sleep(60)")
        while client.get_iopub_msg(timeout=60)["content"].get("text") != "sleeping\n":
            pass
        manager.interrupt_kernel()  # this process, in another group, goes on
        reply = client.get_shell_msg(timeout=60)
        assert (reply["parent_header"]["msg_id"], reply["content"]["ename"]) == (message, "KeyboardInterrupt")
    finally:
        client.stop_channels()
        manager.shutdown_kernel(now=True)
    assert process.wait() == process.poll() == -signal.SIGKILL

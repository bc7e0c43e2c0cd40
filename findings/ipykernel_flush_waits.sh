#!/usr/bin/env bash
# ipykernel 7.4.0: print(..., flush=True) before code that does not let other threads run.
# Guess: what is flushed has left the kernel when print returns, and that the kernel is busy was sent before.
# Seen: another thread of the kernel sends both. In about every third cell it gets no turn before a call into C that
# keeps the interpreter: the text, and now and then even "busy", arrive when the call has ended. With time.sleep, never.
# Who meets it: whoever prints "starting" before a slow call of an extension, or waits for the status "busy" in a test.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet ipykernel==7.4.0 jupyter_client==8.10.0
cd "$folder"
"$folder/venv/bin/python" -I - 2>/dev/null <<'PY'
import time
from importlib.metadata import version

from jupyter_client.manager import start_new_kernel

print("ipykernel", version("ipykernel"))
manager, client = start_new_kernel(kernel_name="python3")
SECONDS, CELLS = 0.5, 24
CALLS = {"lets others run": f"time.sleep({SECONDS})", "keeps the interpreter": f"libc.usleep({int(SECONDS * 1e6)})"}
client.execute_interactive("import ctypes, time\nlibc = ctypes.PyDLL(None)")  # which keeps it during a call


def seconds_until(kind, code):
    """How long a message of this kind takes after a cell was sent."""
    began, taken = time.time(), None
    client.execute(code)
    while True:
        message = client.get_iopub_msg(timeout=20)
        if message["msg_type"] == kind and taken is None:
            taken = time.time() - began
        if message["content"].get("execution_state") == "idle":
            return taken


late = {}
for name, call in CALLS.items():
    code = f"print('starting', flush=True)\n{call};"
    late[name] = sum(seconds_until("stream", code) > 0.9 * SECONDS for _ in range(CELLS))
    print(f"{name}: {late[name]} of {CELLS} cells show what was flushed only when the call has ended")
manager.shutdown_kernel(now=True)
assert late["lets others run"] == 0 and late["keeps the interpreter"] >= 2
PY

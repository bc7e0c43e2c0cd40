"""A small copy of the project, so that tests can let course.py make its environment for real.

The packages of requirements.txt stand in as empty ones of the same names, in a folder that pip takes
instead of the package index. Everything else is real: the venv, pip, the processes.
"""

import http.server
import json
import os
import shutil
import socket
import subprocess
import sys
import threading
import zipfile
from pathlib import Path

from tools import environment

ROOT = Path(__file__).resolve().parent.parent
NOWHERE = "http://127.0.0.1:9"  # the port of a service that no machine runs

# Instead of JupyterLab: says that it was started, and with which torch.
FAKE_LAB = """
import importlib.metadata, json, os, sys
print(json.dumps({"lab": sys.argv[1:], "torch": importlib.metadata.version("torch"), "folder": os.getcwd()}))
"""


def free_port():
    """Return a port that nothing uses; the usual one may be taken by somebody's own JupyterLab."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def write_wheel(folder, name, version):
    folder.mkdir(parents=True, exist_ok=True)
    info = f"{name}-{version}.dist-info"
    files = {
        f"{name}/__init__.py": "",
        f"{info}/METADATA": f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n",
        f"{info}/WHEEL": "Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
    }
    if name == "jupyterlab":
        files["jupyterlab/__main__.py"] = FAKE_LAB
    with zipfile.ZipFile(folder / f"{name}-{version}-py3-none-any.whl", "w") as wheel:
        for path, text in files.items():
            wheel.writestr(path, text)
        wheel.writestr(f"{info}/RECORD", "".join(f"{path},,\n" for path in [*files, f"{info}/RECORD"]))


class Project:
    """A copy of course.py and its tools, and a folder of packages that pip takes for the index."""

    def __init__(self, folder, cpu_index=NOWHERE):
        self.folder = folder
        self.wheels = folder.parent / f"{folder.name}-wheels"
        self.venv = folder / ".venv"
        self.stamp = self.venv / "course-stamp.json"
        (folder / "tools").mkdir(parents=True)
        (folder / "tests").mkdir()
        shutil.copy(ROOT / "course.py", folder)
        for file in ("commands.py", "environment.py", "failures.py", "run_tests.py"):
            shutil.copy(ROOT / "tools" / file, folder / "tools")
        for file in ("requirements.txt", "tests/requirements.txt", "tests/requirements-colab.txt"):
            shutil.copy(ROOT / file, folder / file)
        (folder / "tests" / "requirements.txt").write_text("ruff\n")
        code = (ROOT / "tools" / "environment.py").read_text(encoding="utf-8")
        assert environment.CPU_INDEX in code
        code = code.replace(environment.CPU_INDEX, cpu_index)
        (folder / "tools" / "environment.py").write_text(code, encoding="utf-8")
        pins = []
        for name in environment.required_names(ROOT / "requirements.txt"):
            version = "2.13.0" if name == "torch" else "8.0"
            write_wheel(self.wheels, name, version)
            pins.append(f"{name}=={version}\n")
        (folder / "constraints.txt").write_text("".join(pins))

    def settings(self, network=True):
        kept = {k: v for k, v in os.environ.items() if not k.startswith("PIP_") and k.lower() != "no_proxy"}
        pip = {
            "PIP_CONFIG_FILE": os.devnull,
            "PIP_RETRIES": "1",
            "PIP_NO_COMPILE": "1",
            "NO_PROXY": "127.0.0.1",
        }
        if network:
            pip |= {"PIP_NO_INDEX": "1", "PIP_FIND_LINKS": str(self.wheels)}
        else:
            pip |= {"PIP_INDEX_URL": NOWHERE + "/simple"}
        return {**kept, **pip, "OMP_NUM_THREADS": "1"}

    def course(self, *arguments, network=True, python=sys.executable, **more):
        return subprocess.run(
            [str(python), str(self.folder / "course.py"), *arguments],
            capture_output=True, text=True, timeout=240, stdin=subprocess.DEVNULL,
            cwd=self.folder.parent, env={**self.settings(network), **more},
        )  # fmt: skip

    def lab(self, **settings):
        """Start the stand-in of JupyterLab; return what it said and what course.py said before."""
        done = self.course("lab", "--no-browser", "--port", str(free_port()), **settings)
        assert done.returncode == 0, done.stdout + done.stderr
        before, _, last = done.stdout.rstrip("\n").rpartition("\n")
        return json.loads(last), before


class HangingServer:
    """Takes connections and never answers, as a firewall may."""

    def __enter__(self):
        self.asked = asked = threading.Event()
        self.let_go = let_go = threading.Event()

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_GET(self):
                asked.set()
                let_go.wait(60)

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.server.daemon_threads = True
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        self.address = f"http://127.0.0.1:{self.server.server_port}"
        return self

    def __exit__(self, *_):
        self.let_go.set()
        self.server.shutdown()
        self.server.server_close()

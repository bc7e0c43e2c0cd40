"""Make the folder .venv with what the course needs, and see at once when it is already there.

Standard library only: this runs before anything is installed.
"""

import hashlib
import importlib.util
import json
import os
import platform
import re
import shutil
import subprocess
import sys
import threading
import urllib.request
from pathlib import Path

from tools.failures import (
    NO_NETWORK,
    RETRY,
    SPACE_FOR_MORE,
    SPACE_NEEDED,
    CannotGoOn,
    check_space,
    explain_os_error,
    explain_pip,
    say,
    this_python,
)

ROOT = Path(__file__).resolve().parent.parent

# The index of PyTorch's CPU builds. On Linux the default is builds with CUDA, several GB larger.
CPU_INDEX = "https://download.pytorch.org/whl/cpu"
PROBE_SECONDS = 3

# Looked for before each start. Without one of them the folder is broken.
MODULES = ("jupyterlab", "torch", "matplotlib", "ipywidgets", "seaborn", "nbval")


class Environment:
    """A folder such as .venv. Its layers are lists of requirement files, each on top of the one before.

    A stamp in the folder says which layers are installed, from which text of their files. While something
    is being installed the stamp says so; a folder whose stamp still says so was left half-made.
    Packages of the layers in `alone` come without the packages that they ask for.
    """

    def __init__(self, folder, layers, constraints=None, newest=False, alone=()):
        self.folder = ROOT / folder
        self.layers = {name: [ROOT / file for file in files] for name, files in layers.items()}
        self.constraints = ROOT / constraints if constraints else None
        self.newest = newest  # take newer releases where there are any, every time
        self.alone = alone
        self.stamp = self.folder / "course-stamp.json"
        self.python = self.folder / ("Scripts/python.exe" if os.name == "nt" else "bin/python")

    def ensure(self, *wanted):
        """Return the environment's Python, after installing those of the wanted layers that are missing."""
        trouble = self.trouble()
        if trouble:
            self._make(trouble)
        for layer in wanted:
            if self.newest or self._installed().get(layer) != self._fingerprint(layer):
                self._install(layer)
        return self.python

    def trouble(self):
        """Say why the folder has to be made anew, or return None where it is sound."""
        if not self.folder.exists():
            return "is not there yet"
        stamp = self._read_stamp()
        if stamp.get("busy"):
            return "was left half-made"
        if stamp.get("python", this_python()) != this_python():
            return f"was made with Python {stamp['python']}, and this is {this_python()}"
        modules = ["pip"]
        for layer in stamp.get("layers", {}):
            required = {name for file in self.layers.get(layer, []) for name in required_names(file)}
            modules += [name for name in MODULES if name in required]
        probe = (
            "import sys, importlib.util as u\n"
            "print('%d.%d' % sys.version_info[:2], [m for m in sys.argv[1:] if not u.find_spec(m)])"
        )
        return None if self._ask(probe, *modules) == f"{this_python()} []" else "is broken"

    def _make(self, trouble):
        name = self.folder.name
        say(f"{name} {trouble}. Making it: this happens once and takes a few minutes.")
        if not (importlib.util.find_spec("venv") and importlib.util.find_spec("ensurepip")):
            raise CannotGoOn(
                "This Python lacks its venv module: install that first (on Debian and Ubuntu:"
                f" sudo apt install python{this_python()}-venv)."
            )
        # Started by the Python inside the folder, that one is about to vanish: take the one it came from.
        base = getattr(sys, "_base_executable", None) or sys.executable
        if self.folder in Path(base).parents:
            base = os.path.realpath(base)
        try:
            if self.folder.exists():
                shutil.rmtree(self.folder)
            check_space(self.folder.parent)
            self.folder.mkdir()
            self._write_stamp({}, busy="venv")
            made = subprocess.run([base, "-m", "venv", self.folder], capture_output=True, text=True)
            if made.returncode:
                check_space(self.folder.parent)  # what ran out meanwhile; the venv module does not tell
                raise CannotGoOn(explain_pip(made.stdout + made.stderr, "make " + name))
            self._write_stamp({})
        except OSError as error:
            raise CannotGoOn(explain_os_error(error, self.folder)) from error

    def _install(self, layer):
        files = self.layers[layer]
        names = " and ".join(file.relative_to(ROOT).as_posix() for file in files)
        others = {name: made_from for name, made_from in self._installed().items() if name != layer}
        arguments = ["--upgrade"] if self.newest else []
        arguments += [part for file in files for part in ("-r", str(file))]
        arguments += ["--no-deps"] if layer in self.alone else []
        arguments += ["-c", str(self.constraints)] if self.constraints else []
        try:
            check_space(self.folder, SPACE_FOR_MORE if others else SPACE_NEEDED)
            self._write_stamp(others, busy=layer)
            self._install_cpu_torch()
            say(f"Installing {names} into {self.folder.name} ...")
            said = self._pip(*arguments)
            if said is not None:
                if NO_NETWORK.search(said):  # pip downloads everything first: what was there is as it was
                    self._write_stamp(others)
                raise CannotGoOn(explain_pip(said, f"install {names}"))
            # JupyterLab would ask for leave to fetch news: in class that is a question too many.
            settings = self.folder / "etc" / "jupyter" / "labconfig" / "page_config.json"
            settings.parent.mkdir(parents=True, exist_ok=True)
            disabled = {"@jupyterlab/apputils-extension:announcements": True}
            settings.write_text(json.dumps({"disabledExtensions": disabled}), encoding="utf-8")
            self._write_stamp({**others, layer: self._fingerprint(layer)})
        except OSError as error:
            raise CannotGoOn(explain_os_error(error, self.folder)) from error

    def _install_cpu_torch(self):
        """Where torch comes with several GB for a GPU that is not there, take its CPU build instead."""
        torch = self._torch_requirement()
        if torch is None or platform.system() != "Linux" or has_nvidia_gpu():
            return
        installed = self._ask("import importlib.metadata as m; print('torch==' + m.version('torch'))") or ""
        if installed.split("+")[0] == torch:
            return
        if not reachable(CPU_INDEX + "/torch/"):
            say(f"{CPU_INDEX} cannot be reached: taking torch from the usual index, perhaps with CUDA.")
            return
        say(f"No NVIDIA GPU here: taking the CPU build of {torch} ...")
        upgrade = ["--upgrade"] if self.newest else []
        if self._pip("--no-deps", "--index-url", CPU_INDEX, *upgrade, torch) is not None:
            say("That did not work: taking torch from the usual index, perhaps with CUDA.")

    def _torch_requirement(self):
        """Return "torch==…" as pinned, "torch" without a pin, or None where no layer asks for torch."""
        files = [file for files in self.layers.values() for file in files]
        for file in [self.constraints, *files] if self.constraints else files:
            pinned = re.search(r"^torch==[^\s;]+", file.read_text(encoding="utf-8"), re.M)
            if pinned:
                return pinned.group()
        return "torch" if any("torch" in required_names(file) for file in files) else None

    def _pip(self, *arguments):
        """Run pip with its progress on the screen; return None, or what it said where it failed."""
        command = [str(self.python), "-m", "pip", "install", "--disable-pip-version-check", *arguments]
        if not sys.stdout.isatty():
            command.append("--quiet")  # nobody watches: a log needs no list of downloads
        settings = {"text": True, "errors": "replace", "env": child_environment()}
        process = subprocess.Popen(command, stderr=subprocess.PIPE, **settings)
        said = []
        for line in process.stderr:
            if RETRY.match(line) and not any(map(RETRY.match, said)):
                say("The package index does not answer; trying again ...")
            said.append(line)
        return "".join(said) if process.wait() else None

    def _ask(self, code, *arguments):
        """Run a line of Python in the environment; return what it printed, or None where it failed."""
        command = [str(self.python), "-c", code, *arguments]
        settings = {"capture_output": True, "text": True, "timeout": 60, "env": child_environment()}
        try:
            done = subprocess.run(command, **settings)
        except (OSError, subprocess.TimeoutExpired):
            return None
        return None if done.returncode else done.stdout.strip()

    def _fingerprint(self, layer):
        files = self.layers[layer] + ([self.constraints] if self.constraints else [])
        # Without the line ends, which git changes on Windows.
        text = "\n".join(line for file in files for line in file.read_text(encoding="utf-8").splitlines())
        return hashlib.sha256(text.encode()).hexdigest()

    def _read_stamp(self):
        try:
            stamp = json.loads(self.stamp.read_text(encoding="utf-8"))
        except FileNotFoundError:
            return {}  # somebody's own virtual environment: use it, if it is sound
        except (OSError, ValueError):
            return {"busy": "unknown"}
        return stamp if isinstance(stamp, dict) else {"busy": "unknown"}

    def _installed(self):
        return self._read_stamp().get("layers", {})

    def _write_stamp(self, layers, busy=None):
        stamp = {"python": this_python(), "layers": layers, "busy": busy}
        self.stamp.write_text(json.dumps(stamp, indent=1), encoding="utf-8")


def required_names(file):
    """Return the names in a requirement file, without versions."""
    lines = Path(file).read_text(encoding="utf-8").splitlines()
    return [found.group() for line in lines if (found := re.match(r"[A-Za-z0-9][\w.-]*", line))]


def child_environment(**more):
    """The environment variables for programs in .venv: without those that would let in other packages."""
    kept = {name: value for name, value in os.environ.items() if name not in ("PYTHONPATH", "PYTHONHOME")}
    return {**kept, "PYTHONUTF8": "1", "PYTHONNOUSERSITE": "1", "PIP_USER": "0", **more}


def has_nvidia_gpu():
    """Whether an NVIDIA driver is loaded (Linux), or its tool finds a GPU (Windows' Linux subsystem)."""
    if Path("/proc/driver/nvidia/version").exists():
        return True
    try:
        found = subprocess.run(["nvidia-smi", "-L"], capture_output=True, text=True, timeout=20)
    except (OSError, subprocess.TimeoutExpired):
        return False
    return found.returncode == 0 and "GPU 0" in found.stdout


def reachable(address, seconds=PROBE_SECONDS):
    """Whether an address answers in time. In a thread, since a name look-up knows no time limit."""
    answered = []

    def ask():
        try:
            with urllib.request.urlopen(address, timeout=seconds) as answer:
                answered.append(answer.status)
        except (OSError, ValueError):
            pass

    thread = threading.Thread(target=ask, daemon=True)
    thread.start()
    thread.join(seconds)
    return bool(answered)

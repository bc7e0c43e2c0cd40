"""What `course.py test` runs, part by part, and the summary at its end.

Every part runs, also when one before it failed. Standard library only.
"""

import functools
import os
import shutil
import subprocess
import tempfile
import time
import xml.etree.ElementTree as ElementTree
from dataclasses import dataclass, field
from pathlib import Path

from tools.environment import ROOT, child_environment
from tools.failures import CannotGoOn

# Two processes, each with whole files: a notebook's cells must stay together.
SHARED_OUT = ("-n", "2", "--dist", "loadfile")
STRICT_NBVAL = (
    "--nbval",
    "--nbval-current-env",
    "--nbval-cell-timeout=120",
    "-p",
    "no:randomly",
    *SHARED_OUT,
)
PANEL = ("tests/unit/test_panel.py", "tests/unit/test_panel_memory.py", "tests/unit/test_head_grid.py")
TEST_SECONDS = 600  # one test that takes longer hangs

# Ubuntu's chromium-browser is often an empty shell around a snap: it comes last.
BROWSERS = ("google-chrome", "google-chrome-stable", "chromium", "chrome", "microsoft-edge", "msedge")
BROWSERS += ("chromium-browser",)
WINDOWS_BROWSERS = ("Google/Chrome/Application/chrome.exe", "Microsoft/Edge/Application/msedge.exe")
MAC_BROWSERS = ("Google Chrome", "Chromium", "Microsoft Edge")


@dataclass(frozen=True)
class Part:
    """Part of the tests: what pytest is told, or `special`, a function that does something else."""

    name: str
    arguments: tuple = ()
    special: object = None


@dataclass
class Outcome:
    """How a part went: words for the summary, and the places that failed."""

    name: str
    words: str
    seconds: float
    failed: bool = False
    places: list = field(default_factory=list)


def choose(parts, names):
    """Return the parts with these names, or all of them."""
    known = {part.name: part for part in parts}
    for name in names or []:
        if name not in known:
            raise CannotGoOn(f"There is no part {name!r} of the tests: choose from {', '.join(known)}.")
    return [part for part in parts if not names or part.name in names]


def run(parts, python):
    """Run the parts with this Python, print the summary, and return the exit code."""
    outcomes = []
    for part in parts:
        print(f"\n=== {part.name} ===", flush=True)
        outcomes.append(part.special(part, python) if part.special else run_pytest(part, python))
    print("\n=== summary ===")
    for outcome in outcomes:
        print(f"{outcome.name:<11}{outcome.words:<42}{outcome.seconds:6.0f} s")
        for place in outcome.places:
            print(f"{'':<11}{place}")
    bad = [outcome.name for outcome in outcomes if outcome.failed]
    print(f"Failed: {', '.join(bad)}." if bad else "Everything that ran passed.", flush=True)
    return 1 if bad else 0


def run_pytest(part, python, folder=ROOT, **more):
    """Run pytest on the part's arguments; return how it went."""
    started = time.monotonic()
    with tempfile.TemporaryDirectory() as temporary:
        report = Path(temporary) / "report.xml"
        command = [
            str(python), "-m", "pytest", *part.arguments,
            f"--timeout={TEST_SECONDS}", f"--junitxml={report}", "-o", "junit_family=xunit1",
        ]  # fmt: skip
        code = subprocess.run(command, cwd=folder, env=test_environment(python, **more)).returncode
        counts, places = read_report(report)
    words = ", ".join(f"{number} {kind}" for kind, number in counts.items() if number)
    if code and not places:
        places = [f"pytest stopped with exit code {code}: see under === {part.name} === above"]
    if code:
        words = f"FAILED ({words or 'nothing ran'})"
    return Outcome(part.name, words, time.monotonic() - started, bool(code), places)


def read_report(report):
    """Return how many tests passed, failed and were skipped, and the places of those that failed."""
    counts = {"passed": 0, "failed": 0, "skipped": 0}
    places = []
    if report.exists():
        for case in ElementTree.parse(report).iter("testcase"):
            results = {child.tag for child in case}
            kind = (
                "failed"
                if results & {"failure", "error"}
                else "skipped"
                if "skipped" in results
                else "passed"
            )
            counts[kind] += 1
            if kind == "failed":
                places.append(f"{case.get('file') or case.get('classname')}: {case.get('name')}")
    return counts, places


def test_environment(python, **more):
    """Variables for the tests: one thread each, and none of the settings that a person may have made."""
    settings = Path(python).parent.parent / "settings"
    own = {
        "OMP_NUM_THREADS": "1",  # two processes with one thread each are faster than with two
        "IPYTHONDIR": str(settings / "ipython"),
        "JUPYTER_CONFIG_DIR": str(settings / "jupyter"),
        "MPLCONFIGDIR": str(settings / "matplotlib"),
        "PYDEVD_DISABLE_FILE_VALIDATION": "1",  # or every kernel of Colab's age greets with a warning
    }
    environment = child_environment(**own, **more)
    environment.pop("MPLBACKEND", None)
    return environment


def run_ruff(part, python):
    started = time.monotonic()
    bad = []
    for arguments in (["check"], ["format", "--check"]):
        if subprocess.run([str(python), "-m", "ruff", *arguments, "."], cwd=ROOT).returncode:
            bad.append(f"ruff {' '.join(arguments)}: see under === {part.name} === above")
    return Outcome(part.name, "FAILED" if bad else "passed", time.monotonic() - started, bool(bad), bad)


def run_browser(part, python):
    chromium = find_chromium()
    if chromium is None:
        how = "install Chromium, Chrome or Edge, or set COURSE_CHROMIUM to the path of one"
        return Outcome(part.name, "left out: no Chromium found", 0, places=[how])
    return run_pytest(part, python, COURSE_CHROMIUM=chromium)


def find_chromium():
    """Return the path of a browser of Chromium's family, or None."""
    named = os.environ.get("COURSE_CHROMIUM")
    if named:
        if shutil.which(named):
            return shutil.which(named)
        raise CannotGoOn(
            f"COURSE_CHROMIUM is set to {named}, but there is no such program: correct or unset it."
        )
    folders = [os.environ.get(name) for name in ("ProgramFiles", "ProgramFiles(x86)", "LocalAppData")]
    on_windows = [f"{folder}/{program}" for program in WINDOWS_BROWSERS for folder in folders if folder]
    on_a_mac = [f"/Applications/{app}.app/Contents/MacOS/{app}" for app in MAC_BROWSERS]
    places = [*BROWSERS, *on_windows, *on_a_mac]
    return next((found for place in places if (found := shutil.which(place))), None)


def run_portable(part, python, real_model=False):
    """Make the one-file notebooks and run each where nothing else is: all but page 11, or that alone."""
    started = time.monotonic()
    tool = ROOT / "tools" / "make_portable.py"
    if not tool.exists():
        return Outcome(part.name, "FAILED", 0, True, ["tools/make_portable.py is missing: nothing to test"])
    if subprocess.run([str(python), str(tool)], cwd=ROOT, env=child_environment()).returncode:
        return Outcome(
            part.name, "FAILED", time.monotonic() - started, True, ["tools/make_portable.py: see above"]
        )
    with tempfile.TemporaryDirectory() as temporary:
        for notebook in sorted((ROOT / "dist" / "portable").glob("*.ipynb")):
            if (ROOT / "notebooks" / "real_model" / notebook.name).exists() != real_model:
                continue
            alone = Path(temporary) / notebook.stem
            alone.mkdir()
            shutil.copy(notebook, alone)
        return run_pytest(part, python, folder=temporary)


PARTS = [
    Part("ruff", special=run_ruff),
    Part("unit", ("--doctest-modules", "mha_helpers", "tests/unit", *SHARED_OUT)),
    Part("property", ("tests/property", *SHARED_OUT)),
    Part("explorers", ("tests/explorers", *SHARED_OUT)),
    Part("exercises", ("tests/exercises", *SHARED_OUT)),
    Part(
        "tools",
        (
            "tests/tools",
            "tests/test_course.py",
            "tests/test_installation.py",
            "tests/test_packaging.py",
            *SHARED_OUT,
        ),
    ),
    Part("pages", ("tests/notebooks", "tests/test_readme.py", *SHARED_OUT)),
    Part("teaching", ("tests/teaching", *SHARED_OUT)),
    Part("nbval", ("notebooks", "--ignore=notebooks/real_model", *STRICT_NBVAL)),
    Part("browser", ("tests/browser", "--ignore=tests/browser/real_model"), run_browser),
]

COLAB_PARTS = [
    Part("portable", (".", *STRICT_NBVAL), run_portable),
    Part("panel", (*PANEL, *SHARED_OUT)),
    Part("explorers", ("tests/explorers", *SHARED_OUT)),
]

# What needs transformers and the weights of a real model: an environment of its own.
REAL_MODEL_PARTS = [
    Part("real model", ("tests/real_model", *SHARED_OUT)),
    Part("nbval", ("notebooks/real_model", *STRICT_NBVAL)),
    Part("portable", (".", *STRICT_NBVAL), functools.partial(run_portable, real_model=True)),
    Part("browser", ("tests/browser/real_model",), run_browser),
]

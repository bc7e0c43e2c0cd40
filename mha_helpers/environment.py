"""Does this machine have what the course needs? Used by notebook 00, before anything else runs."""

import platform
import sys
from importlib import metadata

# The oldest versions the course supports, as in requirements.txt, which a test compares.
NEEDED = {
    "torch": "2.5",
    "matplotlib": "3.10",
    "seaborn": "0.13",
    "ipywidgets": "7.7",
}
OLDEST_PYTHON = (3, 10)


def check_environment(show_versions=False):
    """Print whether the packages of the course are here and new enough, and what to do if not.

    With ``show_versions=True`` it also prints every version found: paste that into a report of a
    problem. Returns True if nothing is missing. Used in notebook 00.

    >>> check_environment()  # doctest: +SKIP
    Everything is here: Python, torch, matplotlib, seaborn, ipywidgets. You can start.
    True
    """
    problems = []
    if sys.version_info[:2] < OLDEST_PYTHON:
        problems.append(
            f"Python {platform.python_version()} is too old: the course needs 3.10 or newer."
            " Install a newer Python, then start again."
        )
    for package, oldest in NEEDED.items():
        problems += _problems_of(package, oldest)
    if show_versions:
        print(f"Python {platform.python_version()} on {platform.system()}")
        for package in NEEDED:
            print(f"{package} {_version_of(package) or 'not found'}")
    if problems:
        print("Not yet ready:")
        for problem in problems:
            print(f"- {problem}")
        return False
    print(f"Everything is here: Python, {', '.join(NEEDED)}. You can start.")
    return True


def _version_of(package):
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return None


def _problems_of(package, oldest):
    found = _version_of(package)
    if found is None:
        return [f'{package} is missing. In a new cell, run: %pip install "{package}>={oldest}"']
    if _numbers(found) < _numbers(oldest):
        return [
            f"{package} {found} is too old: the course needs {oldest} or newer."
            f' In a new cell, run: %pip install --upgrade "{package}>={oldest}", then restart the kernel.'
        ]
    return []


def _numbers(version):
    """Return the leading numbers of a version: "2.13.0+cpu" -> (2, 13)."""
    parts = version.split("+")[0].split(".")[:2]
    return tuple(int("".join(filter(str.isdigit, part)) or 0) for part in parts)

"""Write the course's address on GitHub into the notebooks and the README, or take it out again.

    python tools/set_repository.py owner/name
    python tools/set_repository.py owner/name --branch trunk
    python tools/set_repository.py --clear

With an address, the set-up cell can install the helper module in Colab, each notebook shows a Colab badge
below its opening lines, and the README shows a Colab and a Binder badge below its title. Without one there
is no badge and no dead link. Running it twice changes nothing, and `--clear` gives back the same bytes.
"""

from __future__ import annotations

import argparse
import contextlib
import re
import sys
from pathlib import Path

import nbformat
from course_notebooks import course_notebooks
from refresh_notebooks import as_text
from setup_cell import is_setup_cell, setup_cell

ROOT = Path(__file__).resolve().parent.parent
COLAB_IMAGE = "https://colab.research.google.com/assets/colab-badge.svg"
BINDER_IMAGE = "https://mybinder.org/badge_logo.svg"
BADGES = re.compile(r"\n\n\[!\[Open in Colab\]\([^\n]*(?=\n|$)")
OWNER = r"[A-Za-z0-9](?:-?[A-Za-z0-9]){0,38}"
NAME = r"[A-Za-z0-9._-]{1,100}"


def checked_repository(text: str) -> str:
    """`text`, if GitHub could have a repository of that name; else a ValueError that says what to write."""
    match = re.fullmatch(rf"({OWNER})/({NAME})", text)
    if not match or match.group(2) in (".", "..") or match.group(2).endswith(".git"):
        raise ValueError(f"{text!r} is not of the form owner/name, as in octocat/attention-course")
    return text


def checked_branch(text: str) -> str:
    """`text`, if it can stand in an address as the name of a branch."""
    if not re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9._/-]*", text) or ".." in text:
        raise ValueError(f"{text!r} cannot be the name of a branch")
    return text


def colab_badge(repository: str, branch: str, path: str) -> str:
    """The badge of a notebook; ``path`` leads to it from the folder "notebooks"."""
    address = f"https://colab.research.google.com/github/{repository}/blob/{branch}/notebooks/{path}"
    return f"[![Open in Colab]({COLAB_IMAGE})]({address})"


def binder_badge(repository: str, branch: str) -> str:
    start = "urlpath=lab/tree/notebooks/00_start_here.ipynb"
    return f"[![Open in Binder]({BINDER_IMAGE})](https://mybinder.org/v2/gh/{repository}/{branch}?{start})"


def with_repository(notebook_text: str, path: str, repository: str, branch: str) -> str:
    """The notebook's file with the address in its set-up cell and its badge; "" takes both out."""
    notebook = nbformat.reads(notebook_text, as_version=4)
    if as_text(notebook) != notebook_text:
        raise ValueError(f"{path} is not in its stored form: run tools/refresh_notebooks.py first")
    first = notebook.cells[0]
    setup = next((cell for cell in notebook.cells if cell.cell_type == "code"), None)
    if first.cell_type != "markdown" or setup is None or not is_setup_cell(setup.source):
        raise ValueError(f"{path} must begin with a Markdown cell, its first code cell being the set-up cell")
    setup.source = setup_cell(repository)
    first.source = BADGES.sub("", first.source)
    if repository:
        first.source += "\n\n" + colab_badge(repository, branch, path)
    return as_text(notebook)


def readme_with_badges(text: str, repository: str, branch: str) -> str:
    """The README with the badges below its title; "" takes them out."""
    text = BADGES.sub("", text)
    if not repository:
        return text
    title, rest = text.split("\n", 1)
    badges = f"{colab_badge(repository, branch, '00_start_here.ipynb')} {binder_badge(repository, branch)}"
    return f"{title}\n\n{badges}\n{rest}"


def set_repository(root: Path, repository: str, branch: str) -> list[str]:
    """Change all files of the course at `root`, or none. Returns the names of those that changed."""
    notebooks = root / "notebooks"
    paths = course_notebooks(root)
    if not paths:
        raise ValueError(f"there is no notebook in {notebooks}")
    old = {path: path.read_bytes().decode("utf-8") for path in paths}
    new = {
        path: with_repository(text, path.relative_to(notebooks).as_posix(), repository, branch)
        for path, text in old.items()
    }
    readme = root / "README.md"
    if readme.is_file():
        old[readme] = readme.read_bytes().decode("utf-8")
        new[readme] = readme_with_badges(old[readme], repository, branch)
    changed = [path for path in new if new[path] != old[path]]
    written = []
    try:
        for path in changed:
            written.append(path)
            path.write_bytes(new[path].encode("utf-8"))
    except OSError as error:
        for path in written:
            with contextlib.suppress(OSError):
                path.write_bytes(old[path].encode("utf-8"))
        raise ValueError(f"{error.filename} cannot be written ({error.strerror})") from error
    return [path.name for path in changed]


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    what = parser.add_mutually_exclusive_group(required=True)
    what.add_argument("repository", nargs="?", help="owner/name on GitHub")
    what.add_argument("--clear", action="store_true", help="take address and badges out")
    parser.add_argument("--branch", default="main", help="the branch that the badges open (default: main)")
    options = parser.parse_args(arguments)
    try:
        repository = "" if options.clear else checked_repository(options.repository)
        changed = set_repository(ROOT, repository, checked_branch(options.branch))
    except ValueError as error:
        print(f"Nothing was changed: {error}.", file=sys.stderr)
        return 1
    print("Changed: " + ", ".join(changed) if changed else "Nothing to change.")
    return 0


if __name__ == "__main__":
    sys.exit(main())

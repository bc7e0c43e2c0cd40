"""Remake everything that is stored: run the notebooks and keep their outputs in one fixed form.

    python -m tools.refresh                             # all pages, and the picture of the README
    python -m tools.refresh notebooks/03_qk_scores.ipynb

A second run changes nothing; `notebook.py` says what is stored. Another release of matplotlib draws the same
picture with a few other pixels.
"""

import argparse
import sys
from pathlib import Path

import nbformat
from nbclient.exceptions import CellExecutionError, CellTimeoutError, DeadKernelError

from tools.notebook import all_pages, exercises_in, remade, write_setup_cell


def refreshed(path):
    """The text of the notebook at `path`, executed and in its stored form. The file is not touched."""
    return renewed(nbformat.read(path, as_version=4), path)


def renewed(notebook, path):
    """The text of a notebook as the page at `path`, with the set-up cell and exercises of today."""
    write_setup_cell(notebook)
    write_exercises(notebook)
    return remade(notebook, path)


def write_exercises(notebook):
    """Write the three cells of each exercise as its module has them: task, stub and check, help."""
    for exercise, sources in exercises_in(notebook):
        for index, cell in enumerate(notebook.cells):
            if cell.source.startswith(f"### Exercise {exercise.number} "):
                cells = notebook.cells[index : index + 3]
                if [own.cell_type for own in cells] != ["markdown", "code", "code"]:
                    raise ValueError(f"exercise {exercise.number} needs two code cells below its heading")
                for own, source in zip(cells, sources, strict=True):
                    own.source = source
                    own.metadata.pop("tags", None)  # an error that a learner may make is none of the page's


def refresh(path):
    """Refresh one file and print a line on it. Returns whether something is wrong."""
    old = path.read_text(encoding="utf-8")
    try:
        new = refreshed(path.resolve())
    except (CellExecutionError, CellTimeoutError, DeadKernelError, ValueError) as error:
        print(f"{path}: {type(error).__name__}: {error}", file=sys.stderr, flush=True)
        return True
    content, state = new.encode("utf-8"), "unchanged" if new == old else "written"
    if new != old:
        path.write_bytes(content)
    print(f"{path.name}: {state}, {len(content) / 1000:.0f} kB", flush=True)
    return False


def main(arguments=None):
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("notebooks", nargs="*", type=Path, help="without any: all, and the README's picture")
    notebooks = parser.parse_args(arguments).notebooks
    faults = [refresh(path) for path in notebooks or all_pages()]
    if not notebooks:
        from tools import screenshot  # here, because it needs a browser's driver

        screenshot.remake_readme_picture()
    return int(any(faults))


if __name__ == "__main__":
    sys.exit(main())

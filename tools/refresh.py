"""Remake everything that is stored: run the notebooks and keep their outputs in one fixed form.

    python -m tools.refresh                             # all pages, and the picture of the README
    python -m tools.refresh notebooks/03_qk_scores.ipynb

A second run changes nothing; `notebook.py` says what is stored. It stops at a page of which a cell fails, and
leaves that page as it was. Another release of matplotlib draws the same picture with a few other pixels.
"""

import argparse
from pathlib import Path

import nbformat

from tools.notebook import all_pages, exercises_in, remade, write_setup_cell


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
    content = renewed(nbformat.read(path, as_version=4), path.resolve()).encode("utf-8")
    changed = content != path.read_bytes()
    if changed:
        path.write_bytes(content)
    print(f"{path.name}: {'written' if changed else 'unchanged'}, {len(content) / 1000:.0f} kB", flush=True)


def main(arguments=None):
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("notebooks", nargs="*", type=Path, help="without any: all, and the README's picture")
    notebooks = parser.parse_args(arguments).notebooks
    for path in notebooks or all_pages():
        refresh(path)
    if not notebooks:
        from tools import readme_picture  # here, because it needs a browser's driver

        readme_picture.remake()


if __name__ == "__main__":
    main()

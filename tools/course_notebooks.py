"""Where the notebooks of the course are, in the order of their numbers, and how one is read.

A teacher's own page may have any name, and anything in its cells that Jupyter runs.
"""

from __future__ import annotations

import ast
import re
from pathlib import Path

import nbformat

ROOT = Path(__file__).resolve().parent.parent


def course_notebooks(root: Path = ROOT, real_model: bool = True) -> list[Path]:
    """The files of all pages; without `real_model` those that need nothing but requirements.txt."""
    folders = [root / "notebooks", *([root / "notebooks" / "real_model"] if real_model else [])]
    return [path for folder in folders for path in sorted(folder.glob("[0-9]*.ipynb"))]


def read_notebook(path: Path) -> nbformat.NotebookNode:
    """The notebook in a file. Raises OSError, which names the file, where there is none."""
    try:
        return nbformat.read(path, as_version=4)
    except (nbformat.reader.NotJSONError, UnicodeDecodeError):  # its own words are the whole file
        raise OSError(f"{path}: this is no notebook") from None


def with_links_to_html(page: str) -> str:
    """HTML in which links between notebooks lead to their HTML pages, which all lie in one folder."""
    return re.sub(r'href="(?:\.\./|real_model/)?(\d\d_\w+)\.ipynb(?=["#])', r'href="\1.html', page)


def time_line(notebook: nbformat.NotebookNode, file: str) -> re.Match:
    """The **Time** line of a page: its minutes, and what follows. ValueError where there is none."""
    first = notebook.cells[0].source if notebook.cells else ""
    found = re.search(r"\*\*Time\*\* (\d+) minutes( without the asides?)?", first)
    if not found:
        raise ValueError(f'{file} has no **Time** line: write one into its first cell, "**Time** 20 minutes"')
    return found


def id_prefix(name: str) -> str:
    """What the ids of a notebook's cells begin with: "03". An id may hold 64 letters, digits, - and _."""
    return re.sub(r"[^A-Za-z0-9]+", "-", name.split("_")[0]).strip("-")[:12] or "page"


def as_python(source: str) -> str:
    """A cell as Python can read it, without what is for Jupyter alone: %matplotlib inline, !pip install …

    Raises ValueError where the rest is no Python either.
    """
    # "pass", since the line may be all that an `if` holds.
    without = re.sub(r"^([ \t]*)[%!].*$", r"\1pass", source, flags=re.MULTILINE)
    for text in (source, without):  # as it is first: a line of a sum may begin with % too
        try:
            ast.parse(text)
        except SyntaxError as error:
            fault = f"line {error.lineno} of a cell is no Python: {(error.text or '').strip()}"
        else:
            return text
    if source.startswith("%%"):  # a cell of another language
        return ""
    raise ValueError(fault)

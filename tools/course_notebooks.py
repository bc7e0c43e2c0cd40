"""Where the notebooks of the course are, in the order of their numbers, and how one is read."""

from __future__ import annotations

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
    except nbformat.reader.NotJSONError:  # its own words are the whole file
        raise OSError(f"{path}: this is no notebook") from None


def with_links_to_html(page: str) -> str:
    """HTML in which links between notebooks lead to their HTML pages, which all lie in one folder."""
    return re.sub(r'href="(?:\.\./|real_model/)?(\d\d_\w+)\.ipynb(?=["#])', r'href="\1.html', page)

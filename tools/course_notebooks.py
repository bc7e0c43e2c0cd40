"""Where the notebooks of the course are, in the order of their numbers."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent


def course_notebooks(root: Path = ROOT, real_model: bool = True) -> list[Path]:
    """The files of all pages; without `real_model` those that need nothing but requirements.txt."""
    folders = [root / "notebooks", *([root / "notebooks" / "real_model"] if real_model else [])]
    return [path for folder in folders for path in sorted(folder.glob("[0-9]*.ipynb"))]


def with_links_to_html(page: str) -> str:
    """HTML in which links between notebooks lead to their HTML pages, which all lie in one folder."""
    return re.sub(r'href="(?:\.\./|real_model/)?(\d\d_\w+)\.ipynb(?=["#])', r'href="\1.html', page)

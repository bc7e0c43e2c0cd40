"""Where the notebooks of the course are, in the order of their numbers."""

from __future__ import annotations

from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent


def course_notebooks(root: Path = ROOT, real_model: bool = True) -> list[Path]:
    """The files of all pages; without `real_model` those that need nothing but requirements.txt."""
    folders = [root / "notebooks", *([root / "notebooks" / "real_model"] if real_model else [])]
    return [path for folder in folders for path in sorted(folder.glob("[0-9]*.ipynb"))]

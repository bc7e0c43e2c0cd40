"""The set-up cell: the first code cell of every notebook, and the same text in all of them.

`tools/refresh_notebooks.py` writes this text into each notebook, `tools/set_repository.py` fills in
`REPOSITORY`, and `tests/notebooks/test_contract.py` compares. Edit it here and refresh.

It installs without dependencies: Colab has them, and another torch, matplotlib or ipywidgets than Colab's
own breaks it.
"""

import re

SETUP_CELL = """\
# Set-up: run this cell first. It finds the helper module of this course.
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import torch

REPOSITORY = ""  # owner/name on GitHub; used in Colab alone

for folder in [Path.cwd(), *Path.cwd().parents]:
    if (folder / "mha_helpers" / "__init__.py").is_file():
        sys.path.insert(0, str(folder))
        break
if REPOSITORY and "google.colab" in sys.modules and not find_spec("mha_helpers"):
    address = f"git+https://github.com/{REPOSITORY}"
    subprocess.run([sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", address])
if not find_spec("mha_helpers"):
    raise ModuleNotFoundError(
        "The helper module mha_helpers is not here. Open this notebook inside the whole course "
        "folder, or use its one-file copy (dist/portable), which carries the helpers with it. "
        "If this is a one-file copy, run the folded cell above this one first."
    )
torch.set_printoptions(precision=3, sci_mode=False)"""

_REPOSITORY_LINE = re.compile(r'^REPOSITORY = "([^"\n]*)"', re.MULTILINE)


def is_setup_cell(source: str) -> bool:
    """Whether this is a set-up cell, perhaps of an older version or with a repository filled in."""
    return _REPOSITORY_LINE.search(source) is not None


def repository_of(source: str) -> str:
    """The repository ("owner/name" or "") that a set-up cell names."""
    found = _REPOSITORY_LINE.search(source)
    if found is None:
        raise ValueError('this cell has no line `REPOSITORY = "…"`: it is not a set-up cell')
    return found.group(1)


def setup_cell(repository: str = "") -> str:
    """The set-up cell with `repository` filled in."""
    return _REPOSITORY_LINE.sub(lambda _: f'REPOSITORY = "{repository}"', SETUP_CELL)

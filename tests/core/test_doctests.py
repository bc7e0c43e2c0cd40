"""What a docstring of the package shows is what happens."""

import doctest
from importlib import import_module
from pathlib import Path

import pytest
import torch

import mha_course
import mha_helpers

FOLDERS = [Path(package.__file__).parent for package in (mha_helpers, mha_course)]
FILES = [path for folder in FOLDERS for path in sorted(folder.rglob("*.py"))]
WITH_EXAMPLES = [path for path in FILES if ">>> " in path.read_text(encoding="utf-8")]


@pytest.mark.parametrize("path", WITH_EXAMPLES, ids=lambda path: f"{path.parent.name}/{path.stem}")
def test_examples_in_docstrings(path):
    name = ".".join(path.relative_to(FOLDERS[0].parent).with_suffix("").parts)
    torch.set_printoptions(profile="default")  # whatever a page's cell has set
    assert doctest.testmod(import_module(name)).failed == 0

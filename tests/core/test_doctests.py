"""What a docstring of the package shows is what happens."""

import doctest
from importlib import import_module
from pathlib import Path

import pytest

import mha_helpers

FOLDER = Path(mha_helpers.__file__).parent
WITH_EXAMPLES = [path for path in sorted(FOLDER.rglob("*.py")) if ">>> " in path.read_text(encoding="utf-8")]


@pytest.mark.parametrize("path", WITH_EXAMPLES, ids=lambda path: f"{path.parent.name}/{path.stem}")
def test_examples_in_docstrings(path):
    name = ".".join(path.relative_to(FOLDER.parent).with_suffix("").parts)
    assert doctest.testmod(import_module(name)).failed == 0

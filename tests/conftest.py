"""Lets the tests import the course's package and the maintainers' tools, and makes warnings errors on request."""

import sys
import warnings
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
for folder in (ROOT / "tools", ROOT):
    if str(folder) not in sys.path:
        sys.path.insert(0, str(folder))


@pytest.fixture
def warnings_are_errors():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        # matplotlib 3.10 calls names that a newer pyparsing has renamed: nothing of ours.
        warnings.filterwarnings("ignore", category=DeprecationWarning, module="matplotlib|pyparsing")
        yield


@pytest.fixture
def float64_by_default():
    """What a learner's `torch.set_default_dtype` does, undone after the test."""
    import torch

    before = torch.get_default_dtype()
    torch.set_default_dtype(torch.float64)
    yield
    torch.set_default_dtype(before)

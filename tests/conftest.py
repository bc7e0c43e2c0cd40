"""Settings of every run, and the marks that follow from where a test lies."""

import importlib.util
import os
import warnings

import pytest

# Two processes with one thread each are faster than with two. Kernels inherit this.
os.environ["OMP_NUM_THREADS"] = "1"
os.environ["PYDEVD_DISABLE_FILE_VALIDATION"] = "1"  # or every kernel of Colab's age greets with a warning
os.environ.pop("MPLBACKEND", None)  # a person's own: notebooks choose theirs

PLACES = {  # part of a path: mark
    "tests/browser/": "browser",
    "tests/explorers/": "colab",
    "tests/core/test_panel": "colab",
    "tests/real_model/": "real_model",
    "notebooks/11_": "real_model",
}
HAS_TRANSFORMERS = importlib.util.find_spec("transformers") is not None


def pytest_collection_modifyitems(items):
    for item in items:
        for place, mark in PLACES.items():
            if place in item.path.as_posix():
                item.add_marker(mark)
        if item.get_closest_marker("real_model") and not HAS_TRANSFORMERS:
            item.add_marker(pytest.mark.skip(reason="page 11 needs the package transformers"))


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

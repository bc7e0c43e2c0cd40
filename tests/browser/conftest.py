"""A Chromium, and a JupyterLab for it, for the tests of a file; without a Chromium they are left out."""

import importlib.util

import pytest

collect_ignore_glob = [] if importlib.util.find_spec("playwright") else ["test_*.py"]


@pytest.fixture(scope="module")
def browser():
    from tools.lab import chromium, find_chromium

    if find_chromium() is None:
        pytest.skip("no Chromium: install one, or name it in COURSE_CHROMIUM")
    with chromium() as running:
        yield running


@pytest.fixture(scope="module")
def lab(browser, tmp_path_factory):
    """The address of a JupyterLab, and the folder in which it keeps copies of the pages."""
    from tools.lab import jupyterlab

    folder = tmp_path_factory.mktemp("lab")
    with jupyterlab(folder) as address:
        yield address, folder

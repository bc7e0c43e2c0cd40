"""One JupyterLab and one Chromium for all browser tests of a session."""

import os
from pathlib import Path

import pytest

playwright = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")

from lab import Watched, chromium, find_chromium, full_length, jupyterlab, open_notebook  # noqa: E402


@pytest.fixture(scope="session")
def browser():
    executable = find_chromium()
    if executable is None:
        pytest.skip(
            "no Chromium: install Chromium, Chrome or Edge, or set COURSE_CHROMIUM to the path of one"
        )
    with chromium(executable) as running:
        yield running


@pytest.fixture(scope="session")
def lab_folder(tmp_path_factory):
    return tmp_path_factory.mktemp("lab")


@pytest.fixture(scope="session")
def lab_address(lab_folder):
    with jupyterlab(lab_folder) as address:
        yield address


@pytest.fixture
def open_in_lab(browser, lab_address, request):
    """A function name -> (page, what was watched). Closes the page and its kernel afterwards.

    With COURSE_SCREENSHOTS=folder, the whole page is photographed at the end of the test.
    """
    opened = []

    def open_one(name: str) -> tuple["playwright.Page", Watched]:
        page = browser.new_page(viewport={"width": 1300, "height": 1680})
        opened.append((name, page))
        return page, open_notebook(page, lab_address, name)

    yield open_one
    folder = os.environ.get("COURSE_SCREENSHOTS")
    for name, page in opened:
        if folder:
            full_length(page, Path(folder).resolve(), name)
        page.evaluate(
            "() => window.jupyterapp?.shell?.currentWidget?.sessionContext?.shutdown()",
        )
        page.close()

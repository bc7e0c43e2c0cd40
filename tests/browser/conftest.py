"""A Chromium, and a JupyterLab open in it, for all of these tests in a process; without a Chromium they are left out."""

import importlib.util

import pytest

if importlib.util.find_spec("playwright"):
    from tools import lab
else:
    collect_ignore_glob = ["test_*.py"]


@pytest.fixture(scope="package")
def browser():
    if lab.find_chromium() is None:
        pytest.skip("no Chromium: install one, or name it in COURSE_CHROMIUM")
    with lab.chromium() as running:
        yield running


@pytest.fixture(scope="package")
def served(browser, tmp_path_factory):
    """The address of a JupyterLab, and the folder in which it keeps copies of the pages."""
    folder = tmp_path_factory.mktemp("lab")
    with lab.jupyterlab(folder) as address:
        yield address, folder


@pytest.fixture(scope="package")
def tab(browser, served):
    """A page of the browser in which JupyterLab stays open: loading it costs more than most of what is done with it."""
    page = browser.new_page()
    page.asked = []  # addresses
    page.on("request", lambda request: page.asked.append(request.url))
    page.on("websocket", lambda socket: page.asked.append(socket.url))
    return page


@pytest.fixture
def open_in(tab, served):
    """A function that opens a notebook in a window of this width and runs it. Returns the browser's page."""

    def opened(notebook, width=1440):
        tab.set_viewport_size({"width": width, "height": 900})
        lab.open_notebook(tab, *served, notebook)
        lab.run_all(tab)
        return tab

    yield opened
    lab.close_notebook(tab)

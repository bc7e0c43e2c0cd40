"""One page in Notebook 7: its cells run, its explorer answers to the keyboard, its formulas are set."""

import importlib.util

import pytest
from controls import drive, explorers
from lab import error_outputs, jupyterlab, open_notebook, run_all

NAME = "06_softmax"
# Notebook 7.6.5 says this of itself when any page is opened, with its settings as they come.
ITS_OWN = "Cannot read properties of undefined (reading 'schema')"

pytestmark = pytest.mark.skipif(
    importlib.util.find_spec("notebook") is None, reason="the package notebook is not installed"
)


@pytest.fixture
def page(browser):
    page = browser.new_page(viewport={"width": 1300, "height": 1400})
    yield page
    page.close()


def test_a_page_runs_in_notebook_7_and_every_control_answers(page, tmp_path):
    with jupyterlab(tmp_path, application="notebook") as address:
        watched = open_notebook(page, address, NAME, notebook_7=True)
        assert page.evaluate("() => window.jupyterapp.name") == "Jupyter Notebook"
        run_all(page)
        assert error_outputs(page) == []
        assert page.locator("text=Error displaying widget").count() == 0
        found = explorers(page)
        assert found, "no explorer on the page"
        faults = [fault for one in found for fault in drive(one)]
        assert not faults, "\n".join(faults)
        assert page.locator("mjx-container").count() > 0, "no formula is typeset"
        assert [error for error in watched.errors if error != ITS_OWN] == []
        assert watched.strangers == [], "the page asked another machine for something"

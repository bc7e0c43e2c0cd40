"""The whole machine of page 09 in a real JupyterLab: clicks, the tour and a changed number."""

import pytest

from mha_course.p09_concat_and_output.machine import MATRICES
from tools.lab import error_outputs, open_notebook, run_all

SOURCE = "from mha_course.p09_concat_and_output import machine_explorer\n\nmachine_explorer()"
PATIENCE = 20_000  # milliseconds; a change takes about sixty, and much longer on a busy machine


@pytest.fixture(scope="module")
def page(browser, lab):
    page = browser.new_page(viewport={"width": 1440, "height": 900})
    open_notebook(page, *lab, [SOURCE])
    run_all(page)
    assert error_outputs(page) == []
    return page


def says(page, line):
    page.locator(".mha-panel [role=status]", has_text=line).wait_for(timeout=PATIENCE)


def test_a_click_on_a_number_leads_to_it_and_one_on_the_trail_back(page):
    pytest.importorskip("anywidget")
    trail = len(MATRICES)  # counted as a matrix after the others
    for matrix, row, column, line in [
        (MATRICES.index("concat"), 1, 0, "1.784 is copied from head 1's output."),
        (MATRICES.index("head"), 1, 0, "0.919 · 2 + 0.027 · 0 + 0.054 · (−1) = 1.784"),
        (trail, 0, 0, "= 2.784"),
    ]:
        page.locator(f".mha-panel [data-cell='{matrix},{row},{column}'] > rect").click()
        says(page, line)


def test_keys_lead_through_the_tour_and_change_a_number_and_reset_takes_it_back(page):
    page.get_by_role("slider", name="tour").press("ArrowRight")
    says(page, "“eats” comes in as six numbers")  # where a number of x is chosen
    page.get_by_role("slider", name="value").press("ArrowRight")
    says(page, "2 was set by you, in place of 1.")
    page.get_by_role("button", name="reset", exact=True).press("Enter")
    says(page, "= 2.784")


def test_keys_open_more_and_go_through_the_menu(page):
    page.get_by_role("button", name="more", exact=True).press("Enter")
    menu = page.get_by_label("matrix", exact=True)
    menu.wait_for(timeout=PATIENCE)  # what is still folded away takes no keys
    menu.press("ArrowDown")
    says(page, "W_O: ")

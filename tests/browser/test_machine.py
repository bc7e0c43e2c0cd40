"""The whole machine of page 09 in a real JupyterLab: from the output of “eats” back to “cat”, by mouse and by keys.

python -m pytest -n0 tests/browser/test_machine.py
"""

import pytest

from mha_helpers.pages.p09_concat_and_output.machine import MATRICES
from tools.lab import error_outputs, open_notebook, run_all

SOURCE = "from mha_helpers.pages.p09_concat_and_output import machine_explorer\n\nmachine_explorer()"
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


def trail(page):
    """Return the words of the steps at the top left of the picture, each with a rectangle to click."""
    return page.locator(f".mha-panel [data-cell^='{len(MATRICES)},'] + text").all_text_contents()


def test_clicks_lead_from_the_output_of_eats_to_cat_and_back(page):
    pytest.importorskip("anywidget")
    assert trail(page) == ["output eats, who acts"]
    for matrix, row, column, line in [
        ("concat", 1, 0, "1.784 is copied from head 1's output."),
        ("head", 1, 0, "0.919 · 2 + 0.027 · 0 + 0.054 · (−1) = 1.784"),
        ("weights", 1, 0, "e^2.828 / (e^2.828 + e^−0.707 + e^0) = 0.919"),
        ("masked", 1, 0, "2.828, as before, because eats may look at cat."),
        ("scaled", 1, 0, "4 / √2 = 2.828"),
        ("scores", 1, 0, "2 · 2 + (−1) · 0 = 4"),
        ("K", 0, 0, "2 · 1 + 0 · 0 + 0 · 0 + 1 · 0 + 0 · 0 + 0 · 0 = 2"),
        ("x", 0, 0, "2 is given, in the row of “cat”: here the way ends."),
    ]:
        page.locator(f".mha-panel [data-cell='{MATRICES.index(matrix)},{row},{column}'] > rect").click()
        says(page, line)
    assert len(trail(page)) == 9 and trail(page)[-1] == "← x cat, who acts"
    page.locator(f".mha-panel [data-cell='{len(MATRICES)},0,0'] > rect").click()
    says(page, "= 2.784")
    assert trail(page) == ["output eats, who acts"]


def test_keys_lead_the_same_way(page):
    page.get_by_role("button", name="more", exact=True).press("Enter")
    menu = page.get_by_label("matrix", exact=True)
    menu.wait_for(timeout=PATIENCE)  # what is still folded away takes no keys
    for matrix, line in [
        ("concat", "copied"), ("head", "output of head 1"), ("weights", "weight of"), ("masked", "as before"),
        ("scaled", "√2"), ("scores", "score of head 1: eats → cat = 4"), ("K", "key of head 1: cat"), ("x", "x: cat"),
    ]:  # fmt: skip
        steps = MATRICES.index(matrix) - menu.evaluate("menu => menu.selectedIndex")
        menu.focus()
        for _ in range(abs(steps)):
            page.keyboard.press("ArrowDown" if steps > 0 else "ArrowUp")
        says(page, line)
    assert trail(page)[-1] == "← x cat, who acts"

"""A page that was saved, and opened again when its kernel had ended, as `course.py lab` shows it."""

import pytest

from tools.lab import WIDGET, open_copy, open_notebook, run_all
from tools.notebook import ROOT

PAGE = ROOT / "notebooks" / "00_start_here.ipynb"
NAME = f"notebooks/{PAGE.name}"
SEEN = """() => {
    const panels = [...document.querySelectorAll(".mha-panel")];
    const before = part => getComputedStyle(part, "::before").content;
    return {
        pictures: panels.map(panel => panel.querySelector("svg.mha").outerHTML),
        lines: panels.map(before),
        icons: [...document.querySelectorAll(".mha-panel .jupyter-widgets-disconnected")]
            .filter(part => before(part) !== "none").length,
        errors: document.body.innerText.split("Error displaying widget").length - 1,
    };
}"""


@pytest.fixture(scope="module")
def days(browser, lab):
    """What three days show, and the page as it is open on the third.

    On the first the page runs and a slider is moved; on the second it is only saved, as JupyterLab does by
    itself after two minutes. Each day loads JupyterLab anew, in the same tab: there it costs half as much.
    """
    page = browser.new_page(viewport={"width": 1440, "height": 900})
    open_notebook(page, *lab, PAGE)
    run_all(page)
    at_start = page.evaluate(SEEN)
    page.locator(".mha-panel .widget-slider [role=slider]").first.press("ArrowLeft")
    page.wait_for_timeout(1000)
    seen = [page.evaluate(SEEN)]
    assert seen[0]["pictures"] != at_start["pictures"]
    for _ in range(2):
        page.evaluate(f"async () => await {WIDGET}.context.save()")
        page.evaluate(f"async () => await {WIDGET}.sessionContext.shutdown()")
        page.goto("about:blank")
        open_copy(page, lab[0], NAME)
        page.wait_for_timeout(3000)  # widgets are restored after the kernel is idle
        seen.append(page.evaluate(SEEN))
    return seen, page


def test_pictures_stand_as_they_were_left_and_a_line_says_how_to_wake_them(days):
    first, *later = days[0]
    assert set(first["lines"]) == {"none"}
    for seen in later:
        assert seen["pictures"] == first["pictures"]
        assert all("Run All Cells" in line for line in seen["lines"])
        assert seen["icons"] == seen["errors"] == 0


def test_running_wakes_the_panels(days):
    page = days[1]
    run_all(page)
    assert set(page.evaluate(SEEN)["lines"]) == {"none"}

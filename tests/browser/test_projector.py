"""What `course.py project` shows on a projector: 1280 x 720, with the browser at 125 %."""

import shutil

import course
from tools.lab import LOOK_EVERY, OPEN_TIMEOUT, READY, WIDGET, clear_outputs, jupyterlab, run_all
from tools.notebook import ROOT

HEIGHT = 515  # pixels that are left for the notebook, of 576
BARS = "#jp-top-panel, #jp-bottom-panel, #jp-left-stack, #jp-right-stack, .jp-SideBar"
# How much of the active cell's output is on the screen once it has run: 0 to 1, or null where it has none.
SEEN = f"""() => {{
    const cell = {WIDGET}.content.activeCell, kernel = {WIDGET}.sessionContext.session.kernel;
    if (cell.model.executionCount === null || kernel.status !== "idle") return 0;
    if (cell.model.outputs.length === 0) return null;
    const screen = document.querySelector(".jp-WindowedPanel-outer").getBoundingClientRect();
    const {{ top, bottom }} = cell.node.querySelector(".jp-OutputArea").getBoundingClientRect();
    return (Math.min(bottom, screen.bottom) - Math.max(top, screen.top)) / (bottom - top);
}}"""
# How many pixels lie below the answer of the active question once it is opened, or null where none is asked.
ROOM = f"""() => {{
    const answer = {WIDGET}.content.activeCell.node.querySelector("details");
    if (!answer) return null;
    answer.open = true;
    const below = document.querySelector(".jp-WindowedPanel-outer").getBoundingClientRect().bottom;
    return below - answer.getBoundingClientRect().bottom;
}}"""

SETTLED = f"""() => {{
    window.before = window.now;
    window.now = {WIDGET}.content.activeCell.node.getBoundingClientRect().top;
    return window.before === window.now;
}}"""


def test_only_the_notebook_is_shown_and_what_is_run_with_the_key_that_teaching_names(browser, tmp_path):
    """Down through the page with the arrow, which leaves out the folded set-up cell; Ctrl + Enter on code."""
    with jupyterlab(tmp_path, options=course.projector(str(tmp_path / "projector"))) as address:
        (tmp_path / "course" / "notebooks").mkdir()
        shutil.copy(ROOT / course.PROJECTED_PAGE, tmp_path / "course" / "notebooks")
        page = browser.new_page(viewport={"width": 1024, "height": 576})
        page.goto(f"{address}/doc/tree/{course.PROJECTED_PAGE}")
        page.locator(".jp-NotebookPanel-notebook").wait_for()
        page.wait_for_function(f"() => {READY}", timeout=OPEN_TIMEOUT, polling=LOOK_EVERY)
        page.wait_for_timeout(1000)  # bars that were to come back, would come now
        seen = page.locator(".jp-NotebookPanel-notebook").bounding_box()
        assert (seen["x"], seen["width"]) == (0, 1024)
        assert min(seen["height"], 576 - seen["y"]) >= HEIGHT
        assert not any(bar.is_visible() for bar in page.locator(BARS).all())
        assert not page.evaluate("() => window.jupyterapp.commands.isToggled('docmanager:toggle-autosave')")
        run_all(page)
        clear_outputs(page)
        page.evaluate(f"() => {{ {WIDGET}.content.activeCellIndex = 0; {WIDGET}.content.activate(); }}")
        cells, index, last, rooms = 0, 0, None, []
        while index != last:
            if page.evaluate(f"() => {WIDGET}.content.activeCell.model.type") == "code":
                page.keyboard.press("Control+Enter")
                seen = f"() => (({SEEN})() ?? 1) >= 0.95"
                page.wait_for_function(seen, timeout=15_000, polling=LOOK_EVERY)
                cells += 1
            rooms.append(page.evaluate(ROOM))
            page.keyboard.press("ArrowDown")
            page.wait_for_timeout(100)
            page.wait_for_function(SETTLED, polling=200)  # nobody opens an answer while the page scrolls
            last, index = index, page.evaluate(f"() => {WIDGET}.content.activeCellIndex")
        assert cells > 20
        rooms = [room for room in rooms if room is not None]
        assert len(rooms) > 8 and min(rooms) >= 0

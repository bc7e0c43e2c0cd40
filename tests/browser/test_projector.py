"""What `course.py project` shows on a projector: 1280 x 720, with the browser at 125 %."""

import shutil

import course
from tools.lab import WIDGET, jupyterlab
from tools.notebook import ROOT

HEIGHT = 515  # pixels that are left for the notebook, of 576
BARS = "#jp-top-panel, #jp-bottom-panel, #jp-left-stack, #jp-right-stack, .jp-SideBar"


def test_only_the_notebook_is_shown_and_nothing_saves_it(browser, tmp_path):
    options = course.projector(str(tmp_path / "projector"))
    with jupyterlab(tmp_path, options=options) as address:
        (tmp_path / "course" / "notebooks").mkdir()
        shutil.copy(ROOT / course.PROJECTED_PAGE, tmp_path / "course" / "notebooks")
        page = browser.new_page(viewport={"width": 1024, "height": 576})
        page.goto(f"{address}/doc/tree/{course.PROJECTED_PAGE}")
        notebook = page.locator(".jp-NotebookPanel-notebook")
        notebook.wait_for()
        page.wait_for_function(f"() => {WIDGET.replace('.', '?.')}?.sessionContext?.session?.kernel")
        page.wait_for_timeout(1000)  # bars that were to come back, would come now
        seen = notebook.bounding_box()
        assert (seen["x"], seen["width"]) == (0, 1024)
        assert min(seen["height"], 576 - seen["y"]) >= HEIGHT
        assert not any(bar.is_visible() for bar in page.locator(BARS).all())
        assert not page.evaluate("() => window.jupyterapp.commands.isToggled('docmanager:toggle-autosave')")

"""Photographs of a page as a learner sees it, and the moving picture of the README."""

import contextlib
import itertools

from PIL import Image

from tools import screenshot
from tools.lab import error_outputs, open_notebook, run_all

BANDS = """from IPython.display import HTML

HTML("".join(f"<p style='margin: 0; height: 16px; background: rgb({i}, 0, 200)'></p>" for i in range(90)))"""
FAULTS = ["import sys\n\nprint('a warning', file=sys.stderr)", "1 / 0"]


def test_one_photograph_a_screen_with_a_seam_that_both_show_and_what_went_wrong(browser, lab, tmp_path):
    page = browser.new_page(viewport={"width": 1000, "height": 500})
    open_notebook(page, *lab, [BANDS, *FAULTS])
    run_all(page)
    said = [fault.partition(": ")[2] for fault in error_outputs(page)]
    assert said == ["stderr: a warning\n", "ZeroDivisionError: division by zero"]
    screenshot.photograph(page, tmp_path, "a")
    shots = [Image.open(path).convert("RGB").getcolors(500_000) for path in sorted(tmp_path.iterdir())]
    seen = [{red for _, (red, *others) in colours if others == [0, 200]} for colours in shots]
    assert len(seen) > 3 and set().union(*seen) == set(range(90))
    assert all(above & below for above, below in itertools.pairwise(seen[:-1]))  # faults stand on the last


def test_the_moving_picture_shows_d_k_from_1_to_16_and_then_five_weights(browser, lab, tmp_path, monkeypatch):
    page = browser.new_page(viewport={"width": 1280, "height": 900})
    open_notebook(page, *lab, [screenshot.CODE])
    run_all(page)
    monkeypatch.setattr(screenshot, "opened", lambda cells, **_: contextlib.nullcontext(page))
    monkeypatch.setattr(screenshot, "README_PICTURE", tmp_path / "explorer.gif")
    screenshot.remake_readme_picture()
    with Image.open(screenshot.README_PICTURE) as picture:
        shown = [picture.seek(i) or picture.info["duration"] for i in range(picture.n_frames)]
        assert shown == [1100, *[350] * 15, *[1100] * 5] and picture.info["loop"] == 0
    assert page.locator(".mha-panel .widget-readout").nth(1).text_content() == "16"

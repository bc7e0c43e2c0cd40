"""Photograph a notebook as a learner sees it: run in a real JupyterLab, one picture a screen.

    python -m tools.screenshot notebooks/03_qk_scores.ipynb /tmp/shots         # 03_qk_scores_01.png …

Prints how many screens there are. ``tools/refresh.py`` makes the moving picture of the README with it: the
explorer of page 00, a slider and a mouse. Both need a Chromium: on the PATH, or named by COURSE_CHROMIUM.
"""

import argparse
import io
import math
import sys
from pathlib import Path

from PIL import Image

from tools.lab import error_outputs, find_chromium, opened
from tools.notebook import ROOT

SCROLLER = ".jp-NotebookPanel:not(.lm-mod-hidden) .jp-WindowedPanel-outer"
OVERLAP = 30  # pixels that neighbours share, so that nothing is lost at a seam
HEIGHTS = """scroller => {
    const outer = document.querySelector(scroller), top = outer.getBoundingClientRect().top - outer.scrollTop;
    const last = [...outer.querySelectorAll(".jp-Cell")].at(-1);
    return [outer.clientHeight, last.getBoundingClientRect().bottom - top];
}"""
README_PICTURE = ROOT / "pictures" / "explorer.gif"
CODE = "from mha_course.p00_start_here import attention_explorer\n\nattention_explorer()"
WIDTH, HEIGHT = 890, 520  # of the part of the page that it shows
HOVERED = ((0, 1, 0), (0, 5, 4), (1, 4, 0), (2, 3, 4), (3, 6, 6))  # head, query, key
SHORT, LONG = 350, 1100  # milliseconds that a frame is shown


def photograph(page, folder, name):
    """Write one picture a screen."""
    height, end = page.evaluate(HEIGHTS, SCROLLER)
    step = height - OVERLAP
    for screen in range(max(1, math.ceil((end - OVERLAP) / step))):
        page.evaluate("([s, y]) => document.querySelector(s).scrollTo(0, y)", [SCROLLER, screen * step])
        page.wait_for_timeout(250)
        path = folder / f"{name}_{screen + 1:02d}.png"
        page.screenshot(path=path)
        print(path)
    print(f"{end / height:.1f} screens")


def frames_of(page):
    """Yield a picture for each move: d_k goes from 1 to 16, then the mouse points at five cells."""
    corner = page.locator(".mha-panel").bounding_box()
    clip = {"x": corner["x"] - 4, "y": corner["y"] - 4, "width": WIDTH, "height": HEIGHT}

    def frame():
        page.wait_for_timeout(700)
        picture = Image.open(io.BytesIO(page.screenshot(clip=clip))).convert("RGB")
        return picture.quantize(256, Image.Quantize.MAXCOVERAGE, dither=Image.Dither.NONE)

    page.locator(".mha-panel .widget-slider [role=slider]").nth(1).focus()
    for key in ("Home", *["ArrowRight"] * 15):
        page.keyboard.press(key)
        yield frame()
    for head, row, column in HOVERED:
        page.locator(f'[data-cell="{head},{row},{column}"] > rect').last.hover()
        yield frame()


def remake_readme_picture():
    if find_chromium() is None:
        print(f"{README_PICTURE.name}: left as it is: it needs a Chromium")
        return
    with opened([CODE], viewport={"width": 1280, "height": 900}) as page:
        first, *others = frames_of(page)
    durations = [LONG, *[SHORT] * 15, *[LONG] * len(HOVERED)]
    first.save(README_PICTURE, save_all=True, append_images=others, duration=durations, loop=0, optimize=True)
    print(f"{README_PICTURE.name}: {README_PICTURE.stat().st_size / 1000:.0f} kB, {len(durations)} frames")


def main(arguments=None):
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("notebook", type=Path)
    parser.add_argument("folder", type=Path, help="where the pictures go")
    options = parser.parse_args(arguments)
    if find_chromium() is None:
        return "There is no Chromium: install one, or name it in COURSE_CHROMIUM."
    with opened(options.notebook, viewport={"width": 1440, "height": 900}, device_scale_factor=2) as page:
        page.wait_for_timeout(1000)
        photograph(page, options.folder, options.notebook.stem)
        return "\n".join(error_outputs(page)) or 0


if __name__ == "__main__":
    sys.exit(main())

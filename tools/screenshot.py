"""Photograph a notebook as a learner sees it: run in a real JupyterLab, one picture a screen.

    python -m tools.screenshot notebooks/03_qk_scores.ipynb /tmp/shots         # 03_qk_scores_01.png …
    python -m tools.screenshot notebooks/03_qk_scores.ipynb /tmp/shots --dark
    python -m tools.screenshot notebooks/03_qk_scores.ipynb /tmp/shots --stored   # as opened, not run

Prints how many screens there are, and on which one the first Panel begins.
It needs a Chromium: on the PATH, or named by the environment variable COURSE_CHROMIUM.
"""

import argparse
import math
import sys
from pathlib import Path

from tools.lab import error_outputs, find_chromium, opened, run_all

SCROLLER = ".jp-NotebookPanel:not(.lm-mod-hidden) .jp-WindowedPanel-outer"
PANEL = ".mha-panel, .jp-OutputArea-output .widget-slider"
OVERLAP = 30  # pixels that neighbours share, so that nothing is lost at a seam
PLACES = """([scroller, panel]) => {
    const outer = document.querySelector(scroller), top = outer.getBoundingClientRect().top - outer.scrollTop;
    const first = outer.querySelector(panel), last = [...outer.querySelectorAll(".jp-Cell")].at(-1);
    return {screen: outer.clientHeight, end: last.getBoundingClientRect().bottom - top,
            panels: [...outer.querySelectorAll(".mha-panel")].map(one => one.getBoundingClientRect().height),
            panel: first && first.getBoundingClientRect().top - top};
}"""


def photograph(page, folder, name):
    """Write one picture a screen."""
    heights = page.evaluate(PLACES, [SCROLLER, PANEL])
    step = heights["screen"] - OVERLAP
    for screen in range(max(1, math.ceil((heights["end"] - OVERLAP) / step))):
        page.evaluate("([s, y]) => document.querySelector(s).scrollTo(0, y)", [SCROLLER, screen * step])
        page.wait_for_timeout(250)
        path = folder / f"{name}_{screen + 1:02d}.png"
        page.screenshot(path=path)
        print(path)
    print(f"{heights['end'] / heights['screen']:.1f} screens")
    if heights["panel"] is not None:
        print(f"the first Panel begins after {heights['panel'] / heights['screen']:.1f} screens")
    for height in heights["panels"]:
        print(f"a Panel is {height:.0f} px high")


def main(arguments=None):
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("notebook", type=Path)
    parser.add_argument("folder", type=Path, help="where the pictures go")
    parser.add_argument("--width", type=int, default=1440)
    parser.add_argument("--height", type=int, default=900)
    parser.add_argument("--scale", type=int, default=2, help="pixels of the picture for one of the page")
    parser.add_argument("--dark", action="store_true", help="use JupyterLab's dark theme")
    parser.add_argument("--stored", action="store_true", help="show the stored outputs, run nothing")
    options = parser.parse_args(arguments)
    if find_chromium() is None:
        return "There is no Chromium: install one, or name it in COURSE_CHROMIUM."
    size = {"width": options.width, "height": options.height}
    with opened(options.notebook, options.dark, viewport=size, device_scale_factor=options.scale) as page:
        if not options.stored:
            run_all(page)
        page.wait_for_timeout(1000)
        photograph(page, options.folder, options.notebook.stem + "_dark" * options.dark)
        return "\n".join(error_outputs(page)) or 0


if __name__ == "__main__":
    sys.exit(main())

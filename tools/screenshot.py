"""Photograph a notebook as a learner sees it: run in a real JupyterLab, one picture a screen.

    python -m tools.screenshot notebooks/03_qk_scores.ipynb /tmp/shots         # 03_qk_scores_01.png …
    python -m tools.screenshot notebooks/03_qk_scores.ipynb /tmp/shots --dark

Prints how many screens there are. It needs a Chromium: on the PATH, or named by COURSE_CHROMIUM.
"""

import argparse
import math
import sys
from pathlib import Path

from tools.lab import error_outputs, find_chromium, opened

SCROLLER = ".jp-NotebookPanel:not(.lm-mod-hidden) .jp-WindowedPanel-outer"
OVERLAP = 30  # pixels that neighbours share, so that nothing is lost at a seam
HEIGHTS = """scroller => {
    const outer = document.querySelector(scroller), top = outer.getBoundingClientRect().top - outer.scrollTop;
    const last = [...outer.querySelectorAll(".jp-Cell")].at(-1);
    return [outer.clientHeight, last.getBoundingClientRect().bottom - top];
}"""


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


def main(arguments=None):
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("notebook", type=Path)
    parser.add_argument("folder", type=Path, help="where the pictures go")
    parser.add_argument("--width", type=int, default=1440)
    parser.add_argument("--dark", action="store_true", help="use JupyterLab's dark theme")
    options = parser.parse_args(arguments)
    if find_chromium() is None:
        return "There is no Chromium: install one, or name it in COURSE_CHROMIUM."
    window = {"width": options.width, "height": 900}
    with opened(options.notebook, options.dark, viewport=window, device_scale_factor=2) as page:
        page.wait_for_timeout(1000)
        photograph(page, options.folder, options.notebook.stem + "_dark" * options.dark)
        return "\n".join(error_outputs(page)) or 0


if __name__ == "__main__":
    sys.exit(main())

"""Make the moving picture of the README: the explorer of page 00, a slider and a mouse, in a real JupyterLab.

``tools/refresh.py`` does so when it remakes all pages. It needs a Chromium: on the PATH, or named by
COURSE_CHROMIUM.
"""

import io

from PIL import Image

from tools.lab import find_chromium, opened
from tools.notebook import ROOT

PICTURE = ROOT / "pictures" / "explorer.gif"
CODE = "from mha_course.p00_start_here import attention_explorer\n\nattention_explorer()"
WIDTH, HEIGHT = 890, 520  # of the part of the page that it shows
HOVERED = ((0, 1, 0), (0, 5, 4), (1, 4, 0), (2, 3, 4), (3, 6, 6))  # head, query, key
SHORT, LONG = 350, 1100  # milliseconds that a frame is shown


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


def remake():
    if find_chromium() is None:
        print(f"{PICTURE.name}: left as it is: it needs a Chromium")
        return
    with opened([CODE], viewport={"width": 1280, "height": 900}) as page:
        first, *others = frames_of(page)
    durations = [LONG, *[SHORT] * 15, *[LONG] * len(HOVERED)]
    first.save(PICTURE, save_all=True, append_images=others, duration=durations, loop=0, optimize=True)
    print(f"{PICTURE.name}: {PICTURE.stat().st_size / 1000:.0f} kB, {len(durations)} frames")

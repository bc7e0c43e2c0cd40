"""Make the moving picture of the README: the explorer of page 00 in a real JupyterLab, a slider and a mouse.

    python -m tools.readme_picture   # pictures/explorer.gif

It needs a Chromium: on the PATH, or named by the environment variable COURSE_CHROMIUM.
"""

import io
import sys
import tempfile
from pathlib import Path

import nbformat
from PIL import Image

from tools.lab import ROOT, chromium, find_chromium, jupyterlab, open_notebook, run_all

PICTURE = ROOT / "pictures" / "explorer.gif"
CODE = "from mha_helpers.pages.p00_start_here import attention_explorer\n\nattention_explorer()"
WIDTH, HEIGHT = 890, 520  # of the part of the page that is shown
HOVERED = ((0, 1, 0), (0, 5, 4), (1, 4, 0), (2, 3, 4), (3, 6, 6))  # head, query, key
SHORT, LONG = 350, 1100  # milliseconds that a frame is shown


def write_notebook(path):
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(CODE)])
    notebook.metadata["kernelspec"] = {"name": "python3", "display_name": "Python 3", "language": "python"}
    nbformat.write(notebook, path)


def frames_of(page):
    """Return (picture, milliseconds): d_k goes from 1 to 16, then the mouse points at five cells."""
    corner = page.locator(".mha-panel").bounding_box()
    clip = {"x": corner["x"] - 4, "y": corner["y"] - 4, "width": WIDTH, "height": HEIGHT}

    def photograph(milliseconds):
        page.wait_for_timeout(700)
        picture = Image.open(io.BytesIO(page.screenshot(clip=clip))).convert("RGB")
        return picture.quantize(
            colors=256, method=Image.Quantize.MAXCOVERAGE, dither=Image.Dither.NONE
        ), milliseconds

    slider = page.locator(".mha-panel .widget-slider [role=slider]").nth(1)
    slider.focus()
    page.keyboard.press("Home")
    frames = [photograph(LONG)]
    for _ in range(15):
        page.keyboard.press("ArrowRight")
        frames.append(photograph(SHORT))
    for head, row, column in HOVERED:
        page.locator(f'[data-cell="{head},{row},{column}"] > rect').last.hover()
        frames.append(photograph(LONG))
    return frames


def main():
    if find_chromium() is None:
        print(f"{PICTURE.name}: left as it is: it needs a Chromium")
        return 0
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        path = Path(folder) / "explorer.ipynb"
        write_notebook(path)
        with jupyterlab(Path(folder)) as address, chromium() as browser:
            page = browser.new_page(viewport={"width": 1280, "height": 900})
            open_notebook(page, address, Path(folder), path)
            page.evaluate("() => window.jupyterapp.shell.collapseLeft()")
            run_all(page)
            frames = frames_of(page)
    first, *others = (picture for picture, _ in frames)
    durations = [milliseconds for _, milliseconds in frames]
    first.save(PICTURE, save_all=True, append_images=others, duration=durations, loop=0, optimize=True)
    print(f"{PICTURE.name}: {PICTURE.stat().st_size / 1000:.0f} kB, {len(frames)} frames")
    return 0


if __name__ == "__main__":
    sys.exit(main())

"""How long from a key press on a slider to new pixels, in a real JupyterLab under Chromium?

    python benchmarks/slider_latency.py            # 1, 4 and 8 heads of 6, 16 and 64 tokens
    python benchmarks/slider_latency.py --quick    # 8 heads of 16 tokens alone
    python benchmarks/slider_latency.py --write    # also into README.md

It compares the course's panel with the usual way, ``interact`` and ``sns.heatmap``: the same heads,
tokens and colours, and numbers in the cells of both or of neither. Both stand in one notebook, with one
kernel, and take turns. The time runs from the browser's own stamp of the key event to the first frame
after the new picture was loaded. It needs a Chromium: on the PATH, or named by COURSE_CHROMIUM.
"""

from __future__ import annotations

import argparse
import statistics
import sys
import tempfile
import time
from pathlib import Path

import nbformat

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT), str(ROOT / "tests" / "browser")]

from lab import chromium, chromium_or_exit, jupyterlab, open_notebook, run_all  # noqa: E402

from benchmarks.table import report  # noqa: E402

NAME = "latency"
PANEL_CELL, USUAL_CELL = 1, 2
D_K = 24  # where the slider starts, so that it can move both ways

SET_UP = """
import sys
sys.path.insert(0, "..")
import math
import matplotlib.pyplot as plt
import seaborn as sns
import torch
from ipywidgets import IntSlider, interact
from mha_helpers import attention_explorer, head_projections, sentence_vectors
"""

PANEL = """
panel = attention_explorer({sentence!r}, d_k={d_k}, heads={heads})
panel
"""

USUAL = """
tokens, x = sentence_vectors({sentence!r}, 64)

def draw(d_k={d_k}):
    w_q, w_k, w_v = head_projections(64, {heads}, d_k)
    weights = torch.softmax((x @ w_q) @ (x @ w_k).transpose(-2, -1) / math.sqrt(d_k), dim=-1)
    fig, axes = plt.subplots({rows}, {columns}, figsize=({width}, {height}), squeeze=False)
    for head, ax in enumerate(axes.flat):
        sns.heatmap(weights[head], vmin=0, vmax=1, cmap="YlGnBu", annot={numbers}, fmt=".2f",
                    annot_kws={{"size": 7}}, xticklabels=tokens, yticklabels=tokens, ax=ax)
        ax.set_title(f"head {{head + 1}}")
    plt.tight_layout()
    plt.show()

_ = interact(draw, d_k=IntSlider({d_k}, 1, 64))
"""

WATCH = """
cell => {
    const output = window.jupyterapp.shell.currentWidget.content.widgets[cell].outputArea.node;
    const picture = () => [...output.querySelectorAll("img")].find(image => image.offsetParent !== null);
    const watch = {seen: picture().src, changes: [], pressed: null};
    window.watch = watch;
    document.addEventListener("keydown", event => { watch.pressed = event.timeStamp; },
        {capture: true, once: true});
    const look = () => {
        if (window.watch !== watch) return;
        const image = picture();
        if (image && image.src !== watch.seen && image.complete && image.naturalWidth > 0) {
            watch.seen = image.src;
            watch.changes.push(performance.now());
        }
        requestAnimationFrame(look);
    };
    requestAnimationFrame(look);
}
"""


def notebook(heads: int, tokens: int) -> nbformat.NotebookNode:
    from mha_helpers.heatmap_cells import NUMBERS_FROM
    from mha_helpers.placement import Placement

    words = [f"w{i}" for i in range(tokens)]
    columns = min(heads, 4)
    place = Placement(heads, tokens, tokens, tuple(words), tuple(words))
    filled = {
        "sentence": " ".join(words),
        "heads": heads,
        "d_k": D_K,
        "columns": columns,
        "rows": heads // columns,
        "width": place.width / 96,
        "height": place.height / 96,
        "numbers": place.cell >= NUMBERS_FROM,
    }
    cells = [SET_UP, PANEL.format(**filled), USUAL.format(**filled)]
    made = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(cell.strip()) for cell in cells])
    made.metadata["kernelspec"] = {"name": "python3", "display_name": "Python 3", "language": "python"}
    return made


def slider(page, cell):
    found = page.locator(".jp-Notebook .jp-Cell").nth(cell).locator(".widget-hslider [role=slider]").first
    found.scroll_into_view_if_needed()
    return found


def wait_until_settled(page, quiet: float, timeout: float = 120.0) -> None:
    """Wait until the kernel is idle and the picture has not changed for ``quiet`` seconds."""
    deadline = time.monotonic() + timeout
    still = """quiet => {
        const kernel = window.jupyterapp.shell.currentWidget.sessionContext.session.kernel;
        const last = window.watch.changes.at(-1) ?? 0;
        return kernel.status === "idle" && performance.now() - last > quiet * 1000;
    }"""
    idle = 0
    while time.monotonic() < deadline and idle < 3:
        idle = idle + 1 if page.evaluate(still, quiet) else 0
        page.wait_for_timeout(100)


def press(page, cell: int, key: str) -> float:
    """Press a key on the slider of a cell; return the milliseconds until the new picture is there."""
    slider(page, cell).focus()
    page.evaluate(WATCH, cell)
    page.keyboard.press(key)
    page.wait_for_function("() => window.watch.changes.length > 0", timeout=120_000)
    latency = page.evaluate("() => window.watch.changes[0] - window.watch.pressed")
    wait_until_settled(page, quiet=0.2)
    return latency


def drag(page, cell: int, seconds: float = 1.0) -> tuple[int, float]:
    """Drag the slider for a second; return the pictures shown and the seconds until the last one."""
    box = slider(page, cell).bounding_box()
    x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
    page.evaluate(WATCH, cell)
    page.mouse.move(x, y)
    page.mouse.down()
    start = time.monotonic()
    while (passed := time.monotonic() - start) < seconds:
        page.mouse.move(x + 80 * passed / seconds, y)
        page.wait_for_timeout(15)
    page.mouse.up()
    released = page.evaluate("() => performance.now()")
    wait_until_settled(page, quiet=1.0)
    changes = page.evaluate("() => window.watch.changes")
    during = sum(change <= released for change in changes)
    return during, max(0.0, (changes[-1] - released) / 1000) if changes else float("nan")


def measure(browser, heads: int, tokens: int, presses: int) -> dict:
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as temporary:
        folder = Path(temporary) / "page"
        folder.mkdir()
        nbformat.write(notebook(heads, tokens), folder / f"{NAME}.ipynb")
        with jupyterlab(Path(temporary), notebooks=folder) as address:
            page = browser.new_page(viewport={"width": 1300, "height": 1400})
            try:
                open_notebook(page, address, NAME)
                run_all(page)
                page.wait_for_timeout(1000)
                for cell in (PANEL_CELL, USUAL_CELL):
                    press(page, cell, "ArrowRight")  # the first costs imports and caches
                times = {PANEL_CELL: [], USUAL_CELL: []}
                for turn in range(presses):
                    key = "ArrowLeft" if turn % 2 else "ArrowRight"
                    for _ in range(4):  # the panel is quick, so it is asked more often
                        times[PANEL_CELL].append(press(page, PANEL_CELL, key))
                    times[USUAL_CELL].append(press(page, USUAL_CELL, key))
                dragged = {cell: drag(page, cell) for cell in times}
            finally:
                page.close()
    return {"times": times, "drag": dragged}


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="8 heads of 16 tokens alone")
    parser.add_argument(
        "--presses", type=int, default=6, help="of the usual way; the panel gets four times as many"
    )
    parser.add_argument("--write", action="store_true", help="put the table into README.md")
    options = parser.parse_args(arguments)
    executable = chromium_or_exit()
    sizes = [(8, 16)] if options.quick else [(h, n) for h in (1, 4, 8) for n in (6, 16, 64)]
    rows = []
    with chromium(executable) as browser:
        for heads, tokens in sizes:
            result = measure(browser, heads, tokens, options.presses)
            ours, usual = (result["times"][cell] for cell in (PANEL_CELL, USUAL_CELL))
            ratio = statistics.median(usual) / statistics.median(ours)
            drags = [f"{shown}, then {settled:.2f} s" for shown, settled in result["drag"].values()]
            rows.append([heads, tokens, _times(ours), _times(usual), f"{ratio:.0f} ×", *drags])
            print(*rows[-1], sep="  ", file=sys.stderr, flush=True)  # the largest take a while
    headings = [
        "heads",
        "tokens",
        "course: key to pixels",
        "`interact`: key to pixels",
        "ratio",
        "course: drag of 1 s",
        "`interact`: drag of 1 s",
    ]
    report("slider_latency", headings, rows, options.write)
    return 0


def _times(values: list[float]) -> str:
    """The median and, in brackets, what nine of ten stay below."""
    ninety = sorted(values)[min(len(values) - 1, round(0.9 * len(values)))]
    return f"{statistics.median(values):.0f} ms ({ninety:.0f})"


if __name__ == "__main__":
    sys.exit(main())

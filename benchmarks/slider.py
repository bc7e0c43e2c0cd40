"""How long from a key press on a slider to new pixels, in a real JupyterLab under Chromium?

    python -m benchmarks.slider

It compares the course's Panel with the usual way, ``interact`` and ``sns.heatmap``, for the same heads and
tokens. Both stand in one notebook, with one kernel, and take turns. The time runs from the browser's own
stamp of the key event to the first frame after the new picture is there. Then a drag of one second:
pictures shown meanwhile, and seconds until the last one. It needs a Chromium: on the PATH, or named by
COURSE_CHROMIUM.
"""

import statistics
import time

from tools.lab import READY, opened

SIZES = ((4, 16), (8, 16), (16, 64))  # heads, tokens
TURNS = 6
SET_UP = """
import math
import matplotlib.pyplot as plt
import seaborn as sns
import torch
from ipywidgets import IntSlider, interact
from mha_helpers import hand_made_heads, sentence_vectors
from mha_course.p00_start_here import attention_explorer
"""
OURS = """
panel = attention_explorer()
panel.set(sentence={sentence!r}, heads={heads}, d_k=16)
panel
"""
USUAL = """
tokens, x = sentence_vectors({sentence!r})

def draw(d_k=16):
    w_q, w_k, w_v, names = hand_made_heads({heads}, d_k)
    weights = torch.softmax((x @ w_q) @ (x @ w_k).transpose(-2, -1) / math.sqrt(d_k), dim=-1)
    fig, axes = plt.subplots({heads} // 4, 4, figsize=(9, 9 * {heads} / 16), squeeze=False)
    for head, ax in enumerate(axes.flat):
        sns.heatmap(weights[head], vmin=0, vmax=1, xticklabels=tokens, yticklabels=tokens, ax=ax)
        ax.set_title(names[head])
    plt.tight_layout()
    plt.show()

_ = interact(draw, d_k=IntSlider(16, 1, 32))
"""
WATCH = """
cell => {
    const output = window.jupyterapp.shell.currentWidget.content.widgets[cell].outputArea.node;
    const picture = () => output.querySelector("svg.mha") ?? output.querySelector("img")?.src;
    const watch = {seen: picture(), changes: [], pressed: null};
    window.watch = watch;
    document.addEventListener("keydown", event => { watch.pressed = event.timeStamp; },
        {capture: true, once: true});
    const look = () => {
        if (window.watch !== watch) return;
        const now = picture();
        if (now && now !== watch.seen) { watch.seen = now; watch.changes.push(performance.now()); }
        requestAnimationFrame(look);
    };
    requestAnimationFrame(look);
}
"""


def slider_of(page, cell):
    """Return the handle of the slider d_k, the last one of its cell."""
    handle = page.locator(".jp-Notebook .jp-Cell").nth(cell).locator(".widget-slider [role=slider]").last
    handle.scroll_into_view_if_needed()
    return handle


def settle(page, quiet):
    """Wait until the kernel is idle and the picture has not changed for `quiet` seconds."""
    silent = "performance.now() - (window.watch.changes.at(-1) ?? 0) > quiet * 1000"
    still = f"quiet => {READY} && {silent}"
    idle = 0
    while idle < 3:
        idle = idle + 1 if page.evaluate(still, quiet) else 0
        page.wait_for_timeout(100)


def press(page, cell, key):
    """Return the milliseconds from a key on the slider of a cell to the new picture."""
    slider_of(page, cell).focus()
    page.evaluate(WATCH, cell)
    page.keyboard.press(key)
    page.wait_for_function("() => window.watch.changes.length > 0", timeout=120_000)
    milliseconds = page.evaluate("() => window.watch.changes[0] - window.watch.pressed")
    settle(page, 0.2)
    return milliseconds


def drag(page, cell):
    """Drag for one second; return the pictures shown meanwhile and the seconds until the last one."""
    box = slider_of(page, cell).bounding_box()
    x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
    page.evaluate(WATCH, cell)
    page.mouse.move(x, y)
    page.mouse.down()
    start = time.monotonic()
    while (passed := time.monotonic() - start) < 1:
        page.mouse.move(x + 40 * passed, y)
        page.wait_for_timeout(15)
    page.mouse.up()
    released = page.evaluate("() => performance.now()")
    settle(page, 1.0)
    changes = page.evaluate("() => window.watch.changes")
    last = (changes[-1] - released) / 1000 if changes else float("nan")
    return f"{sum(change <= released for change in changes)}, then {max(0.0, last):.2f} s"


def measure(page):
    for cell in (1, 2):
        press(page, cell, "ArrowRight")  # the first costs imports and caches
    ours, usual = [], []
    for key in ["ArrowLeft", "ArrowRight"] * (TURNS // 2):
        ours += [press(page, 1, key) for _ in range(3)]  # ours is quick, so it is asked more often
        usual.append(press(page, 2, key))
    ours, usual = map(statistics.median, (ours, usual))
    return [f"{ours:.0f} ms", f"{usual:.0f} ms", f"{usual / ours:.0f} ×", drag(page, 1), drag(page, 2)]


def main():
    print("| heads | tokens | course | `interact` | ratio | course: drag of 1 s | `interact`: drag of 1 s |")
    print("|--:|--:|--:|--:|--:|--:|--:|")
    for heads, tokens in SIZES:
        filled = {"sentence": " ".join(f"w{i}" for i in range(tokens)), "heads": heads}
        cells = [cell.strip().format(**filled) for cell in (SET_UP, OURS, USUAL)]
        with opened(cells, viewport={"width": 1440, "height": 1400}) as page:
            page.wait_for_timeout(1000)
            print(f"| {heads} | {tokens} | {' | '.join(measure(page))} |", flush=True)


if __name__ == "__main__":
    main()

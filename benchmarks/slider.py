"""How long from a key press on a slider to new pixels, in a real JupyterLab under Chromium?

    python -m benchmarks.slider

It compares the course's Panel with the usual way, ``interact`` and ``sns.heatmap``, for as many heads and
tokens. Both stand in one notebook, with one kernel, and take turns. The time runs from the browser's own
stamp of the key event to the first frame after the new picture is there. It needs a Chromium: on the PATH,
or named by COURSE_CHROMIUM.
"""

import statistics

from tools.lab import READY, opened

SIZES = ((4, 16), (8, 16), (16, 64))  # heads, tokens
TURNS = ["ArrowRight", *["ArrowLeft", "ArrowRight"] * 4]
OURS = """
from mha_course.p00_start_here import attention_explorer

panel = attention_explorer()
panel.set(sentence={sentence!r}, heads={heads}, d_k=16)
panel"""
USUAL = """
import matplotlib.pyplot as plt
import seaborn as sns
import torch
from ipywidgets import interact

def draw(d_k=16):
    tokens = {sentence!r}.split()
    weights = torch.softmax(torch.randn({heads}, len(tokens), d_k) @ torch.randn(d_k, len(tokens)), dim=-1)
    _, axes = plt.subplots({heads} // 4, 4, figsize=(9, 9 * {heads} / 16), squeeze=False)
    for head, ax in zip(weights, axes.flat):
        sns.heatmap(head, vmin=0, vmax=1, xticklabels=tokens, yticklabels=tokens, ax=ax)
    plt.show()

_ = interact(draw, d_k=(1, 32))"""
WATCH = """cell => {
    const output = window.jupyterapp.shell.currentWidget.content.widgets[cell].outputArea.node;
    const picture = () => output.querySelector("svg.mha") ?? output.querySelector("img")?.src;
    const seen = picture(), isNew = () => picture() && picture() !== seen;
    window.shown = new Promise(shown => document.addEventListener("keydown", key => {
        const look = () => isNew() ? shown(performance.now() - key.timeStamp) : requestAnimationFrame(look);
        requestAnimationFrame(look);
    }, {once: true, capture: true}));
}"""


def press(page, cell, key):
    """Return the milliseconds from a key on the slider d_k, the last of a cell, to the new picture."""
    page.locator(".jp-Notebook .jp-Cell").nth(cell).locator(".widget-slider [role=slider]").last.focus()
    page.evaluate(WATCH, cell)
    page.keyboard.press(key)
    milliseconds = page.evaluate("() => window.shown")
    page.wait_for_timeout(500)
    page.wait_for_function(f"() => {READY}", timeout=120_000)
    return milliseconds


def main():
    print("| heads | tokens | course | `interact` | ratio |\n|--:|--:|--:|--:|--:|")
    for heads, tokens in SIZES:
        filled = {"sentence": " ".join(f"w{i}" for i in range(tokens)), "heads": heads}
        cells = [cell.strip().format(**filled) for cell in (OURS, USUAL)]
        with opened(cells, viewport={"width": 1440, "height": 1400}) as page:
            turns = [[press(page, cell, key) for cell in (0, 1)] for key in TURNS]
        del turns[0]  # which costs imports and caches
        ours, usual = map(statistics.median, zip(*turns, strict=True))
        print(f"| {heads} | {tokens} | {ours:.0f} ms | {usual:.0f} ms | {usual / ours:.0f} × |", flush=True)


if __name__ == "__main__":
    main()

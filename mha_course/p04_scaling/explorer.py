"""Page 04: how far apart random scores lie, and what softmax makes of them, for heads of any size."""

import math

import ipywidgets as widgets
import torch

from mha_helpers.panel import Explorer, IndexMenu, Panel
from mha_helpers.style import number

SIZES = (1, 2, 4, 8, 16, 32, 64, 128, 256, 512)
SENTENCES, TOKENS = 64, 16
QUERIES_AND_KEYS = torch.randn(2, SENTENCES, TOKENS, max(SIZES), generator=torch.Generator().manual_seed(4))
SCALES = {
    "none": lambda d_k: 1,
    "÷ √d_k": math.sqrt,
    "÷ d_k": lambda d_k: d_k,
    "÷ √512": lambda d_k: math.sqrt(512),  # the root of d_model, a favourite mistake
}
REACH, BIN = 60, 2  # the axis goes from −60 to 60
MIDDLE, BASE, TALLEST, UNIT = 145, 300, 240, 280 / (2 * REACH)  # pixels of the histogram; of 1 on its axis
NAMES = list("abcdefghijklmnop")  # of the tokens of the one sentence that is shown


def scaling_explorer():
    """Return a ``Panel`` with the scores of random queries and keys, scaled or not. Used in notebook 04.

    ``state()`` holds scaled and weights ``(64, 16, 16)``, and the spread of scaled.

    >>> panel = scaling_explorer()
    >>> panel.set(d_k=256, scale="÷ √d_k")
    >>> round(float(panel.state()["spread"]), 1)
    1.0
    """
    return Panel(explorer=ScalingExplorer())


class ScalingExplorer(Explorer):
    title, height = "64 sentences of 16 tokens with random queries and keys", 350
    more = ("query", "key")

    def controls(self):
        return {
            "d_k": widgets.SelectionSlider(options=SIZES, value=64),
            "scale": widgets.Dropdown(options=list(SCALES)),
            "query": IndexMenu("query", names=NAMES),
            "key": IndexMenu("key", start=-1, names=NAMES),
        }

    def compute(self, d_k, scale, query, key):
        q, k = QUERIES_AND_KEYS[..., :d_k]  # a larger head keeps the numbers of a smaller one
        scaled = q @ k.transpose(-2, -1) / SCALES[scale](d_k)  # (64, 16, d_k) @ (64, d_k, 16) -> (64, 16, 16)
        weights = scaled.softmax(dim=-1)
        key = int(weights[0, query].argmax()) if key < 0 else key
        beyond = (scaled.abs() > REACH).float().mean()  # in the end bars, with no place of their own
        numbers = {"scaled": scaled, "weights": weights, "spread": scaled.std(), "beyond": beyond}
        return numbers | {"chosen": (query, key)}

    def draw(self, drawing, state):
        drawing.readout = (MIDDLE, 345)
        counts = torch.histc(state["scaled"].clamp(-REACH, REACH), 2 * REACH // BIN, -REACH, REACH)
        title = "scores" if state["scale"] == "none" else f"scores {state['scale']}"
        drawing.text(MIDDLE, 16, title, 15, "middle", bold=True)
        for i in counts.nonzero().flatten().tolist():
            low, share = -REACH + i * BIN, float(counts[i].double() / counts.sum())
            height = TALLEST * math.sqrt(share)  # by the root, so that rare scores can be seen
            # The first and the last bar hold what lies beyond them, too.
            ends = {-REACH: f"below {number(low + BIN)}", REACH - BIN: f"above {number(low)}"}
            hover = f"{ends.get(low, f'{number(low)} to {number(low + BIN)}')}: {share:.2%} of the scores"
            drawing.rect(MIDDLE + low * UNIT, BASE - height, BIN * UNIT - 1, height, "positive", 0.8, hover)
        drawing.line(MIDDLE - REACH * UNIT, BASE, MIDDLE + REACH * UNIT, BASE)
        for tick in (-40, -20, 0, 20, 40):
            drawing.text(MIDDLE + tick * UNIT, BASE + 18, number(tick), 13, "middle")
        weights, (query, key) = state["weights"][0], state["chosen"]
        drawing.heatmap((300, 0, 310, 345), weights, NAMES, NAMES, (query, key), title="weights, sentence 1")
        drawing.text(745, 16, f"weights of {NAMES[query]}", 15, "middle", bold=True)
        names = [f"key {name}" for name in NAMES]
        cells = [(0, query, i) for i in range(TOKENS)]
        drawing.bars((635, 30, 220, 310), weights[query], names, "head 1", (0, 1), key, cells)

    def words(self, state):
        largest = state["weights"].amax(dim=-1)
        beyond = f" {_share(state['beyond']).capitalize()} lie beyond ±{REACH}, in the end bars."
        beyond *= bool(state["beyond"] > 0)
        return [
            f"d_k = {state['d_k']}, scale: {state['scale']}. The spread of these scores is"
            f" {number(state['spread'])}; √d_k is {number(math.sqrt(state['d_k']))}.{beyond}",
            f"The largest weight of a row is {number(largest.mean())} on average;"
            f" {_share((largest > 0.99).float().mean())} of all rows give more than 0.99 to one key.",
            "The height of a bar follows the root of its count, so that rare scores can be seen.",
        ]


def _share(part):
    """Write a share in per cent; a small one is not 0%."""
    return "under 1%" if 0 < part < 0.005 else f"{part:.0%}"

"""A pair of numbers turned by position, and the scores that follow, for deeper/09_todays_models."""

import math
from itertools import pairwise

import ipywidgets as widgets
import torch

from mha_course.models import rotate
from mha_helpers.panel import Explorer, Panel
from mha_helpers.style import number

QUERY, KEY = torch.tensor([2.0, -1.0]), torch.tensor([2.0, 0.0])  # “eats” asks “cat”, in head 1
PAIRS, WORDS = 8, 12
LONGEST = float(QUERY.norm() * KEY.norm())  # no angle gives a larger product
BASES = [(f"{base:,}", base) for base in (10, 100, 1_000, 10_000, 100_000, 1_000_000)]
SHOWN = {"this pair": 1, "all 8 pairs, added": PAIRS}  # how many pairs a score adds up
CENTRE, UNIT = (132, 176), 46  # pixels: of the arrows' plane
LEFT, MIDDLE, STEP, TALL = 290, 410, 10, 96  # pixels: of the curve, its distance 0, a word, its top


def rotary_explorer():
    """Return a ``Panel`` with one turning pair and its scores. Used in deeper/09_todays_models.

    ``state()`` holds speeds ``(8)`` in radians a word, q and k ``(12, 2)`` of the chosen pair,
    scores ``(12, 12)`` as they are shown, and product, that of the two arrows.

    >>> panel = rotary_explorer()
    >>> panel.set(pair=1, query=1, key=0)
    >>> round(panel.state()["product"], 3)
    3.844
    """
    return Panel(explorer=RotaryExplorer())


class RotaryExplorer(Explorer):
    title, asks, height = "A pair of numbers, turned by its position", "click on a cell to move both", 338
    more = ("key",)

    def controls(self):
        return {
            "pair": widgets.IntSlider(2, 1, PAIRS),
            "query": widgets.IntSlider(4, 0, WORDS - 1, description="query at"),
            "base": widgets.SelectionSlider(options=BASES, value=10_000),
            "shown": widgets.Dropdown(options=list(SHOWN), description="scores of"),
            "key": widgets.IntSlider(3, 0, WORDS - 1, description="key at"),
        }

    def compute(self, pair, query, base, shown, key):
        turned = [rotate(part.repeat(WORDS, PAIRS), base=base) for part in (QUERY, KEY)]  # (n, d_k)
        q, k = (part.unflatten(-1, (PAIRS, 2)).transpose(0, 1) for part in turned)  # -> (pair, n, 2)
        products = q @ k.mT  # (pair, n, 2) @ (pair, 2, n) -> (pair, n, n)
        scores = products[pair - 1] if SHOWN[shown] == 1 else products.sum(dim=0)
        product = products[pair - 1, query, key].item()
        chosen = {"at": (query, key), "q": q[pair - 1], "k": k[pair - 1], "product": product}
        return chosen | {"speeds": base ** (-torch.arange(PAIRS) / PAIRS), "scores": scores}

    def draw(self, drawing, state):
        _draw_arrows(drawing, state)
        _draw_curve(drawing, state)
        names, limit = [str(i) for i in range(WORDS)], SHOWN[state["shown"]] * LONGEST
        style = {"kind": "scores", "limit": limit, "title": f"scores of {state['shown'].partition(',')[0]}"}
        drawing.heatmap((550, 0, 310, 338), state["scores"], names, names, state["at"], **style)

    def words(self, state):
        speed, (query, key) = state["speeds"][state["pair"] - 1].item(), state["at"]
        digits = 3 if speed > 0.01 else 6  # else the difference of a slow pair would be written as 0
        by_query, by_key, both = (number(speed * words, digits) for words in (query, key, query - key))
        turned, plain = number(state["product"], 3), number(QUERY @ KEY)
        last = f"After {2 * math.pi / speed:,.1f} words this pair is back where it was."
        if SHOWN[state["shown"]] > 1:
            added = number(state["scores"][query, key]), number(PAIRS * QUERY @ KEY)
            last = "All 8 pairs together give {}, and {} if none turns.".format(*added)
        return [
            f"Each word adds {number(speed, 6)} rad: the query is turned by {by_query}, the key by {by_key}.",
            f"The product feels only the difference, {both}: it is {turned}, and {plain} if neither turns.",
            last,
        ]


def _draw_cross(drawing, x):
    drawing.line(x - 116, CENTRE[1], x + 116, CENTRE[1], "faint", 0.8)
    drawing.line(x, CENTRE[1] - 112, x, CENTRE[1] + 112, "faint", 0.8)


def _draw_arrows(drawing, state):
    x, y = CENTRE
    drawing.text(x, 18, f"pair {state['pair']}, turned", 15, "middle", bold=True)
    _draw_cross(drawing, x)
    parts = ("query", QUERY, state["q"]), ("key", KEY, state["k"])
    for (role, plain, turned), position, below in zip(parts, state["at"], (306, 326), strict=True):
        for (right, up), width in ((plain, 1.5), (turned[position], 4)):
            style = {"width": width, "arrow": width > 2, "dashed": width < 2}
            drawing.line(x, y, x + UNIT * right, y - UNIT * up, role, **style)
        drawing.text(14, below, f"{role} at {position}; dashed: not turned", 13, colour=role, bold=True)


def _draw_curve(drawing, state):
    """Draw the score at each distance, and a dot at that of the two arrows."""
    pairs = slice(None) if SHOWN[state["shown"]] > 1 else slice(state["pair"] - 1, state["pair"])
    distances = torch.arange(1 - WORDS, WORDS - 0.9, 0.25)
    angles = distances[:, None] * state["speeds"][pairs]  # (distances, pairs)
    across = QUERY[0] * KEY[1] - QUERY[1] * KEY[0]
    scores = (angles.cos() * (QUERY @ KEY) + angles.sin() * across).mean(dim=-1)
    y, left, step = CENTRE[1], MIDDLE - STEP * (WORDS - 1), STEP / 4
    _draw_cross(drawing, MIDDLE)
    places = [(left + step * i, y - TALL * score / LONGEST) for i, score in enumerate(scores.tolist())]
    drawing.text(MIDDLE, 18, "score at each distance", 15, "middle", bold=True)
    for start, end in pairwise(places):
        drawing.line(*start, *end, "positive", 2)
    for distance in (1 - WORDS, 0, WORDS - 1):
        drawing.text(MIDDLE + STEP * distance, y + 128, number(distance), 12, "middle", "label")
    drawing.text(MIDDLE, y + 150, "position of the query − that of the key", 13, "middle")
    distance = state["query"] - state["key"]
    drawing.point(*places[4 * (distance + WORDS - 1)], 7, "lit", hover=f"{number(distance)} apart")

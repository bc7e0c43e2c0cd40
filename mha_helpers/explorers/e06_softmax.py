"""Notebook 06: one row of scores on its way to weights."""

import ipywidgets as widgets
import matplotlib
import torch
from matplotlib.collections import PolyCollection

from mha_helpers import style
from mha_helpers.checks import as_real_numbers, check_number
from mha_helpers.figures.cells import add_cells, corners, place_cells
from mha_helpers.figures.picture import new_figure
from mha_helpers.figures.words import join, largest
from mha_helpers.panel import Panel

TOKENS = ("cat", "eats", "fish", "now")
SCORES = (2.0, -0.5, 0.0, 1.0)
LARGEST_SCORE = 5  # and −5 is the smallest
EXPONENT = 1.3  # temperatures go from 10^−1.3, about 0.05, to 10^1.3, about 20
WIDTH, PART, LEFT, BAR = 890, 290, 40, 56  # pixels: the picture, one of its three parts, its margin, a bar
AXIS, LONGEST = 172, 92  # pixels: down to the zero line, of a bar (in the first part: of LARGEST_SCORE)
BREAK = 9  # pixels: the gap across a bar that is cut
HEIGHT = 316


def softmax_explorer(scores=SCORES, temperature=1.0):
    """Return a ``Panel`` that turns one row of four scores into weights.

    Controls: score_1 … score_4, temperature, shift (a number added to every score), minus_maximum (subtract
    the largest score before e to the power, as every library does). Used in notebook 06.

    ``state()`` holds scores, divided, exponentials and weights, each ``(4)``.

    Raises ``ValueError`` if there are not four scores, and for a number that its slider does not have,
    ``TypeError`` for what is no number.

    >>> panel = softmax_explorer(scores=(0.0, 0.0, 0.0, 0.0))
    >>> panel.state()["weights"]
    tensor([0.2500, 0.2500, 0.2500, 0.2500])
    """
    shape = tuple(as_real_numbers("scores", scores).shape)
    if shape != (len(TOKENS),):
        raise ValueError(
            f"scores must hold {len(TOKENS)} numbers, one each for {', '.join(TOKENS)}; got shape {shape}."
        )
    scores = [float(score) for score in scores]
    for place, score in enumerate(scores):
        check_number(f"scores[{place}]", score, -LARGEST_SCORE, LARGEST_SCORE)
    check_number("temperature", temperature, 10**-EXPONENT, 10**EXPONENT)
    controls = {
        f"score_{number}": widgets.FloatSlider(
            score,
            min=-LARGEST_SCORE,
            max=LARGEST_SCORE,
            step=0.1,
            readout_format=".1f",
            description=f"score of {token}",
        )
        for number, (token, score) in enumerate(zip(TOKENS, scores, strict=True), start=1)
    }
    controls["temperature"] = widgets.FloatLogSlider(
        temperature,
        base=10,
        min=-EXPONENT,
        max=EXPONENT,
        step=0.1,
        readout_format=".2f",
        description="temperature",
    )
    controls["shift"] = widgets.IntSlider(0, 0, 200, step=10, description="add to all")
    controls["minus_maximum"] = widgets.Checkbox(True, description="subtract the maximum first", indent=False)
    return Panel(
        controls,
        compute,
        RowPicture(),
        describe,
        title="One row: four scores become four weights.",
        rows=[["score_1", "score_2"], ["score_3", "score_4"], ["temperature", "shift"], ["minus_maximum"]],
    )


def compute(temperature, shift, minus_maximum, **scores):
    """Go the three steps of softmax one by one, in float32."""
    typed = [scores[f"score_{number}"] for number in range(1, 5)]
    row = torch.tensor(typed, dtype=torch.float32) + shift
    divided = row / temperature
    powers = divided - divided.max() if minus_maximum else divided
    exponentials = powers.exp()
    return {
        "scores": row,
        "temperature": temperature,
        "divided": divided,
        "powers": powers,
        "exponentials": exponentials,
        "weights": exponentials / exponentials.sum(),
        "minus_maximum": minus_maximum,
    }


class RowPicture:
    """Three groups of bars: the scores, e to the power of each, and the share of each in the sum."""

    def layout(self, state):
        return state["minus_maximum"]

    def draw(self, state):
        with style.drawing():
            figure = new_figure(WIDTH, HEIGHT)
            ax = figure.add_axes((0, 0, 1, 1))
            ax.set(xlim=(0, WIDTH), ylim=(HEIGHT, 0))
            ax.axis("off")
            power = "this − maximum" if state["minus_maximum"] else "this"
            titles = ("1. score ÷ temperature", f"2. exp({power})", "3. ÷ sum = weight")
            for part, title in enumerate(titles):
                left = LEFT + part * PART
                ax.text(left, 24, title, fontsize=12, weight="bold")
                ax.plot([left, left + 4 * BAR], [AXIS, AXIS], color=style.COLOURS["ink"], linewidth=1)
            cut = ax.text(LEFT, 44, "", fontsize=10.5)
            if not state["minus_maximum"]:  # from e to the power −5 to more than float32 holds: no one scale
                ax.text(LEFT + PART, 44, "the largest has full length", fontsize=10.5)
            bars = PolyCollection([], edgecolors=style.COLOURS["ink"], linewidths=0.8)
            ax.add_collection(bars, autolim=False)
            boxes, words = add_cells(ax)
        return figure, [bars, boxes, words, cut]

    def update(self, artists, state):
        bars, boxes, words, cut = artists
        shapes, colours, names, breaks = [], [], [], []
        groups = (
            (state["divided"], LARGEST_SCORE, 2),
            (state["exponentials"], None, 3),
            (state["weights"], 1.0, 3),
        )
        for part, (values, scale, decimals) in enumerate(groups):
            finite = values[values.isfinite()]
            scale = scale or (finite.max().item() if len(finite) else 1.0) or 1.0
            for place, value in enumerate(values.tolist()):
                left = LEFT + part * PART + place * BAR
                known = torch.tensor(value).isfinite().item()
                share = min(max(value / scale, -1.0), 1.0) if known else 0.0
                length = LONGEST * share
                if known and abs(value) > scale:
                    breaks.append(_break(left, AXIS - 0.8 * length))
                shapes.append(corners(left + 8, AXIS, BAR - 16, -length))
                colours.append(_colour(part, share))
                beyond = -12 if length >= 0 else 12
                names.append((_written(value, decimals), left + BAR / 2, AXIS - length + beyond, "centre"))
                names.append((TOKENS[place], left + BAR / 2, HEIGHT - 16, "centre"))
        bars.set_verts(shapes + breaks)
        bars.set_facecolor(colours + ["white"] * len(breaks))
        cut.set_text(_cut(state))
        place_cells(boxes, words, [], BAR, BAR, names)


def _break(left, middle):
    """Return a slanted strip across a bar, which shows that the bar goes on."""
    ends = ((left + 6, middle + 4), (left + BAR - 6, middle - 4))
    above = [(x, y - BREAK / 2) for x, y in ends]
    return above + [(x, y + BREAK / 2) for x, y in reversed(ends)]


def _cut(state):
    """Say so where a bar of score ÷ temperature would be longer than there is room for."""
    most = state["divided"].abs().max().item()
    return f"bars are cut at ±{LARGEST_SCORE}" if most > LARGEST_SCORE else ""


def _colour(part, share):
    """Give a bar the colour that a heatmap gives its number; the step between has none."""
    if part == 0:
        return matplotlib.colormaps[style.SCORE_CMAP](0.5 + share / 2)
    return matplotlib.colormaps[style.WEIGHT_CMAP](share) if part == 2 else style.COLOURS["faint"]


def _written(value, decimals):
    """Write a number in the width of a bar."""
    if abs(value) >= 1000 and abs(value) != float("inf"):
        return f"{value:.0e}".replace("e+0", "e").replace("e+", "e")
    return style.number(value, 0 if abs(value) >= 100 else 1 if abs(value) >= 10 else decimals)


def describe(state):
    """Say what a person would say of the picture."""
    weights = state["weights"]
    advice = "Tick “subtract the maximum first”."
    lost = [token for token, weight in zip(TOKENS, weights, strict=True) if weight.isnan()]
    if lost:
        others = "the other 0" if len(lost) == 3 else "the others 0"
        some = f"{join(lost)} get{'s' if len(lost) == 1 else ''} nan, {others}"
        said = "the weights are nan" if len(lost) == len(TOKENS) else some
        return f"e to such a large power is ∞ for float32, and ∞ ÷ ∞ is no number: {said}. {advice}"
    if state["exponentials"].sum().isinf():
        return f"The sum is ∞ for float32, and anything smaller ÷ ∞ is 0: all weights are 0. {advice}"
    shares = ", ".join(
        f"{token} {style.number(weight, trim=False)}"
        for token, weight in zip(TOKENS, weights.tolist(), strict=True)
    )
    powers = ", ".join(
        "less than 0.001" if 0 < value < 0.0005 else _written(value, 3)
        for value in state["exponentials"].tolist()
    )
    less = " less the maximum" if state["minus_maximum"] else ""
    divided = ", ".join(_written(value, 2) for value in state["divided"].tolist())
    cut = f" ({_cut(state)})" if _cut(state) else ""
    return (
        f"Temperature {style.number(state['temperature'])}. Score ÷ temperature: {divided}{cut}."
        f" e to the power of each{less}: {powers}."
        f" Weights: {shares}."
        f" {_most(weights)}. They sum to {style.number(weights.sum().item())}."
    )


def _most(weights):
    winners = [TOKENS[place] for place in largest(weights, weights.isfinite())]
    if len(winners) == 1:
        return f"{winners[0]} gets most"
    return "All get the same" if len(winners) == len(TOKENS) else f"{join(winners)} get most"

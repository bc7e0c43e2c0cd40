"""The picture of the mask explorer: mask, masked scores and weights side by side."""

import math

import matplotlib
import numpy as np
from matplotlib.cm import ScalarMappable
from matplotlib.colors import ListedColormap, Normalize
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle
from matplotlib.transforms import Affine2D

from mha_helpers import style
from mha_helpers.heatmap_cells import NUMBERS_FROM, HeatmapCells

DPI = 100
WIDTH = 900  # pixels; fits beside a file browser on a small laptop
GAP = 16
TOP = 26  # room for the titles
FONT_POINTS = 8
LETTER = 6.6  # pixels; a Chinese character is as wide as two letters
LABEL_EVERY = 10  # pixels a label needs
LARGEST_CELL = 64
LEAST_SIDE = 175  # of a heatmap: its title needs them
EMPTY = "#F4F4F4"
PAD = "[pad]"
TITLES = ("mask: True = may attend", "masked scores", "weights")


class MaskSteps:
    """Three heatmaps of ``(n, n)`` side by side: the mask, the masked scores and the weights.

    Reads from the state: ``words`` (the tokens of the whole sentence), ``real`` (bool, False where a word
    has given way to padding), ``mask`` (bool, True = may attend), ``masked``, ``weights``, ``score_limit``
    (the end of the scale of scores) and ``selected`` (row, column).
    """

    def layout(self, state):
        return tuple(style.display_labels(list(state["words"]))[0]), state["score_limit"]

    def draw(self, state):
        labels, limit = self.layout(state)
        place = _Placement(labels)
        scales = (
            (ListedColormap(["white", style.COLOURS["may attend"]]), 0, 1),
            (style.CMAPS["scores"], -limit, limit),
            (style.CMAPS["weights"], 0, 1),
        )
        with style.drawing(), matplotlib.rc_context({"font.size": FONT_POINTS}):
            figure = Figure(figsize=(place.width / DPI, place.height / DPI), dpi=DPI, facecolor="white")
            artists = [_draw_panel(figure, place, panel, scale) for panel, scale in enumerate(scales)]
            for panel in (1, 2):
                _draw_bar(figure, place, panel, *scales[panel])
            _draw_key(figure, place)
        return figure, artists

    def update(self, artists, state):
        hidden = ~state["mask"].numpy()
        shown = (np.ones(hidden.shape), state["masked"].numpy(), state["weights"].numpy())
        row, column = state["selected"]
        labels = [
            label if real else PAD
            for label, real in zip(self.layout(state)[0], state["real"].tolist(), strict=True)
        ]
        for parts, values in zip(artists, shown, strict=True):
            values = np.ma.masked_array(values, hidden)
            parts["cells"].values = values
            for mark in parts["row"]:
                mark.set_y(row)
            for mark in parts["cell"]:
                mark.set_xy((column, row))
            for place, texts in parts["labels"].items():
                for text in texts:
                    text.set_text(labels[place])

    def legend(self, state):
        """Return, in HTML, which token each number stands for where no font has the characters."""
        return style.display_labels(list(state["words"]))[1]


class _Placement:
    """Where everything goes, in pixels from the upper left corner."""

    def __init__(self, labels):
        self.n = len(labels)
        lengths = (sum(2 if ord(c) > 0x2E00 else 1 for c in label) for label in (*labels, PAD))
        widest = math.ceil(LETTER * max(lengths))
        self.margin = widest + 30
        cell = (WIDTH - self.margin - 2 * GAP - 8) / 3 / self.n
        # Whole pixels: every cell is as wide as the next, and the numbers sit in their middle.
        self.cell = min(math.floor(cell), LARGEST_CELL) if cell >= 8 else cell
        self.side = max(self.cell * self.n, LEAST_SIDE)
        self.cell = self.side / self.n
        self.step = math.ceil(LABEL_EVERY / self.cell)
        self.flat = widest + 4 <= self.cell
        self.below = TOP + self.side + (18 if self.flat else widest + 8)  # where the word "key" stands
        self.width = math.ceil(self.margin + 3 * self.side + 2 * GAP + 8)
        self.height = math.ceil(self.below + 62)

    def left(self, panel):
        return math.floor(self.margin + panel * (self.side + GAP))

    def fractions(self, left, top, width, height):
        bottom = self.height - top - height
        return left / self.width, bottom / self.height, width / self.width, height / self.height

    def pixels(self, figure):
        return Affine2D().scale(1 / self.width, -1 / self.height).translate(0, 1) + figure.transFigure


def _draw_panel(figure, place, panel, scale):
    cmap, low, high = scale
    n = place.n
    axes = figure.add_axes(place.fractions(place.left(panel), TOP, place.side, place.side))
    # Cells that are masked are not drawn: the hatching behind them shows.
    axes.patch.set(facecolor=EMPTY, edgecolor=style.COLOURS["masked"], hatch=style.MASKED_HATCH)
    enough = ((), ((40, 2), (26, 1)), ((NUMBERS_FROM, 2),))[panel]  # pixels a cell needs, and decimals
    decimals = next((decimals for pixels, decimals in enough if place.cell >= pixels), None)
    parts = {"cells": axes.add_artist(HeatmapCells(axes.bbox, (low, high, cmap), decimals))}
    axes.set_title(TITLES[panel], loc="left", fontsize=FONT_POINTS + 1, pad=6)
    axes.set(xlim=(0, n), ylim=(n, 0), xticks=[], yticks=[])
    for spine in axes.spines.values():
        spine.set(color=style.COLOURS["masked"], linewidth=0.8)
    parts["row"], parts["cell"] = (
        [
            axes.add_patch(
                Rectangle((0, 0), width, 1, fill=False, edgecolor=colour, linewidth=line, clip_on=False)
            )
            for colour, line in lines
        ]
        for width, lines in (
            (n, ((style.COLOURS["query"], 1.4),)),
            (1, ((style.COLOURS["ink"], 4), (style.COLOURS["lit"], 2))),
        )
    )
    parts["labels"] = _draw_labels(axes, place, rows=panel == 0)
    return parts


def _draw_labels(axes, place, rows):
    # They change when words give way to padding, so they are painted each time, and are no ticks.
    turned = {"ha": "center", "va": "top", "rotation": 0 if place.flat else 90}
    below, beside = (axes.transData + Affine2D().translate(*by) for by in ((0, -4), (-4, 0)))
    labels = {}
    for i in range(0, place.n, place.step):
        labels[i] = [axes.text(i + 0.5, place.n, "", transform=below, **turned)]
        if rows:
            labels[i].append(axes.text(0, i + 0.5, "", transform=beside, ha="right", va="center"))
    return labels


def _draw_bar(figure, place, panel, cmap, low, high):
    width = min(place.side, 180)
    axes = figure.add_axes(place.fractions(place.left(panel), place.below + 22, width, 10))
    bar = figure.colorbar(ScalarMappable(Normalize(low, high), cmap), cax=axes, orientation="horizontal")
    bar.outline.set_visible(False)
    middle = (low + high) / 2
    bar.set_ticks([low, middle, high], labels=[style.number(tick) for tick in (low, middle, high)])
    bar.ax.tick_params(length=0, pad=2)


def _draw_key(figure, place):
    pixels = place.pixels(figure)
    bold = {"transform": pixels, "fontweight": "bold", "ha": "center", "va": "center"}
    middle = TOP + place.side / 2
    figure.text(10, middle, "query", rotation=90, color=style.COLOURS["query"], **bold)
    for panel in range(3):
        middle = place.left(panel) + place.side / 2
        figure.text(middle, place.below + 6, "key", color=style.COLOURS["key"], **bold)
    left, top = place.left(0), place.below + 20
    for text, look in (
        ("may attend", {"facecolor": style.COLOURS["may attend"]}),
        ("masked", {"facecolor": EMPTY, "hatch": style.MASKED_HATCH}),
    ):
        figure.add_artist(
            Rectangle((left, top), 14, 12, edgecolor=style.COLOURS["masked"], transform=pixels, **look)
        )
        figure.text(left + 19, top + 6, text, va="center", transform=pixels)
        left += 90

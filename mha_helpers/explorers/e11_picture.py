"""The picture of notebook 11: one head's weights, 72 heads as small pictures, bars of its tendencies."""

import numpy as np
import seaborn
from matplotlib.cm import ScalarMappable
from matplotlib.collections import LineCollection, PolyCollection
from matplotlib.colors import Normalize
from matplotlib.patches import Rectangle

from mha_helpers import style
from mha_helpers.figures.picture import new_figure

WIDTH, HEIGHT = 940, 520  # pixels
LEFT, TOP, SIDE = 108, 50, 306  # of the heatmap
RIGHT, SMALL, GAP = 504, 32, 4  # of the small pictures
BARS_TOP, BARS_HEIGHT = 346, 138
NAMES = ("previous", "next", "itself", "same word", "[CLS]", "[SEP]")


class RealModelPicture:
    """A heatmap, a table of 72 small heatmaps, six bars with a mark where even weights would be."""

    def layout(self, state):
        return (state["tokens"], state["weights"].shape)

    def draw(self, state):
        with style.drawing():
            figure = new_figure(WIDTH, HEIGHT)
            artists = {
                "head": self._draw_head(figure, state),
                "small": self._draw_small(figure, state),
                "bars": self._draw_bars(figure),
            }
        return figure, artists

    def legend(self, state):
        return style.display_labels(list(state["tokens"]))[1]

    def update(self, artists, state):
        layer, head = state["selected_layer"], state["selected_head"]
        cells, name = artists["head"]
        cells.set_array(state["weights"][layer, head].numpy())
        name.set_text(f"layer {layer + 1}, head {head + 1}" + (": off" if state["off"] else ""))
        artists["small"]["cells"].set_data(_side_by_side(state["weights"].numpy()))
        n = len(state["tokens"])
        gap = _gap(n)
        for frame in artists["small"]["frames"]:
            frame.set_xy([place * (n + gap) - 0.5 - gap / 2 for place in (head, layer)])
        values = [state["tendencies"][name][layer, head].nan_to_num().item() for name in NAMES]
        even = [state["even"][name].nan_to_num().item() for name in NAMES]
        artists["bars"]["bars"].set_verts(
            [
                [(0, i - 0.35), (value, i - 0.35), (value, i + 0.35), (0, i + 0.35)]
                for i, value in enumerate(values)
            ]
        )
        artists["bars"]["even"].set_segments([[(e, i - 0.45), (e, i + 0.45)] for i, e in enumerate(even)])

    def _draw_head(self, figure, state):
        labels = style.display_labels([style.short(token, 11) for token in state["tokens"]])[0]
        n = len(labels)
        axes = figure.add_axes(_box(LEFT, TOP, SIDE, SIDE))
        look = {"cbar": False, "xticklabels": False, "yticklabels": False, "cmap": style.WEIGHT_CMAP}
        seaborn.heatmap(np.zeros((n, n)), vmin=0, vmax=1, ax=axes, **look)
        middles = np.arange(n) + 0.5
        axes.set_yticks(middles, labels, rotation=0, fontsize=10)
        axes.set_xticks(middles, labels, rotation=90, fontsize=10)
        axes.tick_params(length=0, pad=3)
        middle = 1 - (TOP + SIDE / 2) / HEIGHT
        look = {"weight": "bold", "color": style.COLOURS["query"]}
        figure.text(8 / WIDTH, middle, "query", rotation=90, va="center", **look)
        look["color"] = style.COLOURS["key"]
        figure.text((LEFT + SIDE / 2) / WIDTH, 10 / HEIGHT, "key", ha="center", **look)
        name = axes.text(0, -0.02 * n, "", weight="bold", va="bottom")
        bar = figure.add_axes(_box(LEFT + SIDE + 10, TOP, 10, 140))
        figure.colorbar(ScalarMappable(Normalize(0, 1), style.WEIGHT_CMAP), cax=bar, ticks=[0, 0.5, 1])
        bar.tick_params(length=0, labelsize=9, pad=2)
        bar.set_title("weight", fontsize=9, pad=5)
        return [axes.collections[0], name]

    def _draw_small(self, figure, state):
        layers, heads, n, _ = state["weights"].shape
        width, height = heads * (SMALL + GAP) - GAP, layers * (SMALL + GAP) - GAP
        axes = figure.add_axes(_box(RIGHT, TOP + 14, width, height))
        cells = axes.imshow(
            _side_by_side(np.zeros(state["weights"].shape)),
            cmap=style.WEIGHT_CMAP,
            vmin=0,
            vmax=1,
            aspect="auto",
            interpolation="nearest",
        )
        step = n + _gap(n)
        middle = (n - 1) / 2
        axes.set_xticks([head * step + middle for head in range(heads)], range(1, heads + 1), fontsize=10)
        axes.set_yticks([layer * step + middle for layer in range(layers)], range(1, layers + 1), fontsize=10)
        axes.xaxis.tick_top()
        axes.tick_params(length=0, pad=4)
        axes.spines[:].set_visible(False)
        axes.set_title("head", fontsize=11, weight="bold", pad=4)
        axes.set_ylabel("layer", fontsize=11, weight="bold", labelpad=2)
        look = {"fill": False, "clip_on": False}
        frames = [  # in the gaps: the picture inside is small
            Rectangle((0, 0), step, step, edgecolor=style.COLOURS[name], linewidth=width, **look)
            for name, width in (("ink", 3.5), ("lit", 2))
        ]
        for frame in frames:
            axes.add_patch(frame)
        return {"cells": cells, "frames": frames}

    def _draw_bars(self, figure):
        axes = figure.add_axes(_box(RIGHT + 76, BARS_TOP, 330, BARS_HEIGHT))
        axes.set(xlim=(0, 1.005), ylim=(len(NAMES) - 0.5, -0.5))
        axes.set_yticks(range(len(NAMES)), NAMES)
        axes.set_xticks([0, 0.5, 1], ["0", "0.5", "1"])
        axes.tick_params(axis="y", length=0)
        axes.spines[["top", "right"]].set_visible(False)
        axes.set_title(
            "average weight of the words on … (line: even weights)", fontsize=11, x=-0.23, loc="left"
        )
        bars = PolyCollection([], facecolors=style.COLOURS["masked"])
        even = LineCollection([], colors=style.COLOURS["ink"], linewidths=1.6)
        for artist in (bars, even):
            axes.add_collection(artist, autolim=False)
        return {"bars": bars, "even": even}


def _gap(n):
    return max(1, round(n * GAP / SMALL))  # cells that stay empty between two small pictures


def _side_by_side(weights):
    """Lay (layers, h, n, n) out as one table of cells, with NaN between the heads."""
    layers, heads, n, _ = weights.shape
    step = n + _gap(n)
    table = np.full((layers * step - _gap(n), heads * step - _gap(n)), np.nan)
    for layer in range(layers):
        for head in range(heads):
            table[layer * step : layer * step + n, head * step : head * step + n] = weights[layer, head]
    return np.ma.masked_invalid(table)


def _box(left, top, width, height):
    return (left / WIDTH, 1 - (top + height) / HEIGHT, width / WIDTH, height / HEIGHT)

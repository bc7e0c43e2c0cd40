"""The picture of notebook 10: one head's weights, accuracy over training, the scores of all heads."""

import textwrap

import numpy as np
import seaborn
from matplotlib.cm import ScalarMappable
from matplotlib.collections import PolyCollection
from matplotlib.colors import Normalize
from matplotlib.patches import Rectangle

from mha_helpers import style
from mha_helpers.figures.picture import new_figure

WIDTH, HEIGHT = 900, 500  # pixels
LEFT, TOP, SIDE = 44, 44, 396  # of the heatmap
RIGHT, RIGHT_WIDTH = 570, 306  # of the two charts
CURVE_TOP, CURVE_HEIGHT, BARS_TOP, BARS_HEIGHT = 44, 150, 296, 150
SCORE_NAMES = {"previous": "previous letter", "after a copy": "after an earlier copy"}
# Of the bars and of the frames alike; blue and orange belong to query and key.
SCORE_COLOURS = {"previous": style.COLOURS["masked"], "after a copy": style.COLOURS["lit"]}
TEST_LOOK = {"distance 12": ("--", "s"), "held-out distances": ("-", "o")}  # the last lies on top


class FormingPicture:
    """A heatmap, two curves with a mark at the present step, two bars for each head."""

    def layout(self, state):
        return (state["tokens"], state["training"])

    def draw(self, state):
        with style.drawing():
            figure = new_figure(WIDTH, HEIGHT)
            artists = {
                "head": self._draw_head(figure, state),
                "marks": self._draw_curves(figure, state),
                "bars": self._draw_bars(figure, state),
            }
        return figure, artists

    def update(self, artists, state):
        layer, head = state["selected_layer"], state["selected_head"]
        weights = state["weights"][layer, head]
        n = len(state["tokens"])
        may = np.tril(np.ones((n, n), dtype=bool))
        cells, name, frames, key_box, key_words = artists["head"]
        cells.set_array(np.ma.masked_array(weights.numpy(), ~may))
        frames.set_verts(
            [
                [(j + 0.06, i + 0.06), (j + 0.94, i + 0.06), (j + 0.94, i + 0.94), (j + 0.06, i + 0.94)]
                for i, j in state["framed"].nonzero().tolist()
            ]
        )
        for artist in (frames, key_box):
            artist.set_edgecolor(SCORE_COLOURS[state["looked_for"]])
        key_words.set_text(textwrap.fill(SCORE_NAMES[state["looked_for"]], 12))
        name.set_text(f"layer {layer + 1}, head {head + 1}" + (": off" if state["off"] else ""))

        artists["marks"]["line"].set_xdata([state["step"]] * 2)
        for test, mark in artists["marks"]["tests"].items():
            mark.set_data([state["step"]], [state["accuracies"][test]])

        for score, bars in artists["bars"]["scores"].items():
            bars.set_verts(_bars(score, state[score].flatten().tolist()))
        chosen = layer * state["weights"].shape[1] + head
        artists["bars"]["frame"].set_x(chosen - 0.5)

    def _draw_head(self, figure, state):
        tokens = state["tokens"]
        n = len(tokens)
        axes = figure.add_axes(_box(LEFT, TOP, SIDE, SIDE))
        axes.patch.set(facecolor="#EDEDED", edgecolor=style.COLOURS["masked"], hatch=style.MASKED_HATCH)
        cmap = style.CMAPS["weights"]
        look = {"cbar": False, "xticklabels": False, "yticklabels": False}
        seaborn.heatmap(np.zeros((n, n)), vmin=0, vmax=1, cmap=cmap, ax=axes, **look)
        middles = np.arange(n) + 0.5
        axes.set_yticks(middles, tokens, rotation=0, fontsize=9)
        axes.set_xticks(middles, tokens, rotation=0, fontsize=9)
        axes.tick_params(length=0, pad=3)
        axes.set_ylabel("query", color=style.COLOURS["query"], weight="bold")
        axes.set_xlabel("key", color=style.COLOURS["key"], weight="bold")
        frames = PolyCollection([], facecolors="none", linewidths=1.6, zorder=5)
        axes.add_collection(frames, autolim=False)
        name = axes.text(0, -0.02 * n, "", weight="bold", va="bottom")
        bar = figure.add_axes(_box(LEFT + SIDE + 12, TOP, 11, 180))
        figure.colorbar(ScalarMappable(Normalize(0, 1), cmap), cax=bar)
        bar.tick_params(length=0, labelsize=10)
        bar.set_title("weight", fontsize=10, loc="left")
        key = figure.add_axes(_box(LEFT + SIDE + 12, TOP + 200, 70, 40))
        key.set(xlim=(0, 70), ylim=(40, 0))
        key.axis("off")
        key_box = key.add_patch(Rectangle((1, 2), 11, 11, fill=False, linewidth=1.8))
        key_words = key.text(17, 1, "", fontsize=9, va="top", linespacing=1.1)
        return [axes.collections[0], name, frames, key_box, key_words]

    def _draw_curves(self, figure, state):
        axes = figure.add_axes(_box(RIGHT, CURVE_TOP, RIGHT_WIDTH, CURVE_HEIGHT))
        steps, last = state["steps"], state["steps"][-1]
        marks = {}
        for test, (line, marker) in TEST_LOOK.items():
            look = {"color": style.COLOURS["output"], "marker": marker}
            axes.plot(steps, state["curves"][test], line, label=test, linewidth=1.8, markersize=3.5, **look)
            look.update(markersize=9, markeredgecolor="white", zorder=5)
            marks[test] = axes.plot([0], [0], line, **look)[0]
        axes.set(ylim=(-0.04, 1.06), xlim=(-0.02 * last, 1.02 * last))
        axes.set_yticks([0, 0.5, 1], ["0", "0.5", "1"])
        axes.set_xticks(range(0, last + 1, 250 if last >= 500 else 100))
        axes.set_title("next letter right, by training step", fontsize=12, loc="left", weight="bold")
        axes.spines[["top", "right"]].set_visible(False)
        axes.legend(loc="center right", fontsize=10, frameon=False, handlelength=2.6)
        line = axes.axvline(0, color=style.COLOURS["masked"], linewidth=1)
        return {"line": line, "tests": marks}

    def _draw_bars(self, figure, state):
        axes = figure.add_axes(_box(RIGHT, BARS_TOP, RIGHT_WIDTH, BARS_HEIGHT))
        layers, heads = state["previous"].shape
        axes.set(xlim=(-0.6, layers * heads - 0.4), ylim=(0, 1.04))
        axes.set_yticks([0, 0.5, 1], ["0", "0.5", "1"])
        names = [f"{layer + 1}.{head + 1}" for layer in range(layers) for head in range(heads)]
        axes.set_xticks(range(layers * heads), names)
        axes.set_xlabel("layer.head, on held-out distances")
        axes.axvline(heads - 0.5, color=style.COLOURS["faint"], linewidth=1)
        axes.spines[["top", "right"]].set_visible(False)
        axes.tick_params(length=0)
        bars = {}
        for score, name in SCORE_NAMES.items():
            look = {"facecolor": SCORE_COLOURS[score], "edgecolor": style.COLOURS["ink"], "linewidth": 0.8}
            bars[score] = PolyCollection([], **look)
            axes.add_collection(bars[score], autolim=False)
            axes.add_patch(Rectangle((0, 0), 0, 0, label=name, **look))
        look = {"fontsize": 10, "frameon": False, "handlelength": 1, "columnspacing": 1, "borderaxespad": 0.2}
        axes.legend(loc="lower left", bbox_to_anchor=(-0.02, 1.0), ncols=2, **look)
        axes.text(0, 1.27, "where each head's weight goes", transform=axes.transAxes, weight="bold")
        frame = Rectangle((-0.5, 0), 1, 1.03, fill=False, edgecolor=style.COLOURS["ink"], linewidth=1.6)
        axes.add_patch(frame)
        return {"scores": bars, "frame": frame}


def _bars(score, values):
    shift = -0.36 if score == "previous" else 0.02
    return [
        [(i + shift, 0), (i + shift + 0.34, 0), (i + shift + 0.34, value), (i + shift, value)]
        for i, value in enumerate(values)
    ]


def _box(left, top, width, height):
    return (left / WIDTH, 1 - (top + height) / HEIGHT, width / WIDTH, height / HEIGHT)

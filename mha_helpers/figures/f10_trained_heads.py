"""Figures of notebook 10: the tiny model as a map, and accuracy with two heads switched off."""

import seaborn
import torch
from matplotlib.patches import FancyArrowPatch, FancyBboxPatch

from mha_helpers import style
from mha_helpers.checks import as_real_numbers
from mha_helpers.figures.picture import Picture, make_numbers_readable, new_figure

# What stands in a box, what shape leaves it, and its colour.
STEPS = (
    ("letters", "(b, n)", "faint"),
    ("table of letters\n+ positions", "(b, n, d_model)", "faint"),
    ("layer 1\n4 heads", "(b, n, d_model)", "ink"),
    ("layer 2\n4 heads", "(b, n, d_model)", "ink"),
    ("guess:\n26 numbers", "(b, n, 26)", "output"),
)
BOX, HEIGHT, GAP, LEFT = 128, 64, 56, 10  # pixels
ADDED, LEAVES = 14, 38  # pixels into a gap: the plus, and where the road past the next layer begins


def model_map():
    """Draw the five stages of the tiny model, and the road past each layer. Returns a ``Picture``."""
    with style.drawing():
        width, height = 2 * LEFT + len(STEPS) * BOX + (len(STEPS) - 1) * GAP, 172
        figure = new_figure(width, height)
        ax = figure.add_axes((0, 0, 1, 1))
        ax.set(xlim=(0, width), ylim=(height, 0))
        ax.axis("off")
        top = 66
        for number, (words, shape, colour) in enumerate(STEPS):
            left = LEFT + number * (BOX + GAP)
            look = {"facecolor": "white", "edgecolor": style.COLOURS[colour], "linewidth": 2.5}
            if colour == "faint":
                look["edgecolor"] = style.COLOURS["masked"]
            box = FancyBboxPatch((left, top), BOX, HEIGHT, boxstyle="round,pad=0,rounding_size=8", **look)
            ax.add_patch(box)
            ax.text(left + BOX / 2, top + HEIGHT / 2, words, ha="center", va="center")
            ax.text(left + BOX / 2, top + HEIGHT + 18, shape, ha="center", va="center", fontsize=11)
            if number:
                _arrow(ax, (left - GAP, top + HEIGHT / 2), (left, top + HEIGHT / 2))
            if words.startswith("layer"):
                _road_past(ax, left, top)
        ax.text(
            LEFT + 2 * (BOX + GAP) - GAP + LEAVES, 18, "x goes past each layer and is added to what it says"
        )
    shapes = " → ".join(f"{words} {shape}".replace("\n", " ") for words, shape, _ in STEPS)
    return Picture(
        figure, f"The tiny model: {shapes}. x also goes past each layer and is added to its output."
    )


def _arrow(ax, start, end):
    look = {"arrowstyle": "-|>", "mutation_scale": 14, "color": style.COLOURS["ink"]}
    ax.add_patch(FancyArrowPatch(start, end, shrinkA=0, shrinkB=0, **look))


def _road_past(ax, left, top):
    start, end, y = left - GAP + LEAVES, left + BOX + ADDED, top + HEIGHT / 2
    ax.plot([start, start, end], [y, top - 24, top - 24], color=style.COLOURS["ink"], linewidth=1.2)
    _arrow(ax, (end, top - 24), (end, y - 7))
    ax.plot([end], [y], "o", markersize=13, markerfacecolor="white", markeredgecolor=style.COLOURS["ink"])
    ax.text(end, y, "+", ha="center", va="center", fontsize=11)


def pairs_picture(accuracies, names):
    """Draw what is left of the accuracy when two heads are off; on the diagonal, one.

    Shape: accuracies ``(heads, heads)``. Returns a ``Picture``.

    >>> pairs_picture(torch.tensor([[1.0, 0.25], [0.25, 0.5]]), ["1.1", "1.2"])
    Accuracy with heads off. One head: 1.1 1.00, 1.2 0.50. Worst pair: 1.1 and 1.2, 0.25.
    """
    accuracies = as_real_numbers("accuracies", accuracies).float()
    side = 52 * len(names)
    labels, legend = style.drawable_names(names, "Heads")
    with style.drawing():
        width, height = side + 190, side + 92
        figure = new_figure(width, height)
        ax = figure.add_axes((66 / width, 54 / height, side / width, side / height))
        bar_height = side * 0.6
        bar_left, bar_bottom = 66 + side + 20, 54 + side - bar_height
        bar = figure.add_axes((bar_left / width, bar_bottom / height, 14 / width, bar_height / height))
        look = {"vmin": 0, "vmax": 1, "cmap": "cividis", "linewidths": 1}
        seaborn.heatmap(
            accuracies.numpy(),
            ax=ax,
            cbar_ax=bar,
            annot=True,
            fmt=".2f",
            xticklabels=labels,
            yticklabels=labels,
            **look,
        )
        make_numbers_readable(ax, accuracies)
        ax.tick_params(length=0, rotation=0)
        ax.set(xlabel="head switched off", ylabel="and this one")
        bar.set_title("accuracy", fontsize=style.FONT_SIZE, loc="left", pad=10)
    single = ", ".join(f"{name} {style.number(accuracies[i, i], trim=False)}" for i, name in enumerate(names))
    pairs = accuracies.clone().fill_diagonal_(torch.inf)
    i, j = divmod(int(pairs.argmin()), len(names))
    worst = f"{names[i]} and {names[j]}, {style.number(pairs[i, j], trim=False)}"
    return Picture(
        figure, f"Accuracy with heads off. One head: {single}. Worst pair: {worst}.", legend_html=legend
    )

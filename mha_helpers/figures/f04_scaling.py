"""Notebook 04: the spread of scores against d_k, and rows of weights with and without the scale."""

import math
import textwrap

import matplotlib
import torch

from mha_helpers import style
from mha_helpers.checks import as_real_numbers
from mha_helpers.figures.picture import Picture, new_figure

WIDTH = 880
SPREAD_HEIGHT, ROWS_HEIGHT = 340, 400
ABOVE, BELOW, AXIS_LEFT = 36, 56, 62  # pixels of the rows: their titles, numbers and "key", and "weight"
SCORE_INK, SCALED_INK = "#5A5A5A", matplotlib.colormaps[style.WEIGHT_CMAP](0.75)
SHOWN = 3  # histograms: the smallest, a middle and the largest d_k


def spread_picture(scores):
    """Draw how far scores spread, for every d_k, beside the line √d_k, with and without ÷√d_k.

    ``scores`` is a dict of d_k -> many unscaled scores, a tensor of any shape. On the left, histograms of
    three of them; on the right, the spread (standard deviation) of all. Returns a ``Picture``.

    Raises ``ValueError`` if there are fewer than three d_k.

    >>> flips = torch.tensor([-1.0, 1.0]).repeat(500)
    >>> spread_picture({1: flips, 4: 2 * flips, 16: 4 * flips}).alt.splitlines()[2]
    'd_k 4: 2.00 (√d_k = 2.00), after the scale 1.00.'
    """
    if len(scores) < SHOWN:
        raise ValueError(f"scores must have at least {SHOWN} values of d_k, got {len(scores)}.")
    scores = {d_k: as_real_numbers(f"scores[{d_k}]", of_one).float() for d_k, of_one in scores.items()}
    d_ks = sorted(scores)
    spreads = {d_k: float(scores[d_k].double().std()) for d_k in d_ks}
    with style.drawing():
        figure = new_figure(WIDTH, SPREAD_HEIGHT)
        left = figure.add_axes((0.02, 0.17, 0.44, 0.72))
        right = figure.add_axes((0.54, 0.17, 0.44, 0.72))
        _draw_histograms(left, scores, d_ks)
        _draw_spreads(right, spreads)
    lines = [
        f"d_k {d_k}: {_two(spread)} (√d_k = {_two(math.sqrt(d_k))}),"
        f" after the scale {_two(spread / math.sqrt(d_k))}."
        for d_k, spread in spreads.items()
    ]
    return Picture(figure, "\n".join(["Spread of the scores, measured.", *lines]))


def _draw_histograms(ax, scores, d_ks):
    shown = [d_ks[0], d_ks[len(d_ks) // 2], d_ks[-1]]
    reach = 3 * math.sqrt(d_ks[-1])
    edges = torch.linspace(-reach, reach, 121, dtype=torch.float32)
    for level, d_k in enumerate(shown):
        counts = torch.histogram(scores[d_k].flatten(), edges).hist
        heights = counts / counts.max() * 0.85  # each as tall as the next: their widths are compared
        base = len(shown) - 1 - level
        ax.stairs((base + heights).numpy(), edges.numpy(), baseline=base, fill=True, color=SCORE_INK)
        ax.text(-reach, base + 0.3, f"$d_k$ = {d_k}", va="bottom")
    ax.set(xlim=(-reach, reach), ylim=(0, len(shown)), yticks=[], xlabel="score")
    ax.spines[["left", "top", "right"]].set_visible(False)
    ax.set_title("scores, not scaled (each drawn equally tall)", fontsize=style.FONT_SIZE, weight="bold")


def _draw_spreads(ax, spreads):
    d_ks = list(spreads)
    last = d_ks[-1]
    line = torch.linspace(0, last, 200)
    ax.plot(line, line.sqrt(), color="#999999", linewidth=1.5)
    ax.plot(d_ks, list(spreads.values()), "o", color=SCORE_INK, markersize=7)
    ax.text(last, math.sqrt(last) * 0.6, "not scaled: on the line √$d_k$", ha="right", va="center")
    ax.axhline(1, color="#999999", linewidth=1.5)
    scaled = [spread / math.sqrt(d_k) for d_k, spread in spreads.items()]
    ax.plot(d_ks, scaled, "s", color=SCALED_INK, markersize=6)
    ax.text(last, 1 + math.sqrt(last) * 0.04, "divided by √$d_k$: near 1", ha="right", va="bottom")
    ax.set(
        xlim=(0, last * 1.03), ylim=(0, math.sqrt(last) * 1.1), xlabel="$d_k$", ylabel="spread of the scores"
    )
    ax.spines[["top", "right"]].set_visible(False)
    ax.set_title("their spread", fontsize=style.FONT_SIZE, weight="bold")


def rows_picture(weights, row_names, column_names):
    """Draw rows of weights as bars, in a grid: one kind of scale a row, one d_k a column.

    Shape: weights ``(rows, columns, n_k)``, each last axis a row of weights. Returns a ``Picture``.

    Raises ``ValueError`` where the names do not fit.

    >>> rows_picture(torch.tensor([[[0.9, 0.1]]]), ["no scale"], ["d_k = 4"])
    Weights of one query on 2 keys. no scale, d_k = 4: the largest is 0.90, on key 1.
    """
    weights = as_real_numbers("weights", weights).float()
    if weights.dim() != 3 or weights.shape[:2] != (len(row_names), len(column_names)):
        raise ValueError(
            f"weights must have shape ({len(row_names)}, {len(column_names)}, n_k) for these names,"
            f" got {tuple(weights.shape)}."
        )
    rows, columns, keys = weights.shape
    shown_rows, legend = style.drawable_names(row_names, "Rows")
    shown_columns, columns_legend = style.drawable_names(column_names, "Columns")
    with style.drawing():
        height = ROWS_HEIGHT if rows > 1 else ROWS_HEIGHT // 2 + 30
        figure = new_figure(WIDTH, height)
        axes = figure.subplots(rows, columns, squeeze=False, sharex=True, sharey=True)
        names = [figure.text(0.01, 0.5, textwrap.fill(name, 24), weight="bold") for name in shown_rows]
        left = max(name.get_window_extent().x1 for name in names) + AXIS_LEFT
        figure.subplots_adjust(
            left=max(0.165, left / WIDTH),
            right=0.99,
            top=1 - ABOVE / height,
            bottom=BELOW / height,
            wspace=0.1,
            hspace=0.16,
        )
        for i, name in enumerate(names):
            for j in range(columns):
                _draw_row(axes[i, j], weights[i, j])
            axes[i, 0].set_ylabel("weight")
            name.set(y=sum(axes[i, 0].get_position().intervaly) / 2, va="center")
        for j, name in enumerate(shown_columns):
            axes[0, j].set_title(name, fontsize=style.FONT_SIZE, weight="bold")
            axes[-1, j].set_xlabel("key", color=style.COLOURS["key"], weight="bold")
    sentences = [
        f"{row}, {column}: the largest is {_two(weights[i, j].max())}, on key {weights[i, j].argmax() + 1}."
        for i, row in enumerate(row_names)
        for j, column in enumerate(column_names)
    ]
    alt = f"Weights of one query on {keys} keys. " + "\n".join(sentences)
    return Picture(figure, alt, legend_html=legend + columns_legend)


def _draw_row(ax, row):
    keys = range(1, len(row) + 1)
    colours = matplotlib.colormaps[style.WEIGHT_CMAP](row.numpy())
    ax.bar(keys, row.numpy(), color=colours, edgecolor="#555555", linewidth=0.6)
    top = int(row.argmax())
    ax.text(top + 1, float(row[top]) + 0.02, _two(row[top]), ha="center", va="bottom")
    ax.set(ylim=(0, 1.15), yticks=[0, 0.5, 1], xlim=(0.2, len(row) + 0.8))
    ax.set_xticks([key for key in keys if key % 4 == 0 or key == 1])
    ax.spines[["top", "right"]].set_visible(False)


def _two(value):
    return style.number(value, trim=False)

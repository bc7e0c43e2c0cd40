"""Masks, and other matrices of yes and no, side by side."""

import math
import textwrap

import numpy as np
import torch
from matplotlib.colors import ListedColormap
from matplotlib.patches import Rectangle

from mha_helpers import style
from mha_helpers.figures.picture import Picture, new_figure
from mha_helpers.figures.words import count
from mha_helpers.placement import text_width

MAX_WIDTH = 880  # pixels: what a laptop's notebook column holds
LARGEST_CELL = 44
GAP = 26
LABEL_PITCH = 16  # pixels from one label to the next when they are packed
LINE = 20
AXES = ("query", "key")
EMPTY = "#EDEDED"


def mask_maps(masks, tokens, axes=AXES, words=("may attend", "masked")):
    """Draw several bool matrices side by side: True filled, False hatched.

    ``masks`` is a dict of title -> mask. ``words`` say what True and False mean, ``axes`` what the rows
    and the columns are.

    Shapes: every mask broadcastable to ``(n, n)`` for n tokens. Returns a ``Picture``. Used in notebook 05.

    Raises ``TypeError`` if a mask is not bool, ``ValueError`` if it does not fit the tokens or there is none.

    >>> mask_maps({"causal": torch.ones(2, 2, dtype=torch.bool).tril()}, ["cat", "eats"])
    Rows: query; columns: key.
    causal: masked in 1 of 4 cells. Row by row, the columns of “may attend”: cat 1; eats 1–2.
    """
    n = len(tokens)
    if not masks or not n:
        raise ValueError(f"at least one mask and one token are needed; got {len(masks)} and {n}.")
    maps = {title: _square(title, mask, n) for title, mask in masks.items()}
    labels, legend = style.display_labels(tokens)
    titles, titles_legend = style.drawable_names(list(maps), "Masks")
    shown_words, words_legend = style.drawable_names(words, "Cells")
    shown_axes = [style.drawable_text(name, usual) for name, usual in zip(axes, AXES, strict=True)]
    with style.drawing():
        figure = _draw(dict(zip(titles, maps.values(), strict=True)), labels, shown_axes, shown_words)
    lines = [_describe(title, mask, tokens, words) for title, mask in maps.items()]
    alt = "\n".join([f"Rows: {axes[0]}; columns: {axes[1]}.", *lines])
    return Picture(figure, alt, legend_html=legend + titles_legend + words_legend)


def _square(title, mask, n):
    if not isinstance(mask, torch.Tensor) or mask.dtype != torch.bool:
        raise TypeError(f"the mask “{title}” must be a bool tensor, in which True means “may attend”.")
    try:
        return mask.broadcast_to(*[1] * max(mask.dim() - 2, 0), n, n).reshape(n, n)
    except RuntimeError:
        raise ValueError(
            f'the mask "{title}" {tuple(mask.shape)} does not broadcast to one picture of {n} × {n} tokens.'
        ) from None


def _describe(title, mask, tokens, words):
    yes, no = words
    columns = "; ".join(f"{token} {_ranges(row.tolist())}" for token, row in zip(tokens, mask, strict=True))
    cells = f"{int((~mask).sum())} of {count(mask.numel(), 'cell')}"
    return f"{title}: {no} in {cells}. Row by row, the columns of “{yes}”: {columns}."


def _ranges(row):
    """Return the columns that are True, counted from 1.

    >>> _ranges([True, True, True, False, True]), _ranges([False])
    ('1–3, 5', 'none')
    """
    starts = [j for j, yes in enumerate(row) if yes and not (j and row[j - 1])]
    ends = [j for j, yes in enumerate(row) if yes and not (j + 1 < len(row) and row[j + 1])]
    pairs = zip(starts, ends, strict=True)
    return ", ".join(f"{a + 1}" if a == b else f"{a + 1}–{b + 1}" for a, b in pairs) or "none"


def _draw(maps, labels, axes, words):
    n, across = len(labels), len(maps) if len(maps) <= 4 else 3
    down = math.ceil(len(maps) / across)
    widest = max(map(len, labels)) * 9 + 6
    left = widest + LINE + 14
    cell = min((MAX_WIDTH - left - 10 - (across - 1) * GAP) / across / n, LARGEST_CELL)
    side = max(cell * n, 150)
    turned = widest > side / n
    below = (widest if turned else LINE) + 6
    titles = [_lines(title, side + 10) for title in maps]
    head = LINE * max(title.count("\n") + 1 for title in titles)
    top, pitch = head + 8, side + head + 14
    width = left + max(across * side + (across - 1) * GAP, sum(map(_legend_width, words))) + 10
    height = top + down * pitch - head - 14 + below + 2 * LINE + 22
    figure = new_figure(width, height)
    row_look, column_look = style.axis_looks(axes)
    step = math.ceil(LABEL_PITCH * n / side)
    for panel, (title, mask) in enumerate(zip(titles, maps.values(), strict=True)):
        row, column = divmod(panel, across)
        x, y = left + column * (side + GAP), top + row * pitch
        ax = figure.add_axes((x / width, 1 - (y + side) / height, side / width, side / height))
        _draw_map(ax, mask)
        ax.set_title(title, loc="left", fontsize=style.FONT_SIZE, pad=5)
        places, shown = [i + 0.5 for i in range(0, n, step)], labels[::step]
        ax.set_yticks(places, shown if column == 0 else [""] * len(places))
        is_last = panel + across >= len(maps)
        ax.set_xticks(places, shown if is_last else [""] * len(places), rotation=90 if turned else 0)
        ax.tick_params(length=0, pad=4)
        if column == 0:
            ax.set_ylabel(axes[0], **row_look)
        if is_last:
            ax.set_xlabel(axes[1], **column_look)
    _draw_words(figure, left, width, height, words)
    return figure


def _lines(title, width):
    """Break a title into lines of at most ``width`` pixels."""
    for letters in range(len(title), 1, -1):
        lines = textwrap.wrap(title, letters)
        if text_width(tuple(lines), style.FONT_SIZE) <= width:
            return "\n".join(lines)
    return title


def _draw_map(ax, mask):
    n = len(mask)
    # What is False is not drawn: the hatching behind it shows.
    ax.patch.set(facecolor=EMPTY, edgecolor=style.COLOURS["masked"], hatch=style.MASKED_HATCH)
    ax.pcolormesh(
        np.ma.masked_where(~mask.numpy(), np.ones((n, n))),
        cmap=ListedColormap([style.COLOURS["may attend"]]),
        edgecolors="white",
        linewidth=1,
    )
    ax.set(xlim=(0, n), ylim=(n, 0))
    for spine in ax.spines.values():
        spine.set(color=style.COLOURS["masked"], linewidth=0.8)


def _legend_width(word):
    return 24 + 9 * len(word) + 24  # the box, the word, a gap


def _draw_words(figure, left, width, height, words):
    x = left
    looks = ({"facecolor": style.COLOURS["may attend"]}, {"facecolor": EMPTY, "hatch": style.MASKED_HATCH})
    for word, look in zip(words, looks, strict=True):
        box = Rectangle(
            (x / width, 10 / height), 18 / width, 14 / height, edgecolor=style.COLOURS["masked"], **look
        )
        figure.add_artist(box)
        figure.text((x + 24) / width, 17 / height, word, va="center")
        x += _legend_width(word)

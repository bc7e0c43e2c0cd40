"""The picture of page 08: the numbers of q on their way into the heads."""

from itertools import pairwise
from typing import NamedTuple

import numpy

from mha_helpers.picture import Picture, arrow, box, drawable, new_figure, words
from mha_helpers.style import number, vector

WIDE, TALL = 46, 24  # of a number
NAME, GAP = 22, 6  # above a block and below it
LEFT, TOP = (62, 470, 744), 28  # of the three stages, and of their first block
FRAMED = 1  # which token


def heads_cut(q, tokens, num_heads):
    """Draw q, ``q.view(n, h, d_k)`` and its transpose in the colours of the heads, the second token framed.

    Shape: q ``(n, h·d_k)``. Returns a ``Picture``. Used in notebook 08.

    >>> import torch
    >>> print(heads_cut(torch.tensor([[1.0, 2.0], [3.0, 4.0]]), ["cat", "eats"], num_heads=2).words)
    q (2, 2), then view (2, 2, 1), then transpose (2, 2, 1).
    Framed, “eats”: head 1 gets (3), head 2 gets (4).
    """
    heads, names = [f"head {head + 1}" for head in range(num_heads)], drawable(tokens)
    d_k = q.shape[1] // num_heads
    stages = _stages(names, heads, d_k)
    high = max(stage.high for stage in stages)
    figure, ax = new_figure(860, TOP + high)
    for before, after in pairwise(stages):
        end, y = before.left + before.shape[-1] * WIDE, TOP + high / 2 + 8
        arrow(ax, (end + 12, y), (after.left - 64, y))
    for stage in stages:
        _draw_names(ax, stage, heads)
    _draw_numbers(ax, stages, q, heads)
    shares = zip(heads, q[FRAMED].view(num_heads, d_k), strict=True)
    parts = ", ".join(f"{name} gets {vector(share)}" for name, share in shares)
    way = ", then ".join(f"{stage.step} {stage.shape}" for stage in stages)
    return Picture(figure, f"{way}.\nFramed, “{tokens[FRAMED]}”: {parts}.")


class _Stage(NamedTuple):
    """One form of q: blocks that stand below each other, of as many rows each."""

    step: str
    shape: tuple
    blocks: list  # what each is called
    rows: list
    left: int
    top: float = TOP

    @property
    def block_high(self):
        return NAME + len(self.rows) * TALL + GAP

    @property
    def high(self):
        return len(self.blocks) * self.block_high

    def corner(self, block, row=0, column=0):
        """Return x and y of the upper left corner of a number."""
        return self.left + column * WIDE, self.top + block * self.block_high + NAME + row * TALL


def _stages(names, heads, d_k):
    n, h = len(names), len(heads)
    q = _Stage("q", (n, h * d_k), [""], names, LEFT[0])
    view = _Stage("view", (n, h, d_k), names, heads, LEFT[1])
    transpose = _Stage("transpose", (h, n, d_k), heads, names, LEFT[2])
    return q._replace(top=TOP + (max(view.high, transpose.high) - q.high) / 2), view, transpose


def _draw_names(ax, stage, heads):
    words(ax, stage.left, 10, f"{stage.step} {stage.shape}", bold=True, align="left")
    for index, block in enumerate(stage.blocks):
        (left, top), colour = stage.corner(index), block if block in heads else "label"
        words(ax, left, top - 10, block, colour, bold=True, align="left")
        for row, name in enumerate(stage.rows):
            words(ax, left - 7, top + (row + 0.5) * TALL, name, align="right")


def _draw_numbers(ax, stages, q, heads):
    for token, feature in numpy.ndindex(*q.shape):
        head, d = divmod(feature, q.shape[1] // len(heads))
        cells = ((0, token, feature), (token, head, d), (head, token, d))  # block, row, column
        for stage, cell in zip(stages, cells, strict=True):
            x, y = stage.corner(*cell)
            box(ax, x + 2, y + 2, WIDE - 4, TALL - 4, heads[head], lit=token == FRAMED, radius=2)
            words(ax, x + WIDE / 2, y + TALL / 2, number(q[token, feature]), "ink", bold=token == FRAMED)

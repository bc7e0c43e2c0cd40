"""The picture of page 08: the numbers of q on their way into the heads."""

import numpy

from mha_helpers.picture import Picture, arrow, box, drawable, new_figure, words
from mha_helpers.style import number, vector

WIDE, TALL = 46, 25  # of a number
NAME, GAP = 22, 8  # above a block and below it
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
    n, d_k = len(tokens), q.shape[1] // num_heads
    heads, names = [f"head {head + 1}" for head in range(num_heads)], drawable(tokens)
    high = max(_top(n, num_heads), _top(num_heads, n))
    figure, ax = new_figure(860, TOP + high)
    for left, right, width in ((LEFT[0], LEFT[1], num_heads * d_k), (LEFT[1], LEFT[2], d_k)):
        arrow(ax, (left + width * WIDE + 12, TOP + high / 2 + 8), (right - 64, TOP + high / 2 + 8))
    stages = (  # name, shape, its blocks, the rows of each, where the first block begins
        ("q", (n, num_heads * d_k), [""], names, (high - _top(1, n)) / 2),
        ("view", (n, num_heads, d_k), names, heads, 0),
        ("transpose", (num_heads, n, d_k), heads, names, 0),
    )
    for left, (step, shape, blocks, rows, first) in zip(LEFT, stages, strict=True):
        words(ax, left, 10, f"{step} {shape}", bold=True, align="left")
        for index, block in enumerate(blocks):
            top, colour = TOP + first + _top(index, len(rows)) + NAME, block if block in heads else "label"
            words(ax, left, top - 10, block, colour, bold=True, align="left")
            for row, name in enumerate(rows):
                words(ax, left - 7, top + (row + 0.5) * TALL, name, align="right")
    for token, feature in numpy.ndindex(*q.shape):
        head, d = divmod(feature, d_k)
        cells = ((0, token, feature), (token, head, d), (head, token, d))  # block, row, column
        for left, (*_, rows, first), (block, row, column) in zip(LEFT, stages, cells, strict=True):
            x, y = left + column * WIDE, TOP + first + _top(block, len(rows)) + NAME + row * TALL
            box(ax, x + 2, y + 2, WIDE - 4, TALL - 4, heads[head], lit=token == FRAMED, radius=2)
            words(ax, x + WIDE / 2, y + TALL / 2, number(q[token, feature]), "ink", bold=token == FRAMED)
    shares = zip(heads, q[FRAMED].view(num_heads, d_k), strict=True)
    parts = ", ".join(f"{name} gets {vector(share)}" for name, share in shares)
    way = ", then ".join(f"{step} {shape}" for step, shape, *_ in stages)
    return Picture(figure, f"{way}.\nFramed, “{tokens[FRAMED]}”: {parts}.")


def _top(block, rows):
    """Return where a block begins that has so many others above it, each of ``rows`` rows."""
    return block * (NAME + rows * TALL + GAP)

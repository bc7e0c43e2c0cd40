"""The picture of page 09: what each head adds to each feature of the output of one word."""

import torch
from matplotlib.patches import Rectangle

from mha_helpers.picture import FONT, Picture, chart_at, new_figure, words
from mha_helpers.style import colour_of, head_colour, head_label, number

LEFT, TOP, WIDTH = 118, 30, 600  # of the chart, in pixels
BAR, GAP = 18, 9  # the height of a bar; the space between two features


def contribution_bars(contributions, features, names=None, word=""):
    """Draw for each feature of the output the pieces that the heads add, one after the other, and their sum.

    A bar begins where the one above it ends, so that a negative piece leads back to the left; the last ends
    at the sum. A head that adds nothing to a feature has no bar there.

    Shape: contributions ``(h, d_model)``, one row for each head. Returns a ``Picture``. Used in notebook 09.

    >>> print(contribution_bars(torch.tensor([[2.0], [-0.5]]), ["size"], word="cat").words)
    What the heads add to the output of “cat”. size: head 1 2.000, head 2 −0.500, sum 1.500.
    """
    pieces = contributions.detach().double()
    writes = [column.abs().gt(1e-6).nonzero().flatten().tolist() for column in pieces.T]
    height = sum(max(len(heads), 1) * BAR + GAP for heads in writes)
    figure, page = new_figure(860, TOP + height + 50)
    left = LEFT
    for head in range(len(pieces)):  # the legend
        label = head_label(head, names)
        page.add_patch(Rectangle((left, 8), 12, 12, color=head_colour(head), linewidth=0))
        words(page, left + 18, 14, label, align="left")
        left += 48 + 7 * len(label)
    ends = torch.cat([torch.zeros(1, len(features)), pieces.cumsum(dim=0)])  # where bars begin and end
    limits = (min(float(ends.min()), 0) - 0.15, float(ends.max()) + 0.15)
    style = {"xlabel": "added to the feature, head after head", "ylim": (height, 0), "yticks": []}
    ax = chart_at(figure, LEFT, TOP, WIDTH, height, xlim=limits, **style)
    ax.axvline(0, color=colour_of("label"), linewidth=1)
    words(page, 4, 14, "feature", bold=True, align="left")
    words(page, LEFT + WIDTH + 22, 14, "sum", "label", bold=True, align="left")
    top, sentences = GAP / 2, []
    for feature, (name, heads) in enumerate(zip(features, writes, strict=True)):
        bottom, parts = top + max(len(heads), 1) * BAR, []
        total = number(ends[-1, feature], 3, trim=False)
        words(page, 4, TOP + (top + bottom) / 2, name, align="left")
        words(page, LEFT + WIDTH + 22, TOP + (top + bottom) / 2, total, bold=True, align="left")
        for lane, head in enumerate(heads):
            _draw_bar(ax, top + lane * BAR, ends[head, feature], pieces[head, feature], head)
            parts.append(f"head {head + 1} {number(pieces[head, feature], 3, trim=False)}")
        ax.plot([ends[-1, feature]] * 2, [bottom - BAR + 1, bottom + 6], color=colour_of("lit"), linewidth=4)
        sentences.append(f"{name}: {', '.join([*parts, f'sum {total}'])}.")
        top = bottom + GAP
    return Picture(figure, f"What the heads add to the output of “{word}”. {' '.join(sentences)}")


def _draw_bar(ax, top, start, piece, head):
    start, piece = float(start), float(piece)
    ax.add_patch(Rectangle((start, top + 1), piece, BAR - 2, color=head_colour(head), linewidth=0))
    text = f"{'+' if piece > 0 else ''}{number(piece, 3, trim=False)}"
    pixels = abs(piece) / (ax.get_xlim()[1] - ax.get_xlim()[0]) * WIDTH
    if pixels > 60:
        words(ax, start + piece / 2, top + BAR / 2, text, "white", size=FONT - 1, bold=True)
    else:  # beside a bar that is too short for its number
        words(ax, max(start, start + piece), top + BAR / 2, f" {text}", size=FONT - 1, align="left")

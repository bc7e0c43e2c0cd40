"""The pictures of page 10: the tiny model as a map, and its two heads on one line of letters."""

from matplotlib.patches import Rectangle

from mha_helpers.heatmaps import draw_weights
from mha_helpers.masks import causal_mask
from mha_helpers.picture import Picture, arrow, axes_at, box, new_figure, words
from mha_helpers.style import colour_of

STAGES = (  # what is in a box, what shape leaves it, and its colour
    ("letters", "(b, n)", "faint"),
    ("embedding\n+ positions", "(b, n, 32)", "faint"),
    ("layer 1\n4 heads", "(b, n, 32)", "label"),
    ("layer 2\n4 heads", "(b, n, 32)", "label"),
    ("logits of the\nnext letter", "(b, n, 26)", "output"),
)
BOX, HEIGHT, GAP, TOP = 118, 56, 60, 52  # pixels


def model_map():
    """Draw the five stages of the tiny model, and the residual connection past each layer.

    Returns a ``Picture``. Used in notebook 10.
    """
    figure, ax = new_figure(5 * BOX + 4 * GAP + 8, 160)
    middle = TOP + HEIGHT / 2
    for number, (name, shape, colour) in enumerate(STAGES):
        left = 4 + number * (BOX + GAP)
        box(ax, left, TOP, BOX, HEIGHT, colour)
        words(ax, left + BOX / 2, middle, name, "ink")
        words(ax, left + BOX / 2, TOP + HEIGHT + 16, shape)
        if number:
            arrow(ax, (left - GAP + 2, middle), (left - 2, middle))
        if name.startswith("layer"):
            start, end, above = left - GAP / 2, left + BOX + 16, TOP - 22
            ax.plot([start, start, end], [middle, above, above], color=colour_of("label"), linewidth=1.6)
            arrow(ax, (end, above), (end, middle - 9))
            ax.plot([end], [middle], "o", markersize=15, mfc="white", mec=colour_of("label"), zorder=4)
            words(ax, end, middle, "+", "ink", zorder=5)
            words(ax, (start + end) / 2, above - 12, "residual connection")
    stages = " → ".join(f"{name} {shape}".replace("\n", " ") for name, shape, _ in STAGES)
    return Picture(figure, f"The tiny model: {stages}. x goes past each layer and is added to its output.")


def circuit_maps(head_1_3, head_2_1, tokens, framed):
    """Draw head 1.3 and head 2.1 on one line, with the positions that each has to look at in frames.

    Shapes: two heads of weights ``(n, n)``; framed: two bool tables ``(n, n)``. Returns a ``Picture``, whose
    words say how much weight the frames hold. Used in notebook 10.

    >>> import torch
    >>> even = causal_mask(2) / torch.tensor([[1.0], [2.0]])
    >>> print(circuit_maps(even, even, "KQ", [torch.tensor([[False, False], [True, False]])] * 2).words)
    Head 1.3: 1 frame, which holds 0.50 of its row on average.
    Head 2.1: 1 frame, which holds 0.50 of its row on average.
    """
    n, side, descriptions = len(tokens), 372, []
    labels = [f"{token} {position}" for position, token in enumerate(tokens)]
    middles = [position + 0.5 for position in range(n)]
    figure, _ = new_figure(880, side + 70)
    for left, weights, frames, name, job, colour in (
        (56, head_1_3, framed[0], "head 1.3", "the previous letter", "head 3"),
        (496, head_2_1, framed[1], "head 2.1", "after an earlier copy", "head 5"),
    ):
        ax = axes_at(figure, left, 26, side, side)
        draw_weights(ax, weights, colour_of(colour), causal_mask(n))
        for row, column in frames.nonzero().tolist():
            style = {"fill": False, "edgecolor": colour_of("lit"), "linewidth": 1.6, "zorder": 5}
            ax.add_patch(Rectangle((column, row), 1, 1, **style))
        for axis, role, turned in ((ax.yaxis, "query", 0), (ax.xaxis, "key", 90)):
            axis.set_ticks(middles, labels, fontsize=9.5, rotation=turned)
            axis.set_label_text(role, color=colour_of(role), weight="bold")
        ax.tick_params(length=0, pad=3, labelcolor=colour_of("label"))
        ax.set_title(f"{name}: {job}", loc="left", color=colour_of(colour), weight="bold", fontsize=12.5)
        held = (weights * frames).sum(dim=-1)[frames.any(dim=-1)].mean()
        count = "1 frame, which holds" if frames.sum() == 1 else f"{frames.sum()} frames, which hold"
        descriptions.append(f"{name.capitalize()}: {count} {held:.2f} of its row on average.")
    return Picture(figure, "\n".join(descriptions))

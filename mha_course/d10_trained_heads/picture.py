"""The pictures of deeper/10: the tiny model as a map, and its two heads on one line of letters."""

from matplotlib.patches import Rectangle

from mha_helpers import causal_mask, heatmap, side_by_side
from mha_helpers.picture import Picture, arrow, box, new_figure, words
from mha_helpers.style import colour_of

STAGES = (  # what is in a box, what shape leaves it, and its colour
    ("letters", "(b, n)", "faint"),
    ("embedding\n+ positions", "(b, n, 32)", "faint"),
    ("layer 0\n4 heads", "(b, n, 32)", "label"),
    ("layer 1\n4 heads", "(b, n, 32)", "label"),
    ("logits of the\nnext letter", "(b, n, 26)", "output"),
)
PITCH, WIDTH, HEIGHT, Y = 178, 118, 56, 80  # pixels: from one box to the next; a box; the middle of all


def model_map():
    """Draw the five stages of the tiny model, and the residual connection past each layer.

    Returns a ``Picture``. Used in deeper/10.
    """
    figure, ax = new_figure(838, 160)
    for number, (name, shape, colour) in enumerate(STAGES):
        x = 63 + number * PITCH
        box(ax, x - WIDTH / 2, Y - HEIGHT / 2, WIDTH, HEIGHT, colour)
        words(ax, x, Y, name, "ink")
        words(ax, x, Y + HEIGHT / 2 + 16, shape)
        if number:
            arrow(ax, (x - PITCH + WIDTH / 2 + 2, Y), (x - WIDTH / 2 - 2, Y))
        if name.startswith("layer"):
            start, end = x - 89, x + 75  # of the way past it
            arrow(ax, (start, Y), (end, Y), connectionstyle="bar,fraction=-0.3", shrinkB=9)
            circle = {"boxstyle": "circle,pad=0.1", "facecolor": "white", "edgecolor": colour_of("label")}
            words(ax, end, Y, "+", "ink", bbox=circle, zorder=5)
            words(ax, (start + end) / 2, Y - 62, "residual connection")
    stages = " → ".join(f"{name} {shape}".replace("\n", " ") for name, shape, _ in STAGES)
    return Picture(figure, f"The tiny model: {stages}. x goes past each layer and is added to its output.")


def circuit_maps(head_0_2, head_1_0, tokens, framed):
    """Draw head 0.2 and head 1.0 on one line, with the positions that each has to look at in frames.

    Shapes: two heads of weights ``(n, n)``; framed: two bool tables ``(n, n)``. Returns a ``Picture``, whose
    words say how much weight the frames hold. Used in deeper/10.

    >>> import torch
    >>> even = causal_mask(2) / torch.tensor([[1.0], [2.0]])
    >>> print(circuit_maps(even, even, "KQ", [torch.eye(2, dtype=torch.bool)] * 2).words)
    Head 0.2: 2 frames, which hold 0.75 of its row on average.
    Head 1.0: 2 frames, which hold 0.75 of its row on average.
    """
    labels = [f"{token}\N{NO-BREAK SPACE}{position}" for position, token in enumerate(tokens)]
    shared = {"rows": labels, "mask": causal_mask(len(tokens))}
    maps = side_by_side(
        heatmap(head_0_2, title="head 0.2: the previous letter", head=2, **shared),
        heatmap(head_1_0, title="head 1.0: after an earlier copy", head=4, **shared),
    )
    descriptions = []
    for ax, weights, frames in zip(maps.figure.axes, (head_0_2, head_1_0), framed, strict=False):
        for row, column in frames.nonzero().tolist():
            style = {"fill": False, "ec": colour_of("lit"), "lw": 1.6, "clip_on": False, "zorder": 5}
            ax.add_patch(Rectangle((column, row), 1, 1, **style))
        name = ax.get_title("left").split(":")[0].capitalize()
        held = (weights * frames).sum(dim=-1)[frames.any(dim=-1)].mean()
        descriptions.append(f"{name}: {frames.sum()} frames, which hold {held:.2f} of its row on average.")
    return Picture(maps.figure, "\n".join(descriptions))

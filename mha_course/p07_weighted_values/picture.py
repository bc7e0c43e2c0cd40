"""The picture of page 07: values, all that can be mixed from them, outputs, and points out of reach."""

import torch

from mha_helpers.picture import FONT, Picture, axes_at, new_figure
from mha_helpers.style import COLOURS, colour_of, vector

TALL, ROOM = 370, 1.1  # pixels; units for a label on the left


def value_hull(v, mixtures, outputs, tokens, wanted, names):
    """Draw three values as corners, many mixtures as small points, each token's output, and points wanted.

    Shapes: v ``(3, 2)``, mixtures ``(many, 2)``, outputs ``(n, 2)``, wanted ``(some, 2)``, drawn as crosses;
    ``names`` says what the two numbers mean. Returns a ``Picture``, whose words say what lies outside the
    triangle. Used in notebook 07.

    >>> v = torch.tensor([[2.0, 2.0], [0.0, -1.0], [-1.0, 1.0]])
    >>> mixtures, wanted = torch.tensor([[0.5, 0.5], [3.0, 0.0]]), torch.tensor([[1.0, -0.5], [0.0, 0.0]])
    >>> print(value_hull(v, mixtures, v[:1], ["cat"], wanted, names=("acts", "thing")).words)
    Triangle of the values (2, 2), (0, −1), (−1, 1). Outside it: 1 of 2 mixes; the points (1, −0.5).
    """
    figure = new_figure(540, TALL + 60)[0]
    ax = _plane(figure, v.min().item() - 0.5, max(v.max().item(), wanted.max().item()) + 0.5, names)
    green, purple = colour_of("value"), colour_of("output")
    ax.fill(*v.T, facecolor=green, alpha=0.12)
    ax.scatter(*mixtures.T, s=5, color=green, alpha=0.35, linewidths=0)
    ax.scatter(*v.T, s=110, color=green, zorder=3)
    ax.scatter(*outputs.T, s=90, color=purple, zorder=3, edgecolors="white", linewidths=0.8)
    for token, value, output in zip(tokens, v, outputs, strict=False):
        _label(ax, f"value of {token}", value, value - v.mean(dim=0), green)
        _label(ax, f"output of {token}", output, torch.tensor([0.9, -0.5]), purple)
    ax.scatter(*wanted.T, s=90, color=colour_of("label"), marker="x", zorder=3)
    for point in wanted:
        _label(ax, vector(point), point, torch.tensor([1.0, -0.4]), colour_of("label"))
    values, beyond = (", ".join(map(vector, points)) for points in (v, wanted[_outside(v, wanted)]))
    counted = f"Outside it: {int(_outside(v, mixtures).sum())} of {len(mixtures)} mixes; the points {beyond}."
    return Picture(figure, f"Triangle of the values {values}. {counted}")


def _plane(figure, lowest, highest, names):
    wide = (highest - lowest + ROOM) * TALL / (highest - lowest)  # both axes have one scale
    ax = axes_at(figure, 60, 10, wide, TALL)
    ax.spines[["top", "right"]].set_visible(False)
    ax.spines[["left", "bottom"]].set_color(COLOURS["label"])
    ax.tick_params(colors=COLOURS["label"], labelsize=FONT - 1, length=3)
    for axis, name in zip((ax.xaxis, ax.yaxis), names, strict=True):
        axis.set_label_text(name, color=COLOURS["label"], fontsize=FONT)
    ax.set(xlim=(lowest - ROOM, highest), ylim=(lowest, highest), xticks=(-1, 0, 1, 2), yticks=(-1, 0, 1, 2))
    return ax


def _label(ax, text, point, towards, colour):
    right, up = (15 * towards / towards.norm()).tolist()
    side = "center" if abs(right) < 9 else ("left" if right > 0 else "right")
    style = {"color": colour, "fontsize": FONT, "weight": "bold", "ha": side, "va": "center"}
    ax.annotate(text, point.tolist(), (right, up), textcoords="offset points", **style)


def _outside(v, points):
    """Return which points, as a mix of the corners by weights that add up to 1, need a negative weight."""
    corners = torch.cat([v, torch.ones(3, 1)], dim=1)  # (3, 3)
    shares = torch.linalg.solve(corners, torch.cat([points, torch.ones(len(points), 1)], dim=1), left=False)
    return (shares < -1e-4).any(dim=-1)

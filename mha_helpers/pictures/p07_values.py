"""The picture of page 07: values, everything that can be mixed from them, and the outputs among it."""

import torch

from mha_helpers.pictures.layout import FONT, Picture, chart_at, colour_of, new_figure

TALL, ROOM = 350, 0.8  # pixels; units for a label on the left


def value_hull(v, mixtures, outputs, tokens):
    """Draw three values as corners, many mixtures of them as small points, and the output of each token.

    Shapes: v ``(3, 2)``, mixtures ``(many, 2)``, outputs ``(n, 2)``. Returns a ``Picture``, whose words count
    how many mixtures lie outside the triangle. Used in notebook 07.

    >>> v = torch.tensor([[2.0, 2.0], [0.0, -1.0], [-1.0, 1.0]])
    >>> print(value_hull(v, torch.tensor([[0.5, 0.5], [3.0, 0.0]]), v[:1], ["cat"]).words)
    Triangle of the values (2, 2), (0, −1), (−1, 1). Outside it: 1 of 2 mixes.
    """
    figure, _ = new_figure(540, TALL + 60)
    lowest, highest = v.min().item() - 0.5, v.max().item() + 0.5
    wide = (highest - lowest + ROOM) * TALL / (highest - lowest)  # both axes have one scale
    ax = chart_at(figure, 60, 10, wide, TALL, xlabel="first number", ylabel="second number")
    ax.set(xlim=(lowest - ROOM, highest), ylim=(lowest, highest), xticks=(-1, 0, 1, 2), yticks=(-1, 0, 1, 2))
    green, purple = colour_of("value"), colour_of("output")
    ax.fill(*v.T, facecolor=green, alpha=0.12)
    ax.scatter(*mixtures.T, s=5, color=green, alpha=0.35, linewidths=0)
    ax.scatter(*v.T, s=110, color=green, zorder=3)
    ax.scatter(*outputs.T, s=90, color=purple, zorder=3, edgecolors="white", linewidths=0.8)
    centre = v.mean(dim=0)
    for token, value, output in zip(tokens, v, outputs, strict=False):
        _label(ax, f"value of {token}", value, value - centre, green)
        _label(ax, f"output of {token}", output, torch.tensor([0.9, -0.5]), purple)
    values = ", ".join(f"({first:.0f}, {second:.0f})" for first, second in v.tolist()).replace("-", "−")
    outside = int((_shares(v, mixtures) < -1e-4).any(dim=-1).sum())
    counted = f"Outside it: {outside} of {len(mixtures)} mixes."
    return Picture(figure, f"Triangle of the values {values}. {counted}")


def _label(ax, text, place, towards, colour):
    right, up = (15 * towards / towards.norm()).tolist()
    side = "center" if abs(right) < 9 else ("left" if right > 0 else "right")
    look = {"color": colour, "fontsize": FONT, "weight": "bold", "ha": side, "va": "center"}
    ax.annotate(text, place.tolist(), (right, up), textcoords="offset points", **look)


def _shares(v, points):
    """Return the three weights, adding up to 1, that make each point from the corners."""
    corners = torch.cat([v, torch.ones(3, 1)], dim=1)  # (3, 3)
    return torch.linalg.solve(corners.T, torch.cat([points, torch.ones(len(points), 1)], dim=1).T).T

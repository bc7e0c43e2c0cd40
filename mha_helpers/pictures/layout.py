"""The marks that the pictures of the pages are made of: boxes, arrows and words, placed in pixels.

A picture is a function that makes a figure, marks it and returns ``Picture(figure, words)``. The place (0, 0)
is the top left corner. Colours are keys of ``style.COLOURS``, "head 1" and so on, or "#rrggbb".
"""

import matplotlib.colors
from matplotlib.patches import FancyBboxPatch

from mha_helpers.picture import FONT, Picture, axes_at, pixel_figure
from mha_helpers.style import COLOURS, colour_of

__all__ = [
    "FONT",
    "Picture",
    "arrow",
    "axes_at",
    "box",
    "chart_at",
    "colour_of",
    "new_figure",
    "tint",
    "words",
]


def new_figure(width, height):
    """Return a transparent figure and axes all over it whose unit is a pixel, with y downwards.

    Sizes of type and widths of lines are pixels, too. What is stored is cut to what was drawn.
    """
    figure = pixel_figure(width, height)
    ax = axes_at(figure, 0, 0, width, height, xlim=(0, width), ylim=(height, 0))
    ax.axis("off")
    return figure, ax


def chart_at(figure, left, top, width, height, **look):
    """Return axes for a curve or for bars, with two thin lines; ``look`` is what ``Axes.set`` takes."""
    ax = axes_at(figure, left, top, width, height, **look)
    ax.spines[["top", "right"]].set_visible(False)
    ax.spines[["left", "bottom"]].set_color(COLOURS["label"])
    ax.tick_params(colors=COLOURS["label"], labelsize=FONT - 1, length=3)
    for label in (ax.xaxis.label, ax.yaxis.label, ax.title):
        label.set(color=COLOURS["label"], fontsize=FONT)
    return ax


def box(ax, left, top, width, height, colour="faint", lit=False, fill=None, radius=7):
    """Draw a box with round corners on a pale ground of its colour, with a thick border where it is lit."""
    look = {"boxstyle": f"round,pad=0,rounding_size={radius}", "linewidth": 3.5 if lit else 1.2}
    ground, border = fill or tint(colour), colour_of("lit" if lit else colour)
    ax.add_patch(FancyBboxPatch((left, top), width, height, facecolor=ground, edgecolor=border, **look))


def words(ax, x, y, text, colour="label", size=FONT, bold=False, align="center", **look):
    """Write words; (x, y) is the middle of their height. On a box take "ink", elsewhere "label" or a role."""
    look = {"fontsize": size, "weight": "bold" if bold else "normal", "ha": align, "va": "center", **look}
    return ax.text(x, y, text, color=colour_of(colour), **look)


def arrow(ax, start, end, colour="label", width=1.6, bend=0):
    """Draw an arrow from one place to another; ``bend`` of 0.3 makes an arc of it."""
    look = {
        "arrowstyle": "-|>,head_width=0.28,head_length=0.5",
        "color": colour_of(colour),
        "linewidth": width,
    }
    look |= {"shrinkA": 0, "shrinkB": 0, "connectionstyle": f"arc3,rad={bend}"}
    ax.annotate("", xy=end, xytext=start, arrowprops=look)


def tint(name, share=0.14):
    """Return a light tint of a colour, on which dark words are readable."""
    red, green, blue = matplotlib.colors.to_rgb(colour_of(name))
    return tuple(1 - share * (1 - part) for part in (red, green, blue))

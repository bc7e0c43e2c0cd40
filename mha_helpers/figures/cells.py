"""Cells with a label in each, drawn fast: two collections in place of a patch and a text for every cell."""

import functools

from matplotlib.collections import PathCollection, PolyCollection
from matplotlib.font_manager import FontProperties
from matplotlib.path import Path
from matplotlib.textpath import TextPath

from mha_helpers import style

LETTERS = 14.2  # height of the labels' type in pixels
MORE_THAN_WHITE = 0.30  # how much of a colour fills a cell; dark text stays readable


def add_cells(ax):
    """Return two empty collections on ``ax``, boxes and words, for ``place_cells`` to fill.

    The unit of the axes is a pixel, and its y axis points down.
    """
    boxes = PolyCollection([], edgecolors="white", linewidths=1.5)
    words = PathCollection([], facecolors=style.COLOURS["ink"], linewidths=0, zorder=3)
    for artist in (boxes, words):
        ax.add_collection(artist, autolim=False)
    return boxes, words


def add_outlines(ax, line_width):
    """Return three empty outlines on ``ax``: a thin one, and a wide and a bright one for the chosen cell."""
    ink, lit = style.COLOURS["ink"], style.COLOURS["lit"]
    outlines = [
        PolyCollection([], facecolors="none", edgecolors=colour, linewidths=width, zorder=4)
        for colour, width in ((ink, line_width), (ink, 5), (lit, 3))
    ]
    for outline in outlines:
        ax.add_collection(outline, autolim=False)
    return outlines


def place_cells(boxes, words, cells, width, height, names=()):
    """Draw cells (label, colour, left, top), and names without a box.

    A name is (text, right end, middle), or (text, centre, middle, "centre").
    """
    boxes.set_verts([corners(left, top, width, height) for _, _, left, top in cells])
    boxes.set_facecolor([tint(colour) for _, colour, _, _ in cells])
    paths = [_letters(label, left + width / 2, top + height / 2) for label, _, left, top in cells]
    paths += [_letters(text, x, middle, *(align or ["right"])) for text, x, middle, *align in names]
    words.set_paths(paths)


def corners(left, top, width, height, inset=0):
    """Return the four corners of a cell, ``inset`` pixels inside it."""
    right, bottom = left + width - inset, top + height - inset
    left, top = left + inset, top + inset
    return [(left, top), (right, top), (right, bottom), (left, bottom)]


def tint(colour):
    """Return a light tint of a colour, on which dark text is readable."""
    parts = (int(colour[start : start + 2], 16) / 255 for start in (1, 3, 5))
    return tuple(1 - MORE_THAN_WHITE * (1 - part) for part in parts)


@functools.lru_cache(maxsize=2000)
def _glyphs(words, align):
    text = TextPath((0, 0), words, size=LETTERS, prop=FontProperties(family="DejaVu Sans"))
    # get_extents would solve every curve for its ends, ten times the work for less than a pixel.
    drawn = text.vertices[text.codes != Path.CLOSEPOLY, 0] if len(text.codes) else [0.0]
    left, width = min(drawn), max(drawn) - min(drawn)
    anchor = left + (width if align == "right" else width / 2)
    return text.vertices - (anchor, 0), text.codes


def _letters(words, x, middle, align="centre"):
    vertices, codes = _glyphs(words, align)
    # The axis of the picture points down, letters point up.
    return Path(vertices * (1, -1) + (x, middle + 0.36 * LETTERS), codes)

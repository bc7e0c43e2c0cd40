"""Reads a drawn SVG back: its heatmaps with their cells, its marks and words. It knows nothing of kept drawings.

Look for words in ``texts``, not in ``panel.svg()``, whose label holds all that stands below the picture.
"""

import re
from collections import namedtuple
from xml.etree import ElementTree

import pytest

from mha_helpers.style import COLOURS
from tests.pages.drawings import NEEDS_A_MODEL, explorers

Cell = namedtuple("Cell", "x y width height rect said")


def px(mark, *names):
    return [float(mark.get(name)) for name in names]


def drawn(name, **settings):
    """Return the picture of a Panel at these settings, and its state."""
    if name == NEEDS_A_MODEL:
        pytest.importorskip("gguf")
    panel = explorers()[name]()
    panel.set(**settings)
    return SeenDrawing(panel.svg()), panel.state()


class Seen:
    """A part of a drawing as it is seen, and the texts in it that are not hidden."""

    def __init__(self, marks):
        self.texts = [mark for mark in marks if mark.tag == "text" and mark.get("class") != "tip"]

    def words_in(self, left, top, right, bottom):
        """Return the words that begin, end or have their middle in a box."""
        at = [(text.text, *px(text, "x", "y")) for text in self.texts]
        return [words for words, x, y in at if left <= x <= right and top <= y - 4 <= bottom]


class SeenHeatmap(Seen):
    """One heatmap: its cells, and the words beside and above them."""

    def __init__(self, group):
        super().__init__(group.iter())
        self.colour = next((mark.get("fill") for mark in group.iter("g") if mark.get("fill")), None)
        self.frames = [rect for rect in group.iter("rect") if rect.get("stroke") == COLOURS["lit"]]
        paths = "".join(path.get("d") for path in group.iter("path"))
        self.hatched = [tuple(map(float, at)) for at in re.findall(r"M([\d.]+) ([\d.]+)l", paths)]
        self.cells = {}
        for hit in group.iter("g"):
            rect, said = hit.find("rect"), hit.findtext("text[@class='tip']", "")
            if rect is not None and " → " in said:
                _, row, column = map(int, hit.get("data-cell", "0,0,0").split(","))
                self.cells[row, column] = Cell(*px(rect, "x", "y", "width", "height"), rect, said)


class SeenDrawing(Seen):
    """The whole drawing: its heatmaps, and the marks beside them in the order in which they are drawn."""

    def __init__(self, svg):
        self.tree = ElementTree.fromstring(svg.replace(' xmlns="http://www.w3.org/2000/svg"', ""))
        self.heatmaps = [SeenHeatmap(group) for group in self.tree.iter("g") if group.get("class") == "map"]
        self.plain = [mark for mark in self.tree if not mark.get("class", "").startswith(("map", "hit"))]
        super().__init__(self.plain)

    def hits(self, shape, words=""):
        """Return those marks that answer the mouse with these words."""
        answering = [mark for mark in self.tree if mark.get("class") == "hit"]
        found = [(mark.find(shape), mark.findtext("text", "")) for mark in answering]
        return [(mark, said) for mark, said in found if mark is not None and words in said]

    def shapes(self, tag, **attributes):
        """Return plain marks of one kind that have these attributes."""
        return [mark for mark in self.plain if mark.tag == tag and attributes.items() <= mark.attrib.items()]

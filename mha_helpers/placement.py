"""Where the parts of a grid of heatmaps go, in whole pixels, so that nothing is cut and nothing overlaps."""

import functools
import math

from matplotlib import font_manager
from matplotlib.transforms import Affine2D
from PIL import ImageFont

from mha_helpers import style

POINTS, SMALL_POINTS = 10, 8  # of text; the small one where labels stand close
WIDTH = 900  # pixels; fits beside a file browser on a small laptop
LARGEST_SIDE = {1: 360, 2: 320}  # pixels of a heatmap, by how many stand side by side
LARGEST_CELL = 64  # pixels
SMALLEST_SIDE = 64  # pixels: the name of a head needs them
TITLE, BAR, GAP, LABEL = 24, 90, 12, 11  # pixels: above a heatmap, for the bar, between, for a label


class Placement:
    """The pixels of ``heads`` heatmaps of n_rows × n_columns cells, from the upper left corner.

    ``below`` pixels stay free under them, for what else a picture shows, which may need ``least_width``.
    """

    def __init__(self, heads, n_rows, n_columns, row_labels, column_labels, below=0, least_width=0):
        self.heads, self.below, self.least_width = heads, below, least_width
        self.n_rows, self.n_columns = n_rows, n_columns
        self.across = heads if heads < 4 else 4 if heads <= 8 else 6 if heads <= 18 else 8
        self.down = -(-heads // self.across)
        for self.points in (POINTS, SMALL_POINTS):
            self._place(n_rows, n_columns, row_labels, column_labels)
            if self.cell * self.step >= 1.4 * self.points:
                break

    def _place(self, n_rows, n_columns, row_labels, column_labels):
        self.margin = 26 + text_width(row_labels, self.points)
        room = (WIDTH - self.margin - BAR) / self.across - GAP
        side = min(room, LARGEST_SIDE.get(self.across, 260))
        cell = side / max(n_rows, n_columns)
        # Whole pixels: every cell is as wide as the next, and the numbers sit in their middle.
        self.cell = cell = min(math.floor(cell), LARGEST_CELL) if cell >= 8 else cell
        self.side_width = max(n_columns * cell, SMALLEST_SIDE)
        self.side_height = max(n_rows * cell, 4)
        self.cell_width, self.cell_height = self.side_width / n_columns, self.side_height / n_rows
        self.step = max(1, math.ceil(LABEL / cell))
        label_width = text_width(column_labels, self.points)
        self.flat_labels = label_width + 6 <= self.cell_width
        self.bar_left = math.ceil(self.margin + self.across * (self.side_width + GAP) + 6)
        self.width = max(self.bar_left + BAR - 6, self.least_width)
        labels = 16 if self.flat_labels else label_width
        self.grid_height = math.ceil(4 + self.down * (self.side_height + TITLE) + labels + 28)
        self.height = self.grid_height + self.below

    def left(self, head):
        return math.floor(self.margin + (head % self.across) * (self.side_width + GAP))

    def top(self, head):
        return math.floor(TITLE + 2 + (head // self.across) * (self.side_height + TITLE))

    def fractions(self, left, top, width, height):
        bottom = self.height - top - height
        return (left / self.width, bottom / self.height, width / self.width, height / self.height)

    def cells(self, figure, head):
        """Return the transform from (column, row) of a heatmap to the figure."""
        cells = Affine2D().scale(self.cell_width, self.cell_height)
        return cells.translate(self.left(head), self.top(head)) + self.pixels(figure)

    def pixels(self, figure):
        """Return the transform from pixels to the figure."""
        return Affine2D().scale(1 / self.width, -1 / self.height).translate(0, 1) + figure.transFigure


def fitting(text, width):
    """Cut a text until it is at most ``width`` pixels wide."""
    for length in range(len(text), 1, -1):
        if text_width((style.short(text, length),), POINTS) <= width:
            return style.short(text, length)
    return text[:1]


@functools.lru_cache(maxsize=1024)
def text_width(labels, points):
    """Return the pixels that the widest of some labels needs."""
    font = _font(round(points * style.SCREEN_DPI / 72))
    # A character from U+2E80 on is a Chinese one, as wide as the font is high; this font has none.
    wide = [sum(0.4 for character in label if ord(character) > 0x2E7F) * font.size for label in labels]
    widths = [font.getlength(label) + more for label, more in zip(labels, wide, strict=True)]
    return math.ceil(max(widths, default=0)) + 4


@functools.cache
def _font(pixels):
    path = font_manager.findfont(font_manager.FontProperties(family=["DejaVu Sans"]))
    return ImageFont.truetype(path, pixels)

"""The cells of a heatmap and the numbers in them, painted as pixels: fast enough to follow a slider.

A matplotlib mesh takes four times as long to draw, and text fifty times.
"""

import functools
import math

import matplotlib
import numpy as np
from matplotlib import font_manager
from matplotlib.artist import Artist
from matplotlib.colors import Normalize
from PIL import Image, ImageDraw, ImageFont

from mha_helpers import style

NUMBERS_FROM = 28  # pixels a cell needs for a number of two decimals


class HeatmapCells(Artist):
    """Paint ``values`` ``(rows, columns)``, a masked array, into ``box``; masked cells stay clear.

    ``scale`` is (lowest, highest, colour map). With ``decimals``, each cell also shows its number: white on
    dark cells, dark on light ones. A number that does not fit into its cell is left out.
    """

    def __init__(self, box, scale, decimals=None):
        super().__init__()
        low, high, cmap = scale
        self.cmap = matplotlib.colormaps.get_cmap(cmap)
        self.norm = Normalize(low, high)
        self.box, self.decimals = box, decimals
        self.values = np.ma.masked_all((1, 1))
        self.shows_numbers = True

    def draw(self, renderer):
        if not self.get_visible():
            return
        box = self.box
        height, width = round(abs(box.height)), round(abs(box.width))
        rows, columns = self.values.shape
        colours = self.cmap(self.norm(self.values), bytes=True)  # clear where a cell is masked
        # Every pixel takes the cell that its middle lies in.
        of_row = ((np.arange(height) + 0.5) * rows / height).astype(int)
        of_column = ((np.arange(width) + 0.5) * columns / width).astype(int)
        layers = [colours.take(of_column, axis=1).take(of_row, axis=0)]
        if self.shows_numbers and self.decimals is not None:
            layers.append(self._numbers(height, width, colours))
        context = renderer.new_gc()
        for pixels in layers:
            # matplotlib counts rows from below
            renderer.draw_image(context, round(box.x0), round(box.ymin), pixels[::-1])
        context.restore()

    def outline(self, row, column):
        """Return the corners of a cell, in pixels from the lower left corner of the figure."""
        box = self.box
        rows, columns = self.values.shape
        left, right = (box.x0 + box.width * edge / columns for edge in (column, column + 1))
        top, bottom = (box.ymax - abs(box.height) * edge / rows for edge in (row, row + 1))
        return [(left, bottom), (right, bottom), (right, top), (left, top)]

    def _numbers(self, height, width, colours):
        """Return the numbers as pixels ``(height, width, 4)``, clear between them."""
        rows, columns = self.values.shape
        cell_height, cell_width = height / rows, width / columns
        dark = style.white_reads_better(colours[..., :3] / 255)
        ink = np.zeros((height, width, 4), dtype=np.uint8)
        # By the scale, so that heatmaps of one scale, side by side, are written alike.
        minus = _minus(f"{self.norm.vmin:.{self.decimals}f}", cell_width)
        for row, column in zip(*np.nonzero(~np.ma.getmaskarray(self.values)), strict=True):
            text = f"{self.values.data[row, column]:.{self.decimals}f}"
            stamp = _stamp(text, bool(dark[row, column]), minus)
            if stamp.shape[0] > cell_height or stamp.shape[1] > cell_width:
                continue  # a number that does not fit would run into its neighbour
            top = int(row * cell_height + (cell_height - stamp.shape[0]) / 2)
            left = int(column * cell_width + (cell_width - stamp.shape[1]) / 2)
            ink[top : top + stamp.shape[0], left : left + stamp.shape[1]] = stamp
        return ink


def _minus(lowest, width):
    """Return a minus sign, or a hyphen, half as wide, where the lowest number would not fit with it."""
    return "−" if _stamp_font().getlength(lowest.replace("-", "−")) <= width else "-"


@functools.lru_cache(maxsize=2048)
def _stamp(text, on_dark, minus):
    """Return a number as pixels ``(height, width, 4)``. Done here, once a number: 0 has no sign."""
    text = text.replace("-", minus) if text.strip("-0.") else text.lstrip("-")
    font = _stamp_font()
    _, top, _, bottom = font.getbbox("0" * len(text))
    cover = Image.new("L", (math.ceil(font.getlength(text)), bottom - top), 0)
    ImageDraw.Draw(cover).text((0, -top), text, fill=255, font=font)
    stamp = np.zeros((*np.array(cover).shape, 4), dtype=np.uint8)
    stamp[..., :3] = 255 if on_dark else 34
    stamp[..., 3] = np.array(cover)
    return stamp


@functools.cache
def _stamp_font():
    path = font_manager.findfont(font_manager.FontProperties(family=["DejaVu Sans"]))
    return ImageFont.truetype(path, 11)  # pixels

"""Numbers in the cells of a heatmap, drawn some fifty times faster than matplotlib draws text."""

import functools
import math

import numpy as np
from matplotlib import font_manager
from matplotlib.artist import Artist
from PIL import Image, ImageDraw, ImageFont

NUMBERS_FROM = 28  # pixels a cell needs for a number of two decimals


class CellNumbers(Artist):
    """Write ``values`` into the cells of a mesh or an image that fills ``box``; masked cells stay empty.

    White on dark cells, dark on light ones. A number that does not fit into its cell is left out.
    """

    def __init__(self, cells, box, decimals):
        super().__init__()
        self.cells, self.box, self.decimals = cells, box, decimals
        self.values = np.ma.masked_all((1, 1))

    def draw(self, renderer):
        if not self.get_visible():
            return
        box = self.box
        rows, columns = self.values.shape
        height, width = round(abs(box.height)), round(box.width)
        cell_height, cell_width = height / rows, width / columns
        colours = self.cells.cmap(self.cells.norm(self.values))[..., :3]
        dark = colours @ (0.299, 0.587, 0.114) < 0.5
        ink = np.zeros((height, width, 4), dtype=np.uint8)
        for row, column in zip(*np.nonzero(~np.ma.getmaskarray(self.values)), strict=True):
            stamp = _stamp(f"{self.values.data[row, column]:.{self.decimals}f}", bool(dark[row, column]))
            if stamp.shape[0] > cell_height or stamp.shape[1] > cell_width:
                continue  # a number that does not fit would run into its neighbour
            top = int(row * cell_height + (cell_height - stamp.shape[0]) / 2)
            left = int(column * cell_width + (cell_width - stamp.shape[1]) / 2)
            ink[top : top + stamp.shape[0], left : left + stamp.shape[1]] = stamp
        context = renderer.new_gc()
        # matplotlib counts rows from below
        renderer.draw_image(context, round(box.x0), round(box.ymin), ink[::-1])
        context.restore()


@functools.lru_cache(maxsize=2048)
def _stamp(text, on_dark):
    font = _stamp_font()
    _, top, _, bottom = font.getbbox("0" * len(text))
    if text == "-0.0":
        text = "0.0"
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

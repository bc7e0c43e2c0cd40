"""``Picture``: what every static picture of the course is, a figure sharp on today's screens and its words.

One point is one pixel here, so sizes of type, widths of lines and places on the figure have one unit.
"""

import base64
import functools
import io
import struct
from math import ceil, floor

from matplotlib import rcParams
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.font_manager import FontProperties, findfont, get_font
from matplotlib.transforms import Bbox

from mha_helpers.style import short

PIXELS = 72  # to the inch: as many as there are points
FONT = 12.5


class Picture:
    """A figure and the words that stand for it; at the end of a cell the notebook shows the figure.

    ``words`` are stored beside it, for whoever cannot see it and for tests, which compare them.
    """

    def __init__(self, figure, words):
        self.figure, self.words = figure, words

    def png(self):
        """Return the picture as PNG bytes, two image pixels to a screen pixel, on a transparent ground."""
        renderer = FigureCanvasAgg(self.figure).get_renderer()
        left, bottom, right, top = self.figure.get_tightbbox(renderer).extents * PIXELS
        # Cut where a whole pixel ends: half a one would blur the picture.
        box = Bbox.from_extents(floor(left) - 2, floor(bottom) - 2, ceil(right) + 2, ceil(top) + 2)
        style = {"dpi": 2 * PIXELS, "facecolor": "none", "metadata": {"Software": None}}
        file = io.BytesIO()
        self.figure.savefig(file, bbox_inches=Bbox(box.get_points() / PIXELS), **style)
        return file.getvalue()

    def __repr__(self):
        return self.words

    def _repr_mimebundle_(self, include=None, exclude=None):
        image = self.png()
        width = struct.unpack(">I", image[16:20])[0] // 2  # as a PNG tells it; the height follows
        metadata = {"image/png": {"width": width, "alt": self.words}}
        encoded = base64.b64encode(image).decode("ascii")
        return {"image/png": encoded, "text/plain": self.words}, metadata


def pixel_figure(width, height):
    """Return an empty figure of so many screen pixels; it belongs to no window."""
    return Figure(figsize=(width / PIXELS, height / PIXELS), dpi=PIXELS)


def axes_at(figure, left, top, width, height, **style):
    """Return new axes at a place in pixels, counted from the top left corner of the figure."""
    full_width, full_height = figure.get_size_inches() * PIXELS
    box = (left / full_width, 1 - (top + height) / full_height, width / full_width, height / full_height)
    return figure.add_axes(box, facecolor="none", **style)


@functools.cache
def _signs():
    return get_font(findfont(FontProperties(family=rcParams["font.family"]))).get_charmap().keys()


def can_draw(text):
    """Return whether matplotlib's font has all signs of a text; it has no Chinese, Japanese or Korean."""
    return _signs() >= set(map(ord, text))


def drawable(labels):
    """Return labels as matplotlib can draw them: a token for which its font lacks a sign is its number.

    >>> drawable(["cat", "ꙮ🐟"])
    ['cat', '2']
    """
    numbered = enumerate(labels, start=1)
    return [short(label).replace("$", r"\$") if can_draw(label) else str(i) for i, label in numbered]

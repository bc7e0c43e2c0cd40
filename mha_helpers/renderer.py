"""Drawing a picture again and again, fast enough to follow a slider.

matplotlib spends its time on text, axes and colour bars, not on cells. So a figure is drawn once, its
pixels are kept, and a change copies them back and draws only what moved on top.
"""

import contextlib
import struct
import zlib
from collections import OrderedDict

import matplotlib.style
import numpy as np
from matplotlib.artist import Artist
from matplotlib.backends.backend_agg import FigureCanvasAgg

LAYOUTS_KEPT = 6  # a figure and its pixels take about 3 MB
# What matplotlib asks for while it paints; seaborn's themes change the first of them.
WHILE_PAINTING = {"patch.force_edgecolor": False, "text.hinting": "default"}


class Renderer:
    """Draws each layout once, keeps its pixels, and paints what changes on top of them."""

    def __init__(self, picture):
        self._picture = picture
        self._drawn = OrderedDict()  # layout -> (canvas, artists, all artists in a list, background)

    def png(self, state):
        canvas, artists, painted, background = self._of_layout(state)
        canvas.restore_region(background)
        with _without_the_learners_style():
            self._picture.update(artists, state)
            renderer = canvas.get_renderer()
            for artist in painted:
                artist.draw(renderer)
        return encode_png(np.asarray(canvas.buffer_rgba()))

    def _of_layout(self, state):
        layout = self._picture.layout(state)
        if layout not in self._drawn:
            while len(self._drawn) >= LAYOUTS_KEPT:
                self._forget(self._drawn.popitem(last=False)[1])
            figure, artists = self._picture.draw(state)
            canvas = FigureCanvasAgg(figure)
            painted = list(_flatten(artists))
            for artist in painted:
                artist.set_animated(True)  # leaves it out of the background
            with matplotlib.style.context("default"):  # some ticks are made only now
                canvas.draw()
            self._drawn[layout] = (canvas, artists, painted, canvas.copy_from_bbox(figure.bbox))
        self._drawn.move_to_end(layout)
        return self._drawn[layout]

    def close(self):
        while self._drawn:
            self._forget(self._drawn.popitem()[1])

    @staticmethod
    def _forget(drawn):
        # A figure is full of reference cycles and waits for the collector; its pixels need not.
        drawn[0].renderer = None


def _without_the_learners_style():
    """Return a context for painting; changing settings takes time, so only where they were changed."""
    if all(matplotlib.rcParams[key] == value for key, value in WHILE_PAINTING.items()):
        return contextlib.nullcontext()
    return matplotlib.rc_context(WHILE_PAINTING)


def encode_png(pixels):
    """Encode pixels ``(height, width, 3 or 4)`` as PNG, five times faster than Pillow does.

    Pillow tries all filters on every row. Here each row is stored as its difference from the one above,
    which is mostly zero in a heatmap.
    """
    height, width = pixels.shape[:2]
    rows = np.zeros((height, 1 + 3 * width), dtype=np.uint8)  # a row begins with its filter: 0 is none
    colours = rows[:, 1:].reshape(height, width, 3)
    for channel in range(3):  # four times faster than all three at once
        colours[..., channel] = pixels[..., channel]
    rows[1:, 1:] -= rows[:-1, 1:]
    rows[1:, 0] = 2  # the difference from the row above
    header = struct.pack(">2I5B", width, height, 8, 2, 0, 0, 0)  # 8 bits each of red, green and blue
    chunks = ((b"IHDR", header), (b"IDAT", zlib.compress(rows, 1)), (b"IEND", b""))
    return b"\x89PNG\r\n\x1a\n" + b"".join(
        struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
        for kind, data in chunks
    )


def _flatten(artists):
    if isinstance(artists, Artist):
        yield artists
    elif isinstance(artists, dict):
        yield from _flatten(list(artists.values()))
    elif artists is not None:
        for part in artists:
            yield from _flatten(part)

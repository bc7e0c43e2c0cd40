"""``Picture``: a figure and the words for it, ready to stand at the end of a notebook cell."""

import base64
import html
import io

import numpy as np
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.colors import to_hex
from matplotlib.figure import Figure
from PIL import Image

from mha_helpers import style


def new_figure(width, height):
    """Return a figure of width × height screen pixels that belongs to no window and no pyplot.

    Nothing can be painted on it yet: ``seaborn.heatmap`` would paint the whole figure for each heatmap.
    """
    return Figure(figsize=(width / style.SCREEN_DPI, height / style.SCREEN_DPI), dpi=style.SCREEN_DPI)


def make_numbers_readable(ax, values):
    """Write the numbers in the cells of ``seaborn.heatmap`` in white or ink: its own choice is too pale."""
    cells = ax.collections[0]
    for text in ax.texts:
        j, i = map(int, text.get_position())
        text.set_color(style.ink_on(to_hex(cells.cmap(cells.norm(values[i, j])))))


class Picture:
    """A figure, the text that stands for it (``alt``) and, where it is needed, a legend in HTML.

    ``width`` is in screen pixels; by default the figure's own. The text is stored with the picture, so
    that whoever cannot see the picture, and the test that cannot look at it, have the same content.
    """

    def __init__(self, figure, alt, width=None, legend_html=""):
        self.figure = figure
        FigureCanvasAgg(figure)
        self.alt = alt
        self.legend_html = legend_html
        self.width = width or round(figure.get_figwidth() * style.SCREEN_DPI)
        self._png = None

    def png(self):
        """Return the picture as PNG bytes: the same bytes each time it is drawn on one machine."""
        if self._png is None:
            with style.drawing():
                self.figure.set(dpi=style.SAVED_DPI, facecolor="white")
                self.figure.canvas.draw()
                pixels = np.asarray(self.figure.canvas.buffer_rgba())
                self.figure.set_dpi(style.SCREEN_DPI)
            # 256 colours are enough for these pictures and make the file a third as large; and Pillow
            # writes no versions into it.
            image = Image.fromarray(pixels[..., :3]).quantize(256, dither=Image.Dither.NONE)
            small = io.BytesIO()
            image.save(small, format="png", optimize=True)
            self._png = small.getvalue()
        return self._png

    def __repr__(self):
        return self.alt

    def _repr_mimebundle_(self, include=None, exclude=None):
        data = {"image/png": base64.b64encode(self.png()).decode("ascii"), "text/plain": self.alt}
        metadata = {"image/png": {"alt": self.alt, "width": self.width}}
        if self.legend_html:
            # Only HTML can hold the legend, and a front end shows one form: so the picture goes along.
            data["text/html"] = (
                f'<img src="data:image/png;base64,{data["image/png"]}" width="{self.width}"'
                f' alt="{html.escape(self.alt)}">{self.legend_html}'
            )
        return data, metadata

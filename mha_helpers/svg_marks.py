"""Live pictures as inline SVG: cells that answer the mouse, bars, points, frames and words.

``Marks`` are collected at pixel positions and written as one SVG. Hovering needs no script: the words of a
cell are in the picture, hidden, and CSS shows them. Words take the colour of the page, and a weight of 0
is the ground itself, so a picture is readable in a light and in a dark theme. Every colour is also a plain
attribute, for programs that know no CSS.
"""

import html
import math
from pathlib import Path

from mha_helpers.style import colour_of, number, short

# How hidden words appear, and how a picture takes the colours of the page. A Panel holds this once: a style
# in every picture would make the browser look at the whole page again with every move of a slider.
STYLE = Path(__file__).with_name("svg.css").read_text(encoding="utf-8")


class Marks:
    """Marks at pixel positions, written as one SVG of a fixed size.

    ``label`` is what a screen reader says; a Panel sets it to its words. A colour is a key of
    ``style.COLOURS``, "head 1", "head 2" …, or "#rrggbb". A ``box`` is (x, y, width, height).

    >>> drawing = Marks(200, 100, "one bar")
    >>> drawing.rect(10, 10, 80, 20, "query", hover="a query")
    >>> drawing.svg()[:45]
    '<svg xmlns="http://www.w3.org/2000/svg" class'
    """

    def __init__(self, width, height, label=""):
        self.width, self.height, self.label = width, height, label
        self.readout = (width / 2, height - 8)  # where the words of a hovered mark stand
        self._marks = []

    def svg(self):
        """Return the picture as one string."""
        head = (
            f'<svg xmlns="http://www.w3.org/2000/svg" class="mha" role="img" width="{self.width}"'
            f' height="{self.height}" viewBox="0 0 {self.width} {self.height}"'
            f' style="max-width:100%;height:auto" aria-label="{html.escape(self.label)}">'
        )
        return f"{head}{''.join(map(str, self._marks))}</svg>"

    def text(self, x, y, words, size, anchor="start", colour="ink", bold=False, fit=None):
        """Write words whose baseline begins, is centred or ends at (x, y); ``fit`` makes them so wide."""
        self._marks.append(text_mark(x, y, words, size, anchor, colour, bold, fit=fit))

    def rect(self, x, y, width, height, colour, opacity=1, hover="", cell=None, outline=False, thick=3):
        """Fill a rectangle, or outline it, so ``thick``. With ``hover`` or ``cell`` it answers the mouse."""
        area = f'x="{px(x)}" y="{px(y)}" width="{px(max(width, 0))}" height="{px(max(height, 0))}"'
        if outline:
            style = f'fill="none" stroke="{colour_of(colour)}" stroke-width="{thick}" pointer-events="none"'
        else:
            style = f'fill="{colour_of(colour)}" fill-opacity="{opacity:.2f}"'
        self._answering(f"<rect {area} {style}/>", hover, cell)

    def point(self, x, y, radius, colour, hover="", cell=None):
        """Fill a circle around (x, y). With ``hover`` or ``cell`` it answers the mouse."""
        circle = f'cx="{px(x)}" cy="{px(y)}" r="{px(radius)}" fill="{colour_of(colour)}"'
        self._answering(f'<circle {circle} fill-opacity="1.00"/>', hover, cell)

    def line(self, x1, y1, x2, y2, colour="ink", width=1.5, arrow=False, dashed=False):
        """Draw a line, with an arrow head at (x2, y2) if wanted."""
        dash = ' stroke-dasharray="5 4"' if dashed else ""
        ends = f'x1="{px(x1)}" y1="{px(y1)}" x2="{px(x2)}" y2="{px(y2)}"'
        style = f'stroke="{colour_of(colour)}" stroke-width="{width}"{dash} {_ink_class(colour)}'
        self._marks.append(f'<line {ends} {style} pointer-events="none"/>')
        if arrow:
            angles = [math.atan2(y2 - y1, x2 - x1) + turn for turn in (0.4, -0.4)]
            sides = [(x2 - 10 * math.cos(angle), y2 - 10 * math.sin(angle)) for angle in angles]
            self.polygon([(x2, y2), *sides], colour, opacity=1)

    def polygon(self, points, colour, opacity=0.15):
        """Fill the area between points (x, y)."""
        corners = " ".join(f"{px(x)},{px(y)}" for x, y in points)
        style = f'fill="{colour_of(colour)}" fill-opacity="{opacity}" pointer-events="none"'
        self._marks.append(f'<polygon points="{corners}" {style} {_ink_class(colour)}/>')

    def _answering(self, mark, hover, cell):
        if hover or cell is not None:
            x, y = self.readout
            mark = answering(mark, hover, cell, f' x="{px(x)}" y="{px(y)}"')
        self._marks.append(mark)

    def bars(self, box, values, labels, colour, limits, chosen=None, cells=None, hovers=None):
        """Draw one horizontal bar for each value, with its label and its number.

        ``colour`` is one colour or a list, ``limits`` the smallest and the largest number of the scale (0 is
        always on it), ``chosen`` the bar with a frame, ``cells`` what a click on each bar chooses, ``hovers``
        what a bar says to the mouse where label and number do not say it.
        """
        x, y, width, height = box
        values = [float(value) for value in values]
        low, high = min(0.0, *limits), max(0.0, *limits)
        step = min(height / len(values), 44)
        size = max(10, min(14, step * 0.6))
        room = 8 + size * 0.62 * max(len(short(label)) for label in labels)
        zone = width - room - 6 - size * 4  # the number stands right of its bar
        scale = zone / ((high - low) or 1)
        zero = x + room - low * scale
        for i, (value, label) in enumerate(zip(values, labels, strict=True)):
            top, tall = y + i * step, step * 0.72
            own = colour[i] if isinstance(colour, list) else colour
            shown = number(value, trim=False)
            left, right = zero + min(value, 0) * scale, zero + max(value, 0) * scale
            wide, middle = max(right - left, 1), top + tall / 2 + size * 0.35
            hover = hovers[i] if hovers else f"{label}: {shown}"
            self.rect(left, top, wide, tall, own, hover=hover, cell=cells[i] if cells else None)
            self.text(x + room - 8, middle, short(label), size, "end", bold=i == chosen)
            self.text(right + 6, middle, shown, size, bold=i == chosen)
            if i == chosen:
                self.rect(left - 2, top - 2, wide + 4, tall + 4, "lit", outline=True)
        self.line(zero, y - 2, zero, y + step * len(values), "ink", 1)


def _ink_class(colour):
    return 'class="ink"' if colour == "ink" else ""


def answering(mark, words, cell=None, place=""):
    """Return a mark that says words under the mouse, and that a click takes for this (map, row, column)."""
    tip = f'<text class="tip"{place}>{html.escape(words)}</text>' if words else ""
    data = "" if cell is None else f' data-cell="{",".join(map(str, cell))}"'
    return f'<g class="hit"{data}>{mark}{tip}</g>'


def text_mark(x, y, words, size, anchor, colour="ink", bold=False, turned=False, css="", fit=None):
    style = f'font-size="{px(size)}" text-anchor="{anchor}" fill="{colour_of(colour)}"'
    style += ' font-family="DejaVu Sans, sans-serif" pointer-events="none"'
    style += ' font-weight="700"' if bold else ""
    style += f' transform="rotate(-90 {px(x)} {px(y)})"' if turned else ""
    if colour != "ink":  # that of a role or head is mixed with the page's, to be read on a black one, too
        style += f' style="{"fill" if colour.startswith("#") else "--own"}:{colour_of(colour)}"'
    style += f' class="{css}"' if css else ""
    style += f' textLength="{px(fit)}" lengthAdjust="spacingAndGlyphs"' if fit else ""
    return f'<text x="{px(x)}" y="{px(y)}" {style}>{html.escape(words)}</text>'


def px(value):
    return f"{value:.1f}".removesuffix(".0")

"""The marks of a live picture: each a string of SVG, at pixel positions.

Hovering needs no script: the words of a cell are in the picture, hidden, and CSS shows them. Words take the
colour of the page, and a weight of 0 is the ground itself, so a picture is readable in a light and in a dark
theme. Every colour is also a plain attribute, for programs that know no CSS.
"""

import html
from pathlib import Path

from mha_helpers.style import colour_of

# How hidden words appear, and how a picture takes the colours of the page. A Panel holds this once: a style
# in every picture would make the browser look at the whole page again with every move of a slider.
STYLE = Path(__file__).with_name("svg.css").read_text(encoding="utf-8")


def answering(mark, words, cell=None, place=""):
    """Return a mark that says words under the mouse; a click takes it for (heatmap, row, column)."""
    tip = f'<text class="tip"{place}>{html.escape(words)}</text>' if words else ""
    data = "" if cell is None else f' data-cell="{",".join(map(str, cell))}"'
    return f'<g class="hit"{data}>{mark}{tip}</g>'


def text_mark(place, words, anchor="middle", colour="ink", bold=False, turned=False, css="", fit=None):
    """Return words whose baseline begins, has its middle or ends at a place (x, y, size of a letter)."""
    x, y, size = map(px, place)
    style = f'font-size="{size}" text-anchor="{anchor}" fill="{colour_of(colour)}"'
    style += ' font-family="DejaVu Sans, sans-serif" pointer-events="none"'
    style += ' font-weight="700"' if bold else ""
    style += f' transform="rotate(-90 {x} {y})"' if turned else ""
    if colour not in ("ink", "number"):  # that of a role is mixed with the page's, to be read on a black one
        style += f' style="{"fill" if colour.startswith("#") else "--own"}:{colour_of(colour)}"'
    style += f' class="{css}"' if css else ""
    style += f' textLength="{px(fit)}" lengthAdjust="spacingAndGlyphs"' if fit else ""
    return f'<text x="{x}" y="{y}" {style}>{html.escape(words)}</text>'


def area(x, y, width, height):
    return f'x="{px(x)}" y="{px(y)}" width="{px(width)}" height="{px(height)}"'


def px(value):
    return f"{value:.1f}".removesuffix(".0")

"""The drawing of an explorer: marks, bars and heatmaps at pixel positions, written as one SVG."""

import html
import math

from mha_helpers.layout import GAP, LETTER, lay_out_bars, lay_out_heads, longest, too_long
from mha_helpers.style import colour_of, head_label, number, short
from mha_helpers.svg_heatmap import LiveHeatmap
from mha_helpers.svg_marks import answering, area, px, text_mark

MOST_SMALL = 16  # heads beside a large one; of more heads those are shown that stand with the chosen one
MOST_SMALL_CELLS = 640  # of all small heatmaps beside a large one: more would make a slider slow


class Drawing:
    """Marks, written as one SVG of a fixed size.

    ``label`` is what a screen reader says; a Panel sets it to its words. A colour is a key of
    ``style.COLOURS``, "head 1", "head 2" …, or "#rrggbb". A ``box`` is (x, y, width, height).

    >>> drawing = Drawing(200, 100, "one bar")
    >>> drawing.rect(10, 10, 80, 20, "query", hover="a query")
    >>> drawing.svg()[:45]
    '<svg xmlns="http://www.w3.org/2000/svg" class'
    """

    def __init__(self, width, height, label=""):
        self.width, self.height, self.label = width, height, label
        self.readout = (width / 2, height - 8)  # where the words of a hovered mark stand
        self.marks = []  # each is written by ``str``

    def svg(self):
        """Return the drawing as one string."""
        start = (
            f'<svg xmlns="http://www.w3.org/2000/svg" class="mha" role="img" width="{self.width}"'
            f' height="{self.height}" viewBox="0 0 {self.width} {self.height}"'
            f' style="max-width:100%;height:auto" aria-label="{html.escape(self.label)}">'
        )
        return f"{start}{''.join(map(str, self.marks))}</svg>"

    def text(self, x, y, words, size, anchor="start", colour="ink", bold=False, fit=None):
        """Write words whose baseline begins, is centred or ends at (x, y); ``fit`` makes them so wide."""
        self.marks.append(text_mark((x, y, size), words, anchor, colour, bold, fit=fit))

    def rect(self, x, y, width, height, colour, opacity=1, hover="", cell=None, outline=False, thick=3):
        """Fill a rectangle, or outline it, so ``thick``. With ``hover`` or ``cell`` it answers the mouse."""
        if outline:
            style = f'fill="none" stroke="{colour_of(colour)}" stroke-width="{thick}" pointer-events="none"'
        else:
            style = f'fill="{colour_of(colour)}" fill-opacity="{opacity:.2f}"'
        self._answering(f"<rect {area(x, y, max(width, 0), max(height, 0))} {style}/>", hover, cell)

    def point(self, x, y, radius, colour, hover="", cell=None):
        """Fill a circle around (x, y). With ``hover`` or ``cell`` it answers the mouse."""
        circle = f'cx="{px(x)}" cy="{px(y)}" r="{px(radius)}" fill="{colour_of(colour)}"'
        self._answering(f'<circle {circle} fill-opacity="1.00"/>', hover, cell)

    def line(self, x1, y1, x2, y2, colour="ink", width=1.5, arrow=False, dashed=False):
        """Draw a line, with an arrow head at (x2, y2) if wanted."""
        dash = ' stroke-dasharray="5 4"' if dashed else ""
        ends = f'x1="{px(x1)}" y1="{px(y1)}" x2="{px(x2)}" y2="{px(y2)}"'
        css = 'class="ink"' if colour == "ink" else ""
        style = f'stroke="{colour_of(colour)}" stroke-width="{width}"{dash} {css}'
        self.marks.append(f'<line {ends} {style} pointer-events="none"/>')
        if arrow:
            angles = [math.atan2(y2 - y1, x2 - x1) + turn for turn in (0.4, -0.4)]
            sides = [(x2 - 10 * math.cos(angle), y2 - 10 * math.sin(angle)) for angle in angles]
            self.polygon([(x2, y2), *sides], colour, opacity=1)

    def polygon(self, points, colour, opacity=0.15):
        """Fill the area between points (x, y)."""
        corners = " ".join(f"{px(x)},{px(y)}" for x, y in points)
        style = f'fill="{colour_of(colour)}" fill-opacity="{opacity}" pointer-events="none"'
        css = 'class="ink"' if colour == "ink" else ""
        self.marks.append(f'<polygon points="{corners}" {style} {css}/>')

    def _answering(self, mark, hover, cell):
        if hover or cell is not None:
            x, y = self.readout
            mark = answering(mark, hover, cell, f' x="{px(x)}" y="{px(y)}"')
        self.marks.append(mark)

    def bars(self, box, values, labels, colour, limits, chosen=None, cells=None, hovers=None):
        """Draw one horizontal bar for each value, with its label and its number.

        ``colour`` is one colour or a list, ``limits`` the smallest and the largest number of the scale (0 is
        always on it), ``chosen`` the bar with a frame, ``cells`` what a click on each bar chooses, ``hovers``
        what a bar says to the mouse where label and number do not say it.
        """
        colour = colour if isinstance(colour, list) else [colour] * len(labels)
        values, names = [float(value) for value in values], [short(label) for label in labels]
        letter, zero, places = lay_out_bars(box, values, names, limits)
        for i, (bar, *words_at) in enumerate(places):
            shown = number(values[i], trim=False)
            hover = hovers[i] if hovers else f"{labels[i]}: {shown}"
            self.rect(*bar, colour[i], hover=hover, cell=cells and cells[i])
            self.text(*words_at[0], names[i], letter, "end", bold=i == chosen)
            self.text(*words_at[1], shown, letter, bold=i == chosen)
            if i == chosen:
                self.rect(bar[0] - 2, bar[1] - 2, bar[2] + 4, bar[3] + 4, "lit", outline=True)
        self.line(*zero, "ink", 1)

    def heatmap(self, box, values, rows, columns, chosen=None, **options):
        """Draw a matrix as cells, as large as fits; below it the words of the cell that is hovered or chosen.

        ``values`` is (rows, columns), ``chosen`` a (row, column) that gets a frame; (row, None) frames a
        whole row. The word of a row lights this row in all heatmaps that have the same rows. Options are the
        fields of ``svg_heatmap.LiveHeatmap``.

        Returns a function: ``cell(row, column)`` -> x, y, width, height, to put further marks on cells.
        """
        heatmap = LiveHeatmap(self, box, values, rows, columns, chosen, **options)
        self.marks.append(heatmap)
        return heatmap.layout.at

    def head_heatmaps(
        self, box, weights, tokens, names=None, chosen=(0, 0, 0), mask=None, keys=None, limit=None, large=None
    ):
        """Draw the heatmap of the chosen head large, and those of all heads beside it, small.

        ``weights`` is (h, n_q, n_k), ``chosen`` (head, row, column); ``keys`` are the tokens of the columns,
        where they are others than those of the rows. A click on a small heatmap chooses its head. ``large``
        holds options of the large one; with "stretch", it takes more of the width.
        """
        head, *cell = chosen
        first = head // MOST_SMALL * MOST_SMALL
        beside = range(len(weights))[first : first + MOST_SMALL] if len(weights) > 1 else ()
        options = {**(large or {}), "chosen": cell, "title": head_label(head, names), "index": head}
        share = 0.6 if "stretch" in options and len(beside) <= 12 else 0.52
        box, small = lay_out_heads(box, len(beside), share)
        shared = {"rows": tokens, "columns": keys or tokens, "mask": mask, "limit": limit}
        self.heatmap(box, weights[head], **options, **shared)
        shared["chosen"] = (cell[0], None) if len(tokens) > 1 else None
        self._small_heatmaps(small, {i: weights[i] for i in beside}, names, head, shared)

    def _small_heatmaps(self, places, weights, names, chosen, shared):
        titles = [head_label(head, names) for head in weights]
        if titles and too_long(titles, 10 * LETTER, places[0][2] + GAP):
            titles = [head_label(head) for head in weights]  # the large one has the name as well
        shared |= {"small": True, "most_cells": MOST_SMALL_CELLS // max(1, len(weights))}
        for head, title, place in zip(weights, titles, places, strict=True):
            style = {"title": title, "title_letters": longest(titles), "index": head}
            cell_at = self.heatmap(place, weights[head], **style, **shared)
            if head == chosen:
                x, y, width, _ = place
                _, last, _, side = cell_at(len(shared["rows"]) - 1, 0)
                self.rect(x - 3, y + 1, width + 6, last + side - y + 1, "lit", outline=True)

"""The drawing of an explorer: marks, and heatmaps whose cells answer the mouse."""

import base64
import io
import math
from dataclasses import dataclass

import torch
from PIL import Image

from mha_helpers.style import COLOURS, colour_of, head_label, number, short
from mha_helpers.svg_marks import Marks, answering, px, text_mark

MOST_CELLS = 1024  # a heatmap with more is one tiny image, and answers the mouse row by row
MOST_SMALL = 16  # heads beside a large one; of more heads those are shown that stand with the chosen one
MOST_SMALL_CELLS = 640  # of all small heatmaps beside a large one: more would make a slider slow
LETTER = 0.6  # the width of a letter, of its size
BOLD_LETTER = 0.63  # of a bold one
_TOTAL, _MOST = ": its weights add up to ", ", its most"
_LONGEST = 13  # letters of a token or feature beside a heatmap


class Drawing(Marks):
    """Marks and heatmaps, written as one SVG of a fixed size. See ``Marks`` for colours and boxes."""

    def heatmap(self, box, values, rows, columns, chosen=None, **options):
        """Draw a matrix as cells, as large as fits; below it the words of the cell that is hovered or chosen.

        ``values`` is (rows, columns), ``chosen`` a (row, column) that gets a frame; (row, None) frames a
        whole row. The word of a row lights this row in all heatmaps that have the same rows. Options:

        - ``kind``: "weights" (0 to 1, the deeper the more), "scores" or "vectors" (two hues, nothing at 0),
          "mask" (True is filled).
        - ``mask``: bool, True = may attend; what it forbids is hatched and holds no number.
        - ``map``: which of several heatmaps this is, counted from 0: a click names it first. Weights have the
          colour of head ``map + 1`` unless ``colour`` is given.
        - ``title``; ``axes``, ("query", "key") unless given; ``decimals``.
        - ``limit``: the number that gets the deepest colour, so that several heatmaps share one scale.
        - ``small``: without the words at the sides. ``most_cells``: see ``MOST_CELLS``.

        Returns a function: ``cell(row, column)`` -> x, y, width, height, to put further marks on cells.
        """
        heatmap = Heatmap(box, values, rows, columns, chosen, self._marks, self.width, **options)
        self._marks.append(heatmap)
        return heatmap.cell

    def heatmaps(self, box, weights, tokens, names=None, chosen=(0, 0, 0), mask=None, keys=None):
        """Draw the heatmap of the chosen head large, and those of all heads beside it, small.

        ``weights`` is (h, n_q, n_k), ``chosen`` (head, row, column); ``keys`` are the tokens of the columns,
        where they are others than those of the rows. A click on a small map chooses its head.
        """
        x, y, width, height = box
        heads, (head, *cell) = len(weights), chosen
        shared = {"rows": tokens, "columns": keys or tokens, "mask": mask}
        large = min(height + 60, width * 0.52)
        corner, title = (x if heads > 1 else x + (width - large) / 2, y), head_label(head, names)
        self.heatmap((*corner, large, height), weights[head], chosen=cell, title=title, map=head, **shared)
        if heads == 1:
            return
        first = head // MOST_SMALL * MOST_SMALL
        small = range(heads)[first : first + MOST_SMALL]
        left, gap, above = x + large + 20, 14, 40
        across, size = _squares(len(small), width - large - 20 - 5, height, gap, above)  # 5 for its frame
        labels = [head_label(i, names) for i in small]
        if 10 * LETTER * max(map(len, labels)) > size + gap:
            labels = [head_label(i) for i in small]  # the large one has the name as well
        row = (cell[0], None) if len(tokens) > 1 else None
        shared |= {"chosen": row, "small": True, "most_cells": MOST_SMALL_CELLS // len(small)}
        shared["title_letters"] = max(map(len, labels))
        for i, label in enumerate(labels):
            x, top, own = left + i % across * (size + gap), y + i // across * (size + above), small[i]
            area = (x, top, size, size + above)
            cell_at = self.heatmap(area, weights[own], title=label, map=own, **shared)
            if own == head:
                _, last, _, side = cell_at(len(tokens) - 1, 0)
                self.rect(x - 3, top + 1, size + 6, last + side - top + 1, "lit", outline=True)


@dataclass(eq=False)
class Heatmap:
    """One heatmap: where its parts are, and their marks. Fields are explained in ``Drawing.heatmap``."""

    box: tuple
    values: object
    rows: list
    columns: list
    chosen: tuple
    marks: list  # all of the drawing, other heatmaps among them
    drawing_width: int
    kind: str = "weights"
    colour: str = None
    mask: object = None
    title: str = ""
    title_letters: int = 0  # of the longest title of small ones, which all have letters of one size
    map: int = 0
    limit: float = None
    axes: tuple = ("query", "key")
    decimals: int = 2
    small: bool = False
    most_cells: int = MOST_CELLS

    def __post_init__(self):
        values = torch.as_tensor(self.values).detach().float()
        self.values = values.tolist()
        allowed = torch.ones_like(values) if self.mask is None else self.mask.broadcast_to(values.shape)
        self.allowed, self.hidden = allowed.tolist(), (allowed == 0).nonzero().tolist()
        self.rows = [short(row, _LONGEST) for row in self.rows]
        self.columns = [short(column, _LONGEST) for column in self.columns]
        if self.kind in ("scores", "vectors"):
            # Beside the colour of queries, keys or values the negative numbers are grey, as in heatmaps.py.
            own = (colour_of(self.colour), COLOURS["below"]) if self.colour else None
            self.hues = own or (COLOURS["positive"], COLOURS["negative"])
            finite = values[values.isfinite()].abs().tolist()
            self.limit = self.limit or max(finite, default=0) or 1.0
        else:
            colour = self.colour or ("may attend" if self.kind == "mask" else f"head {self.map + 1}")
            self.hues, self.limit = (colour_of(colour),) * 2, self.limit or 1.0
        deep = (values.double().abs() / self.limit).clamp(max=1.0)
        self.opacities = torch.where(values.isfinite() & (allowed != 0), deep, 0.0)
        self.strongest = self.opacities.argmax(dim=-1).tolist()  # for each row the column of its deepest cell
        self._lay_out()

    def _lay_out(self):
        left, self.top, width, height = self.box
        across, down = len(self.columns), len(self.rows)
        row, column = max(map(len, self.rows)), max(map(len, self.columns))  # letters
        below, title = 18 if self.small else 24, 20 if self.title else 0
        beside, above = (0, title) if self.small else (24 + 8.5 * row, title + 38)
        size = min((width - beside) / across, (height - above - below) / down)
        self.turned = not self.small and column * 8 > size  # labels that do not fit side by side read upwards
        above = title + 24 + 8 * column if self.turned else above
        self.size = max(1.0, min((width - beside) / across, (height - above - below) / down))
        self.width, self.height = self.size * across, self.size * down
        self.x, self.y = left + beside + (width - beside - self.width) / 2, self.top + above
        self.area = _area(self.x, self.y, self.width, self.height)
        value, total = {"mask": ("may attend", " may look at 10 of 10"), "weights": ("masked", _TOTAL)}.get(
            self.kind, ("−1.67", ": −1.67 to 1.67")
        )
        cell_words = row + len(" → ") + column + len(f": {value}")
        cell_words += len(_MOST) * (across * down > self.most_cells)
        fits = width / (BOLD_LETTER * cell_words)  # beside its neighbours
        self.words_size = max(10, min(12, self.width / 13)) if self.small else max(11, min(15, fits))
        longest = cell_words if self.small else max(cell_words, row + len(f"{total}1"))
        half = min(BOLD_LETTER * self.words_size * longest, self.drawing_width) / 2
        middle = min(max(self.x + self.width / 2, half), self.drawing_width - half)
        self.readout = (middle, self.y + self.height + below - 6)

    def cell(self, row, column):
        """Return x, y, width and height of one cell."""
        return self.x + column * self.size, self.y + row * self.size, self.size, self.size

    def __str__(self):
        """Write the marks; where the words of its cells stand is said once for all."""
        x, y = self.readout
        style = f"--tip:{px(self.words_size)}px;--x:{px(x)}px;--y:{px(y)}px"
        marks = [*self._title(), *self._cells(), *self._sides(), *self._frame()]
        return f'<g class="map" style="{style}">{"".join(marks)}</g>'

    def _title(self):
        if self.title:
            letters = max(len(self.title), self.title_letters)
            size = max(10, min(13, self.width / (LETTER * letters))) if self.small else 15
            middle = self.x + self.width / 2
            yield text_mark(middle, self.top + 14, self.title, size, "middle", bold=not self.small)

    def _frame(self):
        """Yield the frame of what is chosen and, of a cell, its words; they hide while another answers."""
        row, column = self.chosen or (None, None)
        if column is not None:
            style = f'fill="none" stroke="{COLOURS["lit"]}" stroke-width="3" pointer-events="none"'
            yield f"<rect {_area(*self.cell(row, column))} {style}/>"
            words = self._cell_words(row, column)
            yield text_mark(*self.readout, words, self.words_size, "middle", bold=True, css="rest")
        elif row is not None:
            yield self._row_frame([self], row, 'stroke-width="2"')

    def _sides(self):
        """Yield the words on rows and columns; of very small cells only the chosen ones."""
        if self.small:
            return
        by_row, by_column = self.axes
        row_colour, column_colour = (axis if axis in COLOURS else "ink" for axis in self.axes)
        under_title = self.top + (20 if self.title else 0) + 12
        left = self.x - 8.5 * max(map(len, self.rows)) - 14
        yield text_mark(left, self.y + self.height / 2, by_row, 13, "middle", row_colour, True, turned=True)
        yield text_mark(self.x + self.width / 2, under_title, by_column, 13, "middle", column_colour, True)
        size = max(10, min(14, self.size * 0.8))
        chosen_row, chosen_column = self.chosen or (None, None)
        with_rows = [mark for mark in self.marks if isinstance(mark, Heatmap) and mark.rows == self.rows]
        for i, strongest in enumerate(self.strongest):
            if self.size >= 8 or i == chosen_row:
                top, baseline = self.y + i * self.size, self.y + (i + 0.5) * self.size + size * 0.35
                word = text_mark(self.x - 6, baseline, self.rows[i], size, "end", bold=i == chosen_row)
                ground = f'<rect {_area(left + 10, top, self.x - left - 12, self.size)} fill-opacity="0"/>'
                frame = self._row_frame(with_rows, i, 'class="lights" visibility="hidden" stroke-width="3"')
                yield answering(ground + word + frame, self._row_words(i), (self.map, i, strongest))
        for j, label in enumerate(self.columns):
            if self.size >= 8 or j == chosen_column:
                x = self.x + (j + 0.5) * self.size + (size * 0.35 if self.turned else 0)
                style = {"bold": j == chosen_column, "turned": self.turned}
                yield text_mark(x, self.y - 6, label, size, "start" if self.turned else "middle", **style)

    @staticmethod
    def _row_frame(heatmaps, row, style):
        """Return one frame round this row of each of the heatmaps."""
        lines = ""
        for each in heatmaps:
            x, y, _, size = each.cell(row, 0)
            lines += f"M{px(x)} {px(y)}h{px(each.width)}v{px(size)}h{px(-each.width)}z"
        return f'<path d="{lines}" {style} fill="none" stroke="{COLOURS["lit"]}"/>'

    def _row_words(self, row):
        if self.kind == "mask":
            return f"{self.rows[row]} may look at {sum(map(bool, self.values[row]))} of {len(self.columns)}"
        pairs = zip(self.values[row], self.allowed[row], strict=True)
        shown = [value for value, is_allowed in pairs if is_allowed]
        if self.kind == "weights":
            return f"{self.rows[row]}{_TOTAL}{number(sum(shown))}"
        return f"{self.rows[row]}: {number(min(shown, default=0))} to {number(max(shown, default=0))}"

    def _cells(self):
        """Yield the marks of all cells, of the hatching and of the border."""
        if len(self.rows) * len(self.columns) > self.most_cells:
            yield self._image()
            yield from self._answering_rows()
        else:
            yield from self._answering_cells()
        if self.size >= 30 and self.kind != "mask":
            yield from self._numbers()
        yield self._hatching()
        yield f'<rect {self.area} fill="none" stroke="{COLOURS["faint"]}" pointer-events="none"/>'

    def _answering_cells(self):
        ys = [px(self.y + i * self.size) for i in range(len(self.rows))]
        xs = [px(self.x + j * self.size) for j in range(len(self.columns))]
        size, usual = px(self.size), self.hues[0]
        border = f'stroke="{COLOURS["faint"]}" stroke-opacity=".3"' if self.size >= 6 else ""
        yield f'<g fill="{usual}" {border}>'
        for i, row in enumerate(self.opacities.tolist()):
            for j, opacity in enumerate(row):
                colour = self.hues[opacity > 0 and self.values[i][j] < 0]
                own = "" if colour == usual else f' fill="{colour}"'
                rect = f'<rect x="{xs[j]}" y="{ys[i]}" width="{size}" height="{size}"{own}'
                rect += f' fill-opacity="{opacity:.2f}"/>'
                yield answering(rect, self._cell_words(i, j), (self.map, i, j))
        yield "</g>"

    def _answering_rows(self):
        for i, strongest in enumerate(self.strongest):
            area = _area(self.x, self.y + i * self.size, self.width, self.size)
            words = f"{self._cell_words(i, strongest)}{_MOST}"
            yield answering(f'<rect {area} fill-opacity="0"/>', words, (self.map, i, strongest))

    def _image(self):
        hues = torch.tensor([list(bytes.fromhex(hue[1:])) for hue in self.hues])
        negative = (torch.tensor(self.values) < 0).long()
        alpha = (255 * self.opacities).round().unsqueeze(-1)
        pixels = torch.cat([hues[negative], alpha], dim=-1).to(torch.uint8)  # (rows, columns, 4)
        file = io.BytesIO()
        Image.fromarray(pixels.numpy()).save(file, "PNG", compress_level=1)
        data = base64.b64encode(file.getvalue()).decode()
        style = 'preserveAspectRatio="none" style="image-rendering:pixelated"'
        return f'<image {self.area} {style} href="data:image/png;base64,{data}"/>'

    def _numbers(self):
        rows, columns = range(len(self.rows)), range(len(self.columns))
        letters = max(len(self._shown(i, j)) for i in rows for j in columns)
        size = min(15, self.size / 2.9, (self.size - 2) / (BOLD_LETTER * letters))
        for i, row in enumerate(self.opacities.tolist()):
            for j, opacity in enumerate(row):
                if self.allowed[i][j]:
                    x, y = self.x + (j + 0.5) * self.size, self.y + (i + 0.5) * self.size + size * 0.35
                    colour = "#ffffff" if opacity > 0.75 else "ink"
                    yield text_mark(x, y, self._shown(i, j), size, "middle", colour)

    def _hatching(self):
        every = math.ceil(5 / self.size)  # of very small cells only some, or the lines would run together
        corners = [self.cell(i + 1, j) for i, j in self.hidden if (i + j) % every == 0]
        size = px(self.size)
        lines = "".join(f"M{px(x)} {px(y)}l{size} -{size}" for x, y, *_ in corners)
        style = f'stroke="{COLOURS["masked"]}" stroke-opacity=".7" fill="none" pointer-events="none"'
        return f'<path d="{lines}" {style}/>' if lines else ""

    def _shown(self, row, column):
        return number(self.values[row][column], self.decimals, trim=self.kind != "weights")

    def _cell_words(self, row, column):
        if self.kind == "mask":
            words = "may attend" if self.values[row][column] else "masked"
        else:
            words = self._shown(row, column) if self.allowed[row][column] else "masked"
        return f"{self.rows[row]} → {self.columns[column]}: {words}"


def _area(x, y, width, height):
    return f'x="{px(x)}" y="{px(y)}" width="{px(width)}" height="{px(height)}"'


def _squares(count, width, height, gap, above):
    """Return how many squares stand in a row, and how large they are, so that they are largest."""

    def size(across):
        return min((width - gap * (across - 1)) / across, height / math.ceil(count / across) - above)

    across = max(range(1, count + 1), key=size)
    return across, size(across)

"""One heatmap of a live picture: cells that answer the mouse, the words at its sides, frames and hatching."""

import base64
import html
import io
import math

import torch
from PIL import Image

from mha_helpers.style import COLOURS, colour_of, number, short
from mha_helpers.svg_marks import px, text_mark

MOST_CELLS = 1024  # a heatmap with more is one tiny image, and answers the mouse row by row
LETTER = 0.6  # the width of a letter, of its size
BOLD_LETTER = 0.63  # of a bold one
_TOTAL, _MOST = ": its weights add up to ", ", its most"
_LONGEST = 13  # letters of a token or feature beside a heatmap


class Heatmap:
    """One heatmap: where its parts are, and their marks."""

    def __init__(
        self,
        box,
        values,
        rows,
        columns,
        chosen,
        together,
        drawing_width,
        kind="weights",
        colour=None,
        mask=None,
        title="",
        map=0,
        limit=None,
        axes=("query", "key"),
        decimals=2,
        small=False,
        most_cells=MOST_CELLS,
    ):
        values = torch.as_tensor(values).detach().float()
        self.values = values.tolist()
        self.allowed = mask.broadcast_to(values.shape).tolist() if mask is not None else None
        self.rows = [short(row, _LONGEST) for row in rows]
        self.columns = [short(column, _LONGEST) for column in columns]
        self.chosen, self.together = chosen, together
        self.kind, self.title, self.map, self.axes = kind, title, map, axes
        self.decimals, self.small, self.most_cells = decimals, small, most_cells
        if kind in ("scores", "vectors"):
            # Beside the colour of queries, keys or values the negative numbers are grey, as in heatmaps.py.
            own = (colour_of(colour), COLOURS["below"]) if colour else None
            self.hues = own or (COLOURS["positive"], COLOURS["negative"])
        else:
            self.hues = (colour_of(colour or ("may attend" if kind == "mask" else f"head {map + 1}")),) * 2
        self.limit = limit or (1.0 if kind in ("weights", "mask") else largest(values))
        self._lay_out(box, drawing_width)

    def _lay_out(self, box, drawing_width):
        left, top, width, height = box
        across, down = len(self.columns), len(self.rows)
        below = 18 if self.small else 24
        title = 20 if self.title else 0
        if self.small:
            beside, above = 0, title
        else:
            beside = 24 + 8.5 * max(map(len, self.rows))
            above = title + 38
            size = min((width - beside) / across, (height - above - below) / down)
            longest = max(map(len, self.columns))
            self.turned = longest * 8 > size  # labels that do not fit side by side read upwards
            above = title + (24 + 8 * longest if self.turned else 38)
        self.size = max(1.0, min((width - beside) / across, (height - above - below) / down))
        spare = width - beside - self.size * across
        self.left, self.top = left, top
        self.x, self.y = left + beside + spare / 2, top + above
        self.width, self.height = self.size * across, self.size * down
        row, column = max(map(len, self.rows)), max(map(len, self.columns))
        value, total = {"mask": ("may attend", " may look at 10 of 10"), "weights": ("masked", _TOTAL)}.get(
            self.kind, ("−1.67", ": −1.67 to 1.67")
        )
        cell_words = row + len(" → ") + column + len(f": {value}")
        cell_words += len(_MOST) * (across * down > self.most_cells)
        row_words = row + len(f"{total}1")
        fits = width / (BOLD_LETTER * cell_words)  # beside its neighbours
        self.words_size = max(10, min(12, self.width / 13)) if self.small else max(11, min(15, fits))
        longest = cell_words if self.small else max(cell_words, row_words)
        half = min(BOLD_LETTER * self.words_size * longest, drawing_width) / 2
        middle = min(max(self.x + self.width / 2, half), drawing_width - half)
        self.readout = (middle, self.y + self.height + below - 6)

    def cell(self, row, column):
        """Return x, y, width and height of one cell."""
        return self.x + column * self.size, self.y + row * self.size, self.size, self.size

    def __str__(self):
        """Write the marks; where the words of its cells stand is said once for all."""
        x, y = self.readout
        style = f"--tip:{px(self.words_size)}px;--x:{px(x)}px;--y:{px(y)}px"
        marks = [*self._title(), *self._cells(), *([] if self.small else self._sides()), *self._frame()]
        return f'<g class="map" style="{style}">{"".join(marks)}</g>'

    def _title(self):
        if not self.title:
            return []
        size = max(10, min(13, self.width / (LETTER * len(self.title)))) if self.small else 15
        middle = self.x + self.width / 2
        return [text_mark(middle, self.top + 14, self.title, size, "middle", bold=not self.small)]

    def _frame(self):
        """Return the frame of what is chosen and, of a cell, its words; they hide while another answers."""
        if self.chosen is None:
            return []
        row, column = self.chosen
        if column is None:
            return [self._row_frame([self], row, 'stroke-width="2"')]
        x, y, side, _ = self.cell(row, column)
        style = f'fill="none" stroke="{COLOURS["lit"]}" stroke-width="3" pointer-events="none"'
        frame = f'<rect x="{px(x)}" y="{px(y)}" width="{px(side)}" height="{px(side)}" {style}/>'
        words = self._cell_words(row, column)
        return [frame, text_mark(*self.readout, words, self.words_size, "middle", bold=True, css="rest")]

    def _sides(self):
        """Return the words on rows and columns; of very small cells only the chosen ones."""
        by_row, by_column = self.axes
        under_title = self.top + (20 if self.title else 0) + 12
        left = self.x - 8.5 * max(map(len, self.rows)) - 14
        marks = [
            text_mark(left, self.y + self.height / 2, by_row, 13, "middle", _role(by_row), True, turned=True),
            text_mark(self.x + self.width / 2, under_title, by_column, 13, "middle", _role(by_column), True),
        ]
        size = max(10, min(14, self.size * 0.8))
        chosen_row, chosen_column = self.chosen or (None, None)
        with_rows = [heatmap for heatmap in self.together if heatmap.rows == self.rows]
        strongest = self._opacities().argmax(dim=-1).tolist()
        for i, label in enumerate(self.rows):
            if self.size >= 8 or i == chosen_row:
                top, baseline = self.y + i * self.size, self.y + (i + 0.5) * self.size + size * 0.35
                word = text_mark(self.x - 6, baseline, label, size, "end", bold=i == chosen_row)
                ground = f'<rect x="{px(left + 10)}" y="{px(top)}" width="{px(self.x - left - 12)}"'
                ground += f' height="{px(self.size)}" fill-opacity="0"/>'
                frame = self._row_frame(with_rows, i, 'class="lights" visibility="hidden" stroke-width="3"')
                tip = f'<text class="tip">{html.escape(self._row_words(i))}</text>'
                cell = f"{self.map},{i},{strongest[i]}"
                marks.append(f'<g class="hit" data-cell="{cell}">{ground}{word}{frame}{tip}</g>')
        for j, label in enumerate(self.columns):
            if self.size >= 8 or j == chosen_column:
                x, anchor = self.x + (j + 0.5) * self.size, "middle"
                if self.turned:
                    x, anchor = x + size * 0.35, "start"
                bold = j == chosen_column
                marks.append(text_mark(x, self.y - 6, label, size, anchor, bold=bold, turned=self.turned))
        return marks

    @staticmethod
    def _row_frame(heatmaps, row, style):
        """Return one frame round this row of each of the heatmaps."""
        corners = [
            f"M{px(heatmap.x)} {px(heatmap.y + row * heatmap.size)}h{px(heatmap.width)}v{px(heatmap.size)}"
            f"h{px(-heatmap.width)}z"
            for heatmap in heatmaps
        ]
        return f'<path d="{"".join(corners)}" {style} fill="none" stroke="{COLOURS["lit"]}"/>'

    def _row_words(self, row):
        shown = [value for j, value in enumerate(self.values[row]) if self._is_allowed(row, j)]
        if self.kind == "weights":
            return f"{self.rows[row]}{_TOTAL}{number(sum(shown))}"
        if self.kind == "mask":
            return f"{self.rows[row]} may look at {sum(map(bool, self.values[row]))} of {len(self.columns)}"
        return f"{self.rows[row]}: {number(min(shown, default=0))} to {number(max(shown, default=0))}"

    def _cells(self):
        """Return the marks of all cells, of the hatching and of the border."""
        if len(self.rows) * len(self.columns) > self.most_cells:
            marks = [self._image(), *self._answering_rows()]
        else:
            marks = self._answering_cells()
        if self.size >= 30 and self.kind != "mask":
            marks += self._numbers()
        border = f'<rect {self._area()} fill="none" stroke="{COLOURS["faint"]}" pointer-events="none"/>'
        return [*marks, self._hatching(), border]

    def _answering_cells(self):
        ys = [px(self.y + i * self.size) for i in range(len(self.rows))]
        xs = [px(self.x + j * self.size) for j in range(len(self.columns))]
        size = px(self.size)
        usual = self.hues[0]
        border = f'stroke="{COLOURS["faint"]}" stroke-opacity=".3"' if self.size >= 6 else ""
        marks = [f'<g fill="{usual}" {border}>']
        for i, y in enumerate(ys):
            for j, x in enumerate(xs):
                colour, opacity = self._shade(i, j)
                own = "" if colour == usual else f' fill="{colour}"'
                marks.append(
                    f'<g class="hit" data-cell="{self.map},{i},{j}"><rect x="{x}" y="{y}" width="{size}"'
                    f' height="{size}"{own} fill-opacity="{opacity:.2f}"/>'
                    f'<text class="tip">{html.escape(self._cell_words(i, j))}</text></g>'
                )
        return [*marks, "</g>"]

    def _answering_rows(self):
        marks = []
        for i, strongest in enumerate(self._opacities().argmax(dim=-1).tolist()):
            words = f"{self._cell_words(i, strongest)}{_MOST}"
            marks.append(
                f'<g class="hit" data-cell="{self.map},{i},{strongest}"><rect x="{px(self.x)}"'
                f' y="{px(self.y + i * self.size)}" width="{px(self.width)}" height="{px(self.size)}"'
                f' fill-opacity="0"/><text class="tip">{html.escape(words)}</text></g>'
            )
        return marks

    def _opacities(self):
        """Return what ``_shade`` says of every cell, for all of them at once."""
        values = torch.tensor(self.values, dtype=torch.float64)
        shown = values.isfinite()
        if self.allowed is not None:
            shown &= torch.tensor(self.allowed)
        return torch.where(shown, (values.abs() / self.limit).clamp(max=1.0), 0.0)

    def _image(self):
        hues = torch.tensor([list(bytes.fromhex(hue[1:])) for hue in self.hues])
        negative = (torch.tensor(self.values) < 0).long()
        alpha = (255 * self._opacities()).round().unsqueeze(-1)
        pixels = torch.cat([hues[negative], alpha], dim=-1).to(torch.uint8)  # (rows, columns, 4)
        data = base64.b64encode(_png(pixels)).decode()
        style = 'preserveAspectRatio="none" style="image-rendering:pixelated"'
        return f'<image {self._area()} {style} href="data:image/png;base64,{data}"/>'

    def _numbers(self):
        size = min(15, self.size / 2.9)
        marks = []
        for i, row in enumerate(self.values):
            for j, value in enumerate(row):
                if self._is_allowed(i, j):
                    x, y = self.x + (j + 0.5) * self.size, self.y + (i + 0.5) * self.size + size * 0.35
                    colour = "#ffffff" if self._shade(i, j)[1] > 0.75 else "ink"
                    shown = number(value, self.decimals, trim=self.kind != "weights")
                    marks.append(text_mark(x, y, shown, size, "middle", colour))
        return marks

    def _hatching(self):
        if self.allowed is None:
            return ""
        every = math.ceil(5 / self.size)  # of very small cells only some, or the lines would run together
        lines = []
        for i in range(len(self.rows)):
            for j in range(len(self.columns)):
                if not self._is_allowed(i, j) and (i + j) % every == 0:
                    x, y, size, _ = self.cell(i, j)
                    lines.append(f"M{px(x)} {px(y + size)}l{px(size)} {px(-size)}")
        style = f'stroke="{COLOURS["masked"]}" stroke-opacity=".7" fill="none" pointer-events="none"'
        return f'<path d="{"".join(lines)}" {style}/>' if lines else ""

    def _area(self):
        return f'x="{px(self.x)}" y="{px(self.y)}" width="{px(self.width)}" height="{px(self.height)}"'

    def _is_allowed(self, row, column):
        return self.allowed is None or self.allowed[row][column]

    def _shade(self, row, column):
        value = self.values[row][column]
        if not self._is_allowed(row, column) or not math.isfinite(value):
            return self.hues[0], 0.0
        return self.hues[value < 0], min(abs(value) / self.limit, 1.0)

    def _cell_words(self, row, column):
        if self.kind == "mask":
            words = "may attend" if self.values[row][column] else "masked"
        elif not self._is_allowed(row, column):
            words = "masked"
        else:
            words = number(self.values[row][column], self.decimals, trim=self.kind != "weights")
        return f"{self.rows[row]} → {self.columns[column]}: {words}"


def largest(values):
    finite = values[values.isfinite()].abs()
    return (float(finite.max()) if finite.numel() else 0.0) or 1.0


def _role(axis):
    return axis if axis in COLOURS else "ink"


def _png(pixels):
    """Return pixels (rows, columns, 4), red, green, blue and opacity from 0 to 255, as a PNG."""
    file = io.BytesIO()
    Image.fromarray(pixels.numpy()).save(file, "PNG", compress_level=1)
    return file.getvalue()

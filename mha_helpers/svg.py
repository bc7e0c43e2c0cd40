"""The drawing of an explorer: the marks of ``svg_marks``, and heatmaps whose cells answer the mouse."""

import base64
import html
import math
import struct
import zlib

import torch

from mha_helpers.style import COLOURS, colour_of, head_label, number, short
from mha_helpers.svg_marks import Marks, px, text_mark

MOST_CELLS = 1024  # a heatmap with more is one tiny image, and answers the mouse row by row
MOST_SMALL_CELLS = 640  # of all small heatmaps beside a large one: more would make a slider slow
_LABEL = 13  # letters of a token or feature beside a heatmap


class Drawing(Marks):
    """Marks and heatmaps, written as one SVG of a fixed size. See ``Marks`` for colours and boxes."""

    def heatmap(self, box, values, rows, columns, chosen=None, **options):
        """Draw a matrix as cells, as large as fits; below it the words of the cell that is hovered or chosen.

        ``values`` is (rows, columns), ``chosen`` a (row, column) that gets a frame. Options:

        - ``kind``: "weights" (0 to 1, the deeper the more), "scores" or "vectors" (two hues, nothing at 0),
          "mask" (True is filled).
        - ``mask``: bool, True = may attend; what it forbids is hatched and holds no number.
        - ``head``: counted from 0; a click chooses it, and weights have its colour unless ``colour`` is told.
        - ``title``; ``axes``, ("query", "key") if not told; ``decimals``.
        - ``limit``: the number that gets the deepest colour, so that several heatmaps share one scale.
        - ``small``: without the words at the sides. ``most_cells``: see ``MOST_CELLS``.

        Returns a function: ``cell(row, column)`` -> x, y, width, height, to put further marks on cells.
        """
        heatmap = _Heatmap(box, values, rows, columns, **options)
        x, y = heatmap.readout
        place = f"--tip:{px(heatmap.words_size)}px;--x:{px(x)}px;--y:{px(y)}px"
        self._marks.append(f'<g class="map" style="{place}">')  # said once for all its cells
        self._marks += heatmap.sides(chosen)
        self._marks += heatmap.cells()
        if chosen is not None:
            self.rect(*heatmap.cell(*chosen), "lit", outline=True)
            self._marks.append(heatmap.words_of(*chosen))
        self._marks.append("</g>")
        return heatmap.cell

    def heatmaps(self, box, values, tokens, names=None, chosen=(0, 0, 0), **options):
        """Draw the heatmap of the chosen head large, and those of all heads beside it, small.

        ``values`` is (h, n, n), ``chosen`` (head, row, column). A click on a small map chooses its head.
        Options are those of ``heatmap``.
        """
        x, y, width, height = box
        heads, (head, row, column) = len(values), chosen
        kind = options.get("kind", "weights")
        options.setdefault("limit", 1.0 if kind in ("weights", "mask") else _largest(values))
        large = min(height + 30, width * 0.52)
        self.heatmap(
            (x, y, large, height),
            values[head],
            tokens,
            tokens,
            (row, column),
            title=head_label(head, names),
            head=head,
            **options,
        )
        left, gap, above = x + large + 24, 14, 40
        across, size = _squares(heads, width - large - 24, height, gap, above)
        for one in range(heads):
            corner = (left + one % across * (size + gap), y + one // across * (size + above))
            self.heatmap(
                (*corner, size, size + above),
                values[one],
                tokens,
                tokens,
                title=head_label(one, names),
                head=one,
                small=True,
                most_cells=MOST_SMALL_CELLS // heads,
                **options,
            )
            if one == head:
                self.rect(corner[0] - 3, corner[1] + 1, size + 6, size + 21, "lit", outline=True)


class _Heatmap:
    """One heatmap: where its parts are, and their marks."""

    def __init__(
        self,
        box,
        values,
        rows,
        columns,
        kind="weights",
        colour=None,
        mask=None,
        title="",
        head=0,
        limit=None,
        axes=("query", "key"),
        decimals=2,
        small=False,
        most_cells=MOST_CELLS,
    ):
        values = torch.as_tensor(values).detach().float()
        self.values = values.tolist()
        self.allowed = mask.broadcast_to(values.shape).tolist() if mask is not None else None
        self.rows, self.columns = (
            [short(row, _LABEL) for row in rows],
            [short(one, _LABEL) for one in columns],
        )
        self.kind, self.title, self.head, self.axes = kind, title, head, axes
        self.decimals, self.small, self.most_cells = decimals, small, most_cells
        if kind in ("scores", "vectors"):
            # Beside the colour of queries, keys or values the negative numbers are grey, as in heatmaps.py.
            own = (colour_of(colour), COLOURS["below"]) if colour else None
            self.hues = own or (COLOURS["positive"], COLOURS["negative"])
        else:
            self.hues = (colour_of(colour or ("may attend" if kind == "mask" else f"head {head + 1}")),) * 2
        self.limit = limit or (1.0 if kind in ("weights", "mask") else _largest(values))
        self._place(box)

    def _place(self, box):
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
        self.words_size = max(9, min(12, self.width / 13)) if self.small else 15
        self.readout = (self.x + self.width / 2, self.y + self.height + below - 6)

    def cell(self, row, column):
        """Return x, y, width and height of one cell."""
        return self.x + column * self.size, self.y + row * self.size, self.size, self.size

    def words_of(self, row, column):
        """Return the words of the chosen cell, which hide while another one is hovered."""
        said = self._said(row, column)
        return text_mark(*self.readout, said, self.words_size, "middle", bold=True, css="rest")

    def sides(self, chosen):
        """Return the title, and the words on rows and columns; of very small cells only the chosen ones."""
        marks = []
        middle = self.x + self.width / 2
        if self.title:
            size = max(8, min(13, self.width / (0.58 * len(self.title)))) if self.small else 15
            marks.append(text_mark(middle, self.top + 14, self.title, size, "middle", bold=not self.small))
        if self.small:
            return marks
        by_row, by_column = self.axes
        under_title = self.top + (20 if self.title else 0) + 12
        left = self.x - 8.5 * max(map(len, self.rows)) - 14
        marks.append(
            text_mark(left, self.y + self.height / 2, by_row, 13, "middle", _role(by_row), True, turned=True)
        )
        marks.append(text_mark(middle, under_title, by_column, 13, "middle", _role(by_column), True))
        size = max(8, min(14, self.size * 0.8))
        lit_row, lit_column = chosen if chosen is not None else (None, None)
        for i, label in enumerate(self.rows):
            if self.size >= 8 or i == lit_row:
                y = self.y + (i + 0.5) * self.size + size * 0.35
                marks.append(text_mark(self.x - 6, y, label, size, "end", bold=i == lit_row))
        for j, label in enumerate(self.columns):
            if self.size >= 8 or j == lit_column:
                x = self.x + (j + 0.5) * self.size
                if self.turned:
                    place = (x + size * 0.35, self.y - 6, label, size, "start")
                else:
                    place = (x, self.y - 6, label, size, "middle")
                marks.append(text_mark(*place, bold=j == lit_column, turned=self.turned))
        return marks

    def cells(self):
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
                    f'<g class="hit" data-cell="{self.head},{i},{j}"><rect x="{x}" y="{y}" width="{size}"'
                    f' height="{size}"{own} fill-opacity="{opacity:.2f}"/>'
                    f'<text class="tip">{html.escape(self._said(i, j))}</text></g>'
                )
        return [*marks, "</g>"]

    def _answering_rows(self):
        marks = []
        for i, darkest in enumerate(self._opacities().argmax(dim=-1).tolist()):
            said = f"{self._said(i, darkest)}, its most"
            marks.append(
                f'<g class="hit" data-cell="{self.head},{i},{darkest}"><rect x="{px(self.x)}"'
                f' y="{px(self.y + i * self.size)}" width="{px(self.width)}" height="{px(self.size)}"'
                f' fill-opacity="0"/><text class="tip">{html.escape(said)}</text></g>'
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
        look = 'preserveAspectRatio="none" style="image-rendering:pixelated"'
        return f'<image {self._area()} {look} href="data:image/png;base64,{data}"/>'

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
        look = f'stroke="{COLOURS["masked"]}" stroke-opacity=".7" fill="none" pointer-events="none"'
        return f'<path d="{"".join(lines)}" {look}/>' if lines else ""

    def _area(self):
        return f'x="{px(self.x)}" y="{px(self.y)}" width="{px(self.width)}" height="{px(self.height)}"'

    def _is_allowed(self, row, column):
        return self.allowed is None or self.allowed[row][column]

    def _shade(self, row, column):
        value = self.values[row][column]
        if not self._is_allowed(row, column) or not math.isfinite(value):
            return self.hues[0], 0.0
        return self.hues[value < 0], min(abs(value) / self.limit, 1.0)

    def _said(self, row, column):
        if self.kind == "mask":
            told = "may attend" if self.values[row][column] else "masked"
        elif not self._is_allowed(row, column):
            told = "masked"
        else:
            told = number(self.values[row][column], self.decimals, trim=self.kind != "weights")
        return f"{self.rows[row]} → {self.columns[column]}: {told}"


def _squares(count, width, height, gap, above):
    """Return how many squares stand in a row, and how large they are, so that they are largest."""
    best = (1, 8.0)
    for across in range(1, count + 1):
        down = math.ceil(count / across)
        size = min((width - gap * (across - 1)) / across, height / down - above)
        if size > best[1]:
            best = (across, size)
    return best


def _largest(values):
    finite = values[values.isfinite()].abs()
    return (float(finite.max()) if finite.numel() else 0.0) or 1.0


def _role(axis):
    return axis if axis in COLOURS else "ink"


def _png(pixels):
    """Write pixels (rows, columns, 4), red, green, blue and opacity from 0 to 255, as a PNG."""
    height, width, _ = pixels.shape
    lines = [b"\0" + row.numpy().tobytes() for row in pixels]  # 0: the line is stored without a filter
    size = struct.pack(">IIBBBBB", width, height, 8, 6, 0, 0, 0)
    chunks = ((b"IHDR", size), (b"IDAT", zlib.compress(b"".join(lines))), (b"IEND", b""))
    written = (
        struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
        for kind, data in chunks
    )
    return b"\x89PNG\r\n\x1a\n" + b"".join(written)

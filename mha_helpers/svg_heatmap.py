"""A heatmap of a drawing: cells that answer the mouse, and the words around them."""

import base64
import io
import math
from dataclasses import dataclass

import torch
from PIL import Image

from mha_helpers.heatmap_kinds import kind_of
from mha_helpers.layout import BOLD_LETTER, apart, lay_out, longest
from mha_helpers.style import COLOURS, ink_on, short, tint
from mha_helpers.svg_marks import answering, area, px, text_mark

MOST_CELLS = 1024  # a heatmap with more is one tiny image, and answers the mouse row by row
_MOST = ", its most"
_LIT = f'fill="none" stroke="{COLOURS["lit"]}"'


@dataclass(eq=False)
class LiveHeatmap:
    """One heatmap of a drawing, for which see ``Drawing.heatmap``; ``str`` writes it."""

    drawing: object
    box: tuple
    values: object
    rows: list
    columns: list
    chosen: tuple
    kind: str = "weights"  # a key of ``heatmap_kinds.KINDS``, which says what the numbers mean
    colour: str = None  # that of the kind: weights have the colour of head ``index + 1``
    mask: object = None  # bool, True = may attend; what it forbids is hatched and holds no number
    title: str = ""
    title_letters: int = 0  # of the longest title of small ones, which all have letters of one size
    index: int = 0  # which heatmap this is: a click names it first
    limit: float = None  # the number that gets the deepest colour, so that several heatmaps share one scale
    axes: tuple = None  # those of the kind
    decimals: int = 2
    small: bool = False  # without the words at the sides
    most_cells: int = MOST_CELLS
    stretch: float = 1  # cells are at most so many times as wide as high

    def __post_init__(self):
        values, self.kind = torch.as_tensor(self.values).detach().float(), kind_of(self.kind)
        allowed = torch.ones_like(values) if self.mask is None else self.mask.broadcast_to(values.shape)
        self.values, self.allowed = values.tolist(), allowed.tolist()
        self.hidden = (allowed == 0).nonzero().tolist()
        self.rows, self.columns = ([short(name, 13) for name in names] for names in (self.rows, self.columns))
        self.chosen = self.chosen or (None, None)
        self.hues = self.kind.hues(self.colour or self.kind.colour(self.index))
        limit = self.limit or self.kind.scale(values[values.isfinite()].tolist())[1]
        deep = (values.double().abs() / limit).clamp(max=1.0)
        self.opacities = torch.where(values.isfinite() & (allowed != 0), deep, 0.0)
        deepest = self.opacities > self.opacities.amax(dim=-1, keepdim=True) - 1e-5  # alike up to rounding
        self.strongest = deepest.int().argmax(dim=-1).tolist()  # the first of the deepest cells of each row
        is_negative = (values < 0) & (self.opacities > 0)
        self.hue = is_negative.long() - 1  # the index of its hue: 0 below 0, else the last
        self.is_image = values.numel() > self.most_cells
        cell_words, row_words = map(len, self.kind.longest)
        said = (cell_words + len(" → : ") + len(_MOST) * self.is_image, row_words)
        title, width = max(len(self.title), self.title_letters), self.drawing.width
        self.layout = lay_out(self.box, self.rows, self.columns, said, title, self.small, width, self.stretch)

    def __str__(self):
        """Write the marks; where the words of its cells stand is said once for all."""
        x, y, size = self.layout.readout
        style = f"--tip:{px(size)}px;--x:{px(x)}px;--y:{px(y)}px"
        title = text_mark(self.layout.title, self.title, bold=not self.small) if self.title else ""
        names = [] if self.small else [*self._axes(), *self._row_names(), *self._column_names()]
        marks = [title, *self._cells(), *names, self._frame()]
        return f'<g class="map" style="{style}">{"".join(marks)}</g>'

    def _frame(self):
        """Return the frame of what is chosen and, of a cell, its words; they hide while another answers."""
        row, column = self.chosen
        if row is None:
            return ""
        if column is None:
            return _row_frame([self], row, 'stroke-width="2"')
        words = text_mark(self.layout.readout, self._cell_words(row, column), bold=True, css="rest")
        style = f'{_LIT} stroke-width="3" pointer-events="none"'
        return f"<rect {area(*self.layout.at(row, column))} {style}/>{words}"

    def _axes(self):
        axes = self.axes or self.kind.axes
        for place, axis, turned in zip(self.layout.axes, axes, (True, False), strict=True):
            yield text_mark(place, axis, colour=axis if axis in COLOURS else "ink", bold=True, turned=turned)

    def _row_names(self):
        """Yield the names of rows, each of which lights its row; as many as stand apart."""
        others = [mark for mark in self.drawing.marks if isinstance(mark, LiveHeatmap)]
        same, left = [each for each in others if each.rows == self.rows], self.layout.axes[0][0] + 10
        for i in apart(len(self.rows), self.layout.high, self.chosen[0]):
            x, y, _, side = self.layout.at(i, 0)
            ground = f'<rect {area(left, y, x - left - 2, side)} fill-opacity="0"/>'
            name = text_mark(self.layout.row_name(i), self.rows[i], "end", bold=i == self.chosen[0])
            frame = _row_frame(same, i, 'class="lights" visibility="hidden" stroke-width="3"')
            pairs = zip(self.values[i], self.allowed[i], strict=True)
            seen = [value for value, is_allowed in pairs if is_allowed]
            words = self.rows[i] + self.kind.row_words(self.values[i], seen)
            yield answering(ground + name + frame, words, (self.index, i, self.strongest[i]))

    def _column_names(self):
        turned = self.layout.turned
        for j in apart(len(self.columns), self.layout.wide, self.chosen[1]):
            style = {"anchor": "start" if turned else "middle", "bold": j == self.chosen[1]}
            yield text_mark(self.layout.column_name(j), self.columns[j], turned=turned, **style)

    def _cells(self):
        """Yield the marks of all cells, of the hatching and of the border."""
        yield from self._image() if self.is_image else self._answering_cells()
        if self.layout.high >= 30 and self.kind.is_written:
            yield from self._numbers()
        yield self._hatching()
        style = f'fill="none" stroke="{COLOURS["faint"]}" pointer-events="none"'
        yield f"<rect {area(*self.layout.area)} {style}/>"

    def _answering_cells(self):
        ys = [px(self.layout.at(i, 0)[1]) for i in range(len(self.rows))]
        xs = [px(self.layout.at(0, j)[0]) for j in range(len(self.columns))]
        wide, high = px(self.layout.wide), px(self.layout.high)
        border = f'stroke="{COLOURS["faint"]}" stroke-opacity=".3"' if self.layout.high >= 6 else ""
        yield f'<g fill="{self.hues[-1]}" {border}>'
        for i, (opacities, hues) in enumerate(zip(self.opacities.tolist(), self.hue.tolist(), strict=True)):
            for j, (opacity, hue) in enumerate(zip(opacities, hues, strict=True)):
                own = "" if hue else f' fill="{self.hues[hue]}"'
                rect = f'<rect x="{xs[j]}" y="{ys[i]}" width="{wide}" height="{high}"{own}'
                rect += f' fill-opacity="{opacity:.2f}"/>'
                yield answering(rect, self._cell_words(i, j), (self.index, i, j))
        yield "</g>"

    def _image(self):
        """Yield all cells as one image, and rows that answer the mouse."""
        hues = torch.tensor([list(bytes.fromhex(hue[1:])) for hue in self.hues])
        alpha = (255 * self.opacities).round().unsqueeze(-1)
        pixels = torch.cat([hues[self.hue], alpha], dim=-1).to(torch.uint8)  # (rows, columns, 4)
        file = io.BytesIO()
        Image.fromarray(pixels.numpy()).save(file, "PNG", compress_level=1)
        style = 'preserveAspectRatio="none" style="image-rendering:pixelated"'
        data = base64.b64encode(file.getvalue()).decode()
        yield f'<image {area(*self.layout.area)} {style} href="data:image/png;base64,{data}"/>'
        for i, strongest in enumerate(self.strongest):
            x, y, _, side = self.layout.at(i, 0)
            row = f'<rect {area(x, y, self.layout.area[2], side)} fill-opacity="0"/>'
            yield answering(row, f"{self._cell_words(i, strongest)}{_MOST}", (self.index, i, strongest))

    def _numbers(self):
        """Yield the number of each cell, black or white as it is read best."""
        shown = [[self.kind.cell_words(value, self.decimals) for value in row] for row in self.values]
        side, letters = self.layout.high, max(longest(row) for row in shown)
        size = min(15, side / 2.9, (side - 2) / (BOLD_LETTER * letters))
        for i, (opacities, hues) in enumerate(zip(self.opacities.tolist(), self.hue.tolist(), strict=True)):
            for j, (opacity, hue) in enumerate(zip(opacities, hues, strict=True)):
                if self.allowed[i][j]:
                    x, y, *_ = self.layout.at(i + 0.5, j + 0.5)
                    is_dark = ink_on(tint(self.hues[hue], round(opacity, 2))) == "white"
                    style = {"colour": "#ffffff"} if is_dark else {"colour": "number", "css": "number"}
                    yield text_mark((x, y + size * 0.35, size), shown[i][j], **style)

    def _hatching(self):
        every = math.ceil(5 / self.layout.high)  # of very small cells only some: the lines would run together
        hidden = [self.layout.at(i + 1, j) for i, j in self.hidden if (i + j) % every == 0]
        wide, high = px(self.layout.wide), px(self.layout.high)
        lines = "".join(f"M{px(x)} {px(y)}l{wide} -{high}" for x, y, *_ in hidden)
        style = f'stroke="{COLOURS["masked"]}" stroke-opacity=".7" fill="none" pointer-events="none"'
        return f'<path d="{lines}" {style}/>' if lines else ""

    def _cell_words(self, row, column):
        is_allowed, value = self.allowed[row][column], self.values[row][column]
        words = self.kind.cell_words(value, self.decimals) if is_allowed else "masked"
        return f"{self.rows[row]} → {self.columns[column]}: {words}"


def _row_frame(heatmaps, row, style):
    """Return one frame round this row of each of the heatmaps."""
    lines = ""
    for each in heatmaps:
        (x, y, _, size), width = each.layout.at(row, 0), px(each.layout.area[2])
        lines += f"M{px(x)} {px(y)}h{width}v{px(size)}h-{width}z"
    return f'<path d="{lines}" {style} {_LIT}/>'

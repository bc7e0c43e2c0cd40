"""Heatmaps of one matrix and of many heads, drawn by seaborn: one colour for one thing on every page."""

import itertools
import math

import numpy
import torch
from matplotlib.colors import LinearSegmentedColormap
from matplotlib.patches import Rectangle

from mha_helpers.heatmap_kinds import kind_of
from mha_helpers.layout import too_long
from mha_helpers.picture import FONT, Picture, axes_at, can_draw, drawable, pixel_figure
from mha_helpers.style import COLOURS, colour_of, head_label, ink_on, number, short
from mha_helpers.tables import checked_cell, checked_labels, checked_mask

WIDEST, TALLEST = 860, 400  # pixels: what a notebook's column and half a screen hold
CELL_WIDTH, CELL_HEIGHT = (62, 88), 40  # the width as the labels need it
NUMBERS_UP_TO = 8  # rows and columns
GAP, LINE = 26, 24  # between heatmaps; a line of type above or beside them
TYPE_WIDTH = 0.62 * FONT  # a letter, on average
GRID = "#D9D9D9"


class HeatmapPicture(Picture):
    """One heatmap or several. ``side_by_side(heatmap(…), heatmap(…))`` puts them on one scale."""

    def __init__(self, heatmaps):
        self.heatmaps = heatmaps
        super().__init__(_draw(heatmaps), _describe(heatmaps))

    def beside(self, *others):
        return HeatmapPicture([each for picture in (self, *others) for each in picture.heatmaps])


class StaticHeatmap:
    """A heatmap, checked and ready to be drawn; the arguments are those of ``heatmap``."""

    def __init__(
        self, matrix, rows=None, columns=None, kind="weights", mask=None, title="", chosen=None,
        head=0, colour=None, axes=None, title_colour=None,
    ):  # fmt: skip
        matrix, self.kind = torch.as_tensor(matrix).detach().cpu().double(), kind_of(kind)
        if matrix.dim() != 2 or not matrix.numel():
            raise ValueError(f"a heatmap needs a matrix (rows, columns), got {tuple(matrix.shape)}.")
        if columns is None and kind != "vectors" and matrix.shape[0] == matrix.shape[1]:
            columns = rows
        self.rows = checked_labels("rows", rows, matrix.shape[0], counted=True)
        self.columns = checked_labels("columns", columns, matrix.shape[1], counted=True)
        self.matrix, self.title, self.chosen = matrix.numpy(), title, checked_cell(chosen, matrix.shape)
        self.allowed = (matrix.isfinite() & checked_mask(mask, matrix.shape)).numpy()  # else it stays empty
        colour, self.axes = colour or self.kind.colour(head), axes or self.kind.axes
        self.hues, self.title_colour = self.kind.hues(colour), title_colour or colour


def heatmap(
    matrix, rows=None, columns=None, kind="weights", mask=None, title="", chosen=None,
    head=0, colour=None, axes=None,
):  # fmt: skip
    """Draw a matrix; dark means much. Up to eight rows and columns, each cell holds its number.

    ``kind`` is "weights" (0 to 1, in the colour of the head, counted from 0), "scores" or "vectors" (white at
    0, one hue above it, another below). ``mask`` is bool, True = may attend; other cells are hatched and
    empty, as those of −∞ are. ``chosen`` gets a frame: ``1`` is a row, ``(1, 0)`` a cell, ``(None, 0)`` a
    column, counted from 0. ``colour`` is a key of ``style.COLOURS`` or "#rrggbb". Without ``columns``,
    weights and scores repeat their rows.

    Shape: matrix ``(n_q, n_k)``. Returns a ``Picture``. Used from notebook 01 on.
    Raises ``ValueError`` where sizes do not fit, or a cell or colour does not exist.

    >>> heatmap([[0.9, 0.1], [0.2, 0.8]], ["cat", "eats"], title="head 1")
    Heatmap of weights, 2 × 2, and its largest number: head 1, cat → cat (0.90).
    """
    chart = StaticHeatmap(matrix, rows, columns, kind, mask, title, chosen, head, colour, axes)
    return HeatmapPicture([chart])


def head_heatmaps(weights, tokens=None, names=None, kind="weights", chosen=None):
    """Draw the matrices of all heads side by side on one scale, each head in its own colour.

    ``names`` say what the heads do. The other arguments are those of ``heatmap``.

    Shape: weights ``(h, n_q, n_k)``. Returns a ``Picture``. Used in notebooks 03 and 08.
    Raises ``ValueError`` where sizes do not fit.

    >>> head_heatmaps(torch.eye(2).expand(2, 2, 2), ["cat", "eats"], ["itself"], chosen=1).words
    'Heatmaps of weights, 2 × 2, and the largest number of each: head 1: itself, framed eats → eats (1.00); \
head 2, framed eats → eats (1.00).'
    """
    charts = []
    for head, matrix in enumerate(weights):
        style = {"title": head_label(head, names), "title_colour": f"head {head + 1}"}
        charts.append(StaticHeatmap(matrix, tokens, kind=kind, chosen=chosen, head=head, **style))
    return HeatmapPicture(charts)


def _describe(charts):
    """Say in one sentence what is drawn, and where each heatmap, or its framed part, is largest."""
    kinds = " and ".join(dict.fromkeys(chart.kind.name for chart in charts))
    what = f"{kinds}, {' × '.join(map(str, charts[0].matrix.shape))}"
    largest = "; ".join(map(_largest, charts))
    if len(charts) == 1:
        return f"Heatmap of {what}, and its largest number: {largest}."
    return f"Heatmaps of {what}, and the largest number of each: {largest}."


def _largest(chart):
    part = tuple(slice(None) if index is None else slice(index, index + 1) for index in chart.chosen)
    values = numpy.full(chart.matrix.shape, -math.inf)
    values[part] = numpy.where(chart.allowed, chart.matrix, -math.inf).round(4)[part]  # last digits differ
    row, column = numpy.unravel_index(values.argmax(), values.shape)
    title = f"{chart.title}, " if chart.title else ""
    framed = "" if chart.chosen == (None, None) else "framed "
    value = chart.kind.cell_words(chart.matrix[row, column])
    return f"{title}{framed}{chart.rows[row]} → {chart.columns[column]} ({value})"


def _draw(charts):
    """Draw up to four heatmaps on a line, all with cells of one size, and all of a kind on one scale."""
    across = math.ceil(len(charts) / math.ceil(len(charts) / 4))
    lines = [charts[start : start + across] for start in range(0, len(charts), across)]
    width, height = _cell_size(lines)
    with_numbers = max(max(chart.matrix.shape) for chart in charts) <= NUMBERS_UP_TO and width >= 34
    figure = pixel_figure(WIDEST, WIDEST)  # the picture is cut to what is drawn
    top = right = 0
    for line in lines:
        left = 0
        for before, chart in itertools.pairwise([None, *line]):
            left += _margin(before, chart)
            rows, columns = chart.matrix.shape
            ax = axes_at(figure, left, top, columns * width, rows * height)
            _draw_cells(ax, chart, _scale(charts, chart.kind), with_numbers)
            is_last = line is lines[-1] or chart.columns != charts[-1].columns
            _label(ax, chart, before is None or before.rows != chart.rows, is_last)
            right = max(right, left + columns * width)
            left += max(columns * width, TYPE_WIDTH * 1.1 * len(chart.title))
        top += max(len(chart.rows) for chart in line) * height + GAP + 8
    if not with_numbers:
        ax = axes_at(figure, right - 90, -1.9 * LINE, 75, 8)
        _draw_scale(ax, charts[0], _scale(charts, charts[0].kind))
    return figure


def _cell_size(lines):
    charts = [chart for line in lines for chart in line]
    words = [word for chart in charts for label in chart.columns for word in short(label).split()]
    wanted = TYPE_WIDTH * max(map(len, words), default=0)
    free = min(
        (WIDEST - sum(map(_margin, [None, *line], line))) / sum(len(chart.columns) for chart in line)
        for line in lines
    )
    width = min(max(CELL_WIDTH[0], wanted), CELL_WIDTH[1], free)
    rows = max(len(chart.rows) for chart in charts)
    height = min(width, CELL_HEIGHT, TALLEST / rows)
    return (width if rows <= NUMBERS_UP_TO else min(width, 1.6 * height)), height


def _margin(before, chart):
    """Return the space on the left of a heatmap: for its row labels, unless those before it are the same."""
    if before is not None and before.rows == chart.rows:
        return GAP
    return GAP + LINE + TYPE_WIDTH * max(len(short(label)) for label in chart.rows)


def _scale(charts, kind):
    """Return the ends of the one scale that all heatmaps of this kind share."""
    same = [chart for chart in charts if chart.kind is kind]
    return kind.scale([value for chart in same for value in chart.matrix[chart.allowed]])


def _draw_cells(ax, chart, scale, with_numbers):
    whole = chart.kind.trim and not (chart.matrix[chart.allowed] % 1).any()
    texts = [[number(value, 0 if whole else 2, trim=False) for value in row] for row in chart.matrix]
    ax.patch.set(facecolor="#F4F4F4", edgecolor=COLOURS["masked"], hatch="////")  # shows in masked cells
    import seaborn  # here, because it is slow to import and only static heatmaps need it

    shown, annotated = numpy.where(chart.allowed, chart.matrix, 0), texts if with_numbers else None
    colours = {"vmin": scale[0], "vmax": scale[1], "cmap": _colour_map(chart), "cbar": False}
    style = {"linewidths": 0.5, "linecolor": GRID, "xticklabels": False, "yticklabels": False}
    style |= {"annot": annotated, "fmt": "", "annot_kws": {"fontsize": FONT}}
    seaborn.heatmap(shown, ax=ax, mask=~chart.allowed, **colours, **style)
    ax.spines[:].set(visible=True, color=GRID, linewidth=0.8)
    cells = ax.collections[0]
    for text in ax.texts:  # seaborn's own choice of ink is pale on middling colours
        column, row = map(int, text.get_position())
        text.set_color(ink_on(cells.cmap(cells.norm(chart.matrix[row, column]))[:3]))
    if chart.chosen != (None, None):
        _draw_frame(ax, *chart.chosen, *chart.matrix.shape)


def _colour_map(chart):
    """White at 0; one hue for weights, two for what can be negative."""
    return LinearSegmentedColormap.from_list(chart.kind.name, [*chart.hues[:-1], "white", chart.hues[-1]])


def _draw_frame(ax, row, column, rows, columns):
    corner = (column or 0, row or 0)
    size = (columns if column is None else 1, rows if row is None else 1)
    thick = min(3, ax.bbox.height / rows / 8)
    for colour, width in ((COLOURS["ink"], thick + 1.6), (COLOURS["lit"], thick)):  # seen on light and dark
        style = {"fill": False, "edgecolor": colour, "linewidth": width, "clip_on": False, "zorder": 5}
        ax.add_patch(Rectangle(corner, *size, **style))


def _label(ax, chart, with_rows, with_columns):
    rows, columns = chart.matrix.shape
    cell_width, cell_height = ax.bbox.width / columns, ax.bbox.height / rows
    if with_rows:
        ax.set_yticks(numpy.arange(rows) + 0.5, drawable(chart.rows), rotation=0)
        ax.set_ylabel(chart.axes[0], **_bold(COLOURS.get(chart.axes[0])))
    if with_columns:
        labels = drawable(chart.columns)
        turned = too_long(" ".join(labels).split(" "), TYPE_WIDTH, cell_width + 1)
        labels = labels if turned else [label.replace(" ", "\n") for label in labels]
        ax.set_xticks(numpy.arange(columns) + 0.5, labels, rotation=90 if turned else 0)
        ax.set_xlabel(chart.axes[1], **_bold(COLOURS.get(chart.axes[1])))
    size = min(FONT, cell_height + 1)
    ax.tick_params(length=0, pad=4, labelcolor=COLOURS["label"], labelsize=size)
    title = "".join(filter(can_draw, chart.title))
    ax.set_title(title, loc="left", pad=6, **_bold(chart.title_colour))


def _draw_scale(ax, chart, scale):
    """Draw the scale of colours, small, for heatmaps whose cells have no numbers."""
    ax.imshow([numpy.linspace(*scale, 101)], cmap=_colour_map(chart), aspect="auto")
    ax.set(xticks=[], yticks=[])
    ax.spines[:].set(color=GRID)
    for x, side, value in ((-0.06, "right", scale[0]), (1.06, "left", scale[1])):
        style = {"transform": ax.transAxes, "ha": side, "va": "center", "color": COLOURS["label"]}
        ax.text(x, 0.45, number(value), fontsize=FONT, **style)


def _bold(colour):
    return {"color": colour_of(colour or "label"), "fontsize": FONT, "weight": "bold"}

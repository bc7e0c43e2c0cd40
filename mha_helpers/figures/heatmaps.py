"""Heatmaps of one head and of several heads: one scale for all, masked cells grey and hatched."""

import html
import math
import operator

import seaborn
import torch
from matplotlib.cm import ScalarMappable
from matplotlib.colors import Normalize
from matplotlib.patches import Rectangle

from mha_helpers import style
from mha_helpers.checks import (
    as_real_numbers,
    check_index,
    check_length,
    check_mask,
    check_tensors,
    mask_of_one,
)
from mha_helpers.figures.layout import BAR, Layout
from mha_helpers.figures.picture import Picture, make_numbers_readable, new_figure
from mha_helpers.figures.words import count, describe, numbered

AXES = {"weights": ("query", "key"), "scores": ("query", "key"), "vectors": ("token", "feature")}
BAR_TITLES = {"weights": "weight", "scores": "score", "vectors": "number"}

_SEVERAL_OR_A_ROW = "For several heads use head_heatmaps; of one row make a matrix with [None]."
_SENTENCE_OR_ONE_HEAD = "For one sentence of a batch use weights[0]; for the weights of one head use heatmap."


def heatmap(
    matrix,
    row_labels=None,
    column_labels=None,
    kind="weights",
    mask=None,
    title="",
    highlight=None,
    alt=None,
    limit=None,
    axes=None,
):
    """Draw one matrix: rows are queries and columns are keys (kind ``"vectors"``: tokens, features).

    ``kind`` is ``"weights"`` (fixed scale 0 … 1), ``"scores"`` or ``"vectors"`` (0 in the middle of the
    scale). ``mask`` is bool, True = may attend; a score of −inf counts as masked. ``highlight`` is
    ``(i, j)`` for a cell, ``(i, None)`` for a row, ``(None, j)`` for a column, or a list of those.
    ``limit`` sets the end of the scale, so that two pictures can be compared. ``axes`` names the rows and
    the columns where they are neither queries and keys nor tokens and features.

    Shape: matrix ``(n_q, n_k)``, mask broadcastable to it. Returns a ``Picture``.

    Raises ``ValueError`` where sizes do not fit, for a highlight outside the matrix and for a limit that is
    not above 0, ``TypeError`` for a mask that is not bool and for a highlight of another form.

    >>> heatmap(torch.eye(2), ["cat", "eats"])
    Attention weights, 2 queries × 2 keys. cat attends most to cat (1.00); eats attends most to eats (1.00).
    """
    matrix = _tensor(matrix, 2, "matrix", "(n_q, n_k)", _SEVERAL_OR_A_ROW)
    return _grid(
        matrix[None], row_labels, column_labels, kind, mask, None, title, highlight, alt, limit, axes
    )


def head_heatmaps(
    weights,
    tokens=None,
    head_names=None,
    mask=None,
    kind="weights",
    title="",
    highlight=None,
    alt=None,
    column_labels=None,
    limit=None,
):
    """Draw the matrices of all heads side by side, with one scale and one colour bar.

    Arguments as for ``heatmap``; ``head_names`` stand in the titles, each head in its own colour.

    Shape: weights ``(h, n_q, n_k)``, mask broadcastable to it. Returns a ``Picture``.

    Raises what ``heatmap`` raises.

    >>> head_heatmaps(torch.eye(2).expand(2, 2, 2), ["a", "b"]).alt.splitlines()[1]
    'Head 1, 2 queries × 2 keys. a attends most to a (1.00); b attends most to b (1.00).'
    """
    weights = _tensor(weights, 3, "weights", "(h, n_q, n_k)", _SENTENCE_OR_ONE_HEAD)
    if head_names is None:
        head_names = [""] * len(weights)
    check_length("head_names", head_names, len(weights), "head")
    return _grid(weights, tokens, column_labels, kind, mask, head_names, title, highlight, alt, limit)


def _grid(
    matrices, row_labels, column_labels, kind, mask, head_names, title, highlight, alt, limit, axes=None
):
    if kind not in AXES:
        raise ValueError(f'kind must be "weights", "scores" or "vectors", got {kind!r}.')
    _, rows, columns = matrices.shape
    if column_labels is None and kind != "vectors" and rows == columns:
        column_labels = row_labels
    row_labels = _labels(row_labels, rows, "row_labels", "row")
    column_labels = _labels(column_labels, columns, "column_labels", "column")
    allowed = _allowed(matrices, mask)
    lit = _lit(highlight, rows, columns)
    if limit is not None and not 0 < limit < math.inf:
        raise ValueError(f"limit must be a number above 0, where the scale ends; got {limit}.")
    axes = axes or AXES[kind]
    if alt is None:
        alt = _describe(matrices, row_labels, column_labels, kind, allowed, axes, head_names, title)
        framed = _framed(lit, row_labels, column_labels)
        alt += framed and (" " if head_names is None else "\n") + framed

    row_texts, row_legend = style.display_labels(row_labels)
    column_texts, legend = style.display_labels(column_labels)
    if column_labels != row_labels:
        legend = row_legend + legend
    if title and not style.drawable_text(title):
        title, legend = "", f"<p><b>{html.escape(title)}</b></p>" + legend
    axes = [style.drawable_text(name, usual) for name, usual in zip(axes, AXES[kind], strict=True)]
    with style.drawing():
        norm = _norm(matrices, allowed, kind, limit)
        head_lines = 0 if head_names is None else 1 + any(head_names)
        layout = Layout(
            len(matrices), row_texts, column_texts, head_lines, title, [BAR_TITLES[kind], *_bar_ticks(norm)]
        )
        figure = _draw(layout, matrices, allowed, kind, norm, head_names, lit, axes)
    return Picture(figure, alt, legend_html=legend)


def _draw(layout, matrices, allowed, kind, norm, head_names, lit, axes):
    figure = new_figure(layout.width, layout.height)
    (row, row_look), (column, column_look) = zip(axes, style.axis_looks(axes), strict=True)
    for panel, (matrix, may) in enumerate(zip(matrices, allowed, strict=True)):
        ax = figure.add_axes(layout.box(panel))
        _draw_cells(ax, matrix, may, kind, norm, layout)
        _label(ax, layout, layout.is_first(panel), layout.is_last(panel))
        if layout.is_first(panel):
            ax.set_ylabel(row, **row_look)
        if layout.is_last(panel):
            ax.set_xlabel(column, **column_look)
        if head_names is not None:
            _head_title(ax, panel, head_names[panel], layout)
        for i, j in lit:
            _outline(ax, i, j, *matrix.shape)
    if layout.title:
        figure.text(
            0.5,
            1 - 8 / layout.height,
            layout.title.replace("$", r"\$"),
            ha="center",
            va="top",
            fontsize=14,
            weight="bold",
        )
    _colour_bar(figure, layout, kind, norm)
    return figure


def _draw_cells(ax, matrix, may, kind, norm, layout):
    values = matrix.double().numpy()
    whole = style.whole_numbers(matrix[may])
    texts = [
        [style.number(value, 0 if whole and kind != "weights" else 2, trim=False) for value in row]
        for row in values
    ]
    # What seaborn leaves out shows the background: masked cells are hatched, never a colour of the scale.
    ax.patch.set(facecolor="#EDEDED", edgecolor=style.COLOURS["masked"], hatch=style.MASKED_HATCH)
    wide_enough = min(layout.cell_width, layout.cell_height) >= 16
    seaborn.heatmap(
        values,
        ax=ax,
        vmin=norm.vmin,
        vmax=norm.vmax,
        cmap=style.CMAPS[kind],
        mask=~may.numpy(),
        cbar=False,
        annot=texts if layout.numbers else None,
        fmt="",
        annot_kws={"fontsize": style.FONT_SIZE},
        linewidths=1 if wide_enough else 0,
        xticklabels=False,
        yticklabels=False,
    )
    make_numbers_readable(ax, values)
    for i, j in (~matrix.isfinite() & may).nonzero().tolist():  # nan or ∞: neither masked nor a colour
        ax.add_patch(Rectangle((j, i), 1, 1, facecolor="white", edgecolor=style.COLOURS["masked"]))
        if layout.numbers:
            ax.text(j + 0.5, i + 0.5, style.number(values[i, j]), ha="center", va="center")


def _label(ax, layout, first, last):
    rows = range(0, len(layout.row_texts), layout.row_step) if first else []
    columns = range(0, len(layout.column_texts), layout.column_step) if last else []
    ax.set_yticks([i + 0.5 for i in rows], [layout.row_texts[i] for i in rows], rotation=0)
    ax.set_xticks(
        [j + 0.5 for j in columns],
        [layout.column_texts[j] for j in columns],
        rotation=90 if layout.turned else 0,
    )
    ax.tick_params(length=0, pad=4, labelsize=layout.label_size)


def _head_title(ax, head, name, layout):
    colour = style.head_colour(head)
    strip = 4 / layout.panel_height
    ax.add_patch(
        Rectangle((0, 1), 1, strip, transform=ax.transAxes, facecolor=colour, edgecolor="none", clip_on=False)
    )
    name = style.short(name, max(int(layout.panel_width / 8.5), 4))
    title = f"head {head + 1}" + (f"\n{name}" if style.drawable_text(name) else "")
    ax.text(
        0.5,
        1 + strip + 3 / layout.panel_height,
        title.replace("$", r"\$"),
        transform=ax.transAxes,
        ha="center",
        va="bottom",
        color=style.text_colour(colour),
        linespacing=1.1,
    )


def _colour_bar(figure, layout, kind, norm):
    height = min(layout.down * layout.pitch - 14 - layout.head, 300)
    left = layout.width - layout.right + 18
    box = layout.fractions(left, layout.top + layout.head, BAR, height)
    ax = figure.add_axes(box, label="colour bar")
    bar = figure.colorbar(ScalarMappable(norm, style.CMAPS[kind]), cax=ax)
    bar.outline.set_visible(False)
    bar.set_ticks([norm.vmin, (norm.vmin + norm.vmax) / 2, norm.vmax], labels=_bar_ticks(norm))
    bar.ax.tick_params(length=0)
    bar.ax.set_title(BAR_TITLES[kind], fontsize=style.FONT_SIZE, pad=7)


def _bar_ticks(norm):
    size = math.floor(math.log10(norm.vmax))
    decimals = max(2, 1 - size)  # 0.002 is not 0
    ticks = (norm.vmin, (norm.vmin + norm.vmax) / 2, norm.vmax)
    if decimals > 5:
        return [f"{tick:.1e}".replace("-", "−") if tick else "0" for tick in ticks]
    return [style.number(tick, decimals) for tick in ticks]


def _lit(highlight, rows, columns):
    """Return what gets a frame as a list of (i, j): without an i a whole column, without a j a whole row."""
    if highlight is None:
        return []
    try:
        pairs = [highlight] if isinstance(highlight, tuple) else highlight
        lit = [(_place(i), _place(j)) for i, j in pairs]
    except (TypeError, ValueError):
        raise TypeError(
            "highlight must be (row, column), both counted from 0, None for all of them, or a list of such"
            f" pairs; got {highlight!r}."
        ) from None
    for i, j in lit:
        if i is not None:
            check_index("a lit row", i, rows, "rows")
        if j is not None:
            check_index("a lit column", j, columns, "columns")
    return lit


def _place(number):
    if isinstance(number, bool):
        raise TypeError
    return None if number is None else operator.index(number)


def _framed(lit, rows, columns):
    """Say in words what has a frame: "Framed: row 2 (eats)."."""
    names = []
    for i, j in lit:
        row, column = (
            (i is not None and f"row {numbered(i, rows)}"),
            (j is not None and f"column {numbered(j, columns)}"),
        )
        names.append(", ".join(filter(None, (row, column))) or "all")
    return f"Framed: {'; '.join(names)}." if names else ""


def _outline(ax, i, j, rows, columns):
    corner = (0 if j is None else j, 0 if i is None else i)
    size = (columns if j is None else 1, rows if i is None else 1)
    for colour, width in ((style.COLOURS["ink"], 6), (style.COLOURS["lit"], 3.5)):  # seen on light and dark
        ax.add_patch(
            Rectangle(corner, *size, fill=False, edgecolor=colour, linewidth=width, clip_on=False, zorder=5)
        )


def _norm(matrices, allowed, kind, limit):
    """One scale for all heads: 0 … 1 for weights, as far below 0 as above it for everything else."""
    if kind == "weights":
        return Normalize(0, limit or 1)
    shown = matrices[allowed & matrices.isfinite()]
    limit = limit or (float(shown.abs().max()) if len(shown) else 0) or 1.0
    return Normalize(-limit, limit)


def _tensor(matrix, axes, name, wanted, hint):
    matrix = as_real_numbers(name, matrix)
    if matrix.dim() != axes or 0 in matrix.shape:
        raise ValueError(f"{name} must have shape {wanted}, got {tuple(matrix.shape)}. {hint}")
    return matrix.float() if matrix.dtype != torch.float64 else matrix


def _labels(labels, size, name, axis):
    if labels is None:
        return [str(number) for number in range(1, size + 1)]
    check_length(name, labels, size, f"{axis} of the matrix")
    return [str(label) for label in labels]


def _allowed(matrices, mask):
    allowed = matrices != -math.inf
    if mask is None:
        return allowed
    check_tensors(mask=mask)
    mask = mask_of_one(mask, matrices.dim())
    check_mask(mask, matrices.shape)
    return allowed & mask.to(allowed.device)


def _describe(matrices, rows, columns, kind, allowed, axes, head_names, title):
    if head_names is None:
        return describe(matrices[0], rows, columns, kind, allowed[0], axes, title)
    lines = [f"{title or BAR_TITLES[kind].capitalize() + 's'}, {count(len(matrices), 'head')}."]
    for head, (matrix, name) in enumerate(zip(matrices, head_names, strict=True)):
        named = f"Head {head + 1}" + (f" ({name})" if name else "")
        lines.append(describe(matrix, rows, columns, kind, allowed[head], axes, named))
    return "\n".join(lines)

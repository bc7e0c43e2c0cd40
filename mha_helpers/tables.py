"""Small matrices as tables, and the arithmetic of one cell with the numbers that go into it lit.

The HTML needs no script and no style sheet. Text keeps the colour of the page and grounds are thin tints, so
that a table is readable on a light and on a dark page; what is lit is bold and outlined, not only coloured.
"""

import html
import itertools
from dataclasses import dataclass

import torch

from mha_helpers.style import colour_of, number

LONG = 11  # letters of the name of a column that is written in one line
TABLE = "border-collapse:collapse;margin:4px 0 8px;color:inherit;background:transparent;"
CAPTION = "caption-side:top;text-align:left;color:inherit;font-size:15px;padding:0 0 4px;white-space:nowrap"
CELL = "padding:3px 10px;text-align:right;border:1px solid rgba(128,128,128,.35);font-size:15px;"
HEAD = "padding:3px 10px;font-size:14px;font-weight:600;border:none;text-align:"
HATCHED = (
    "background:repeating-linear-gradient(135deg,rgba(128,128,128,.15) 0 4px,rgba(128,128,128,.45) 4px 6px);"
)


@dataclass(frozen=True)
class Table:
    """A table in two forms: ``html`` for a notebook, ``text`` for everything else."""

    html: str
    text: str

    def __repr__(self):
        return self.text

    def _repr_html_(self):
        return self.html


def matrix_table(
    matrix, rows=None, columns=None, name="", decimals=3, chosen=None, mask=None, colour=None, shape=True
):
    """Show a matrix as a table with its name, its shape and its numbers.

    ``chosen`` lights a row, ``1``, a cell, ``(1, 0)``, or a column, ``(None, 0)``, counted from 0.
    ``mask`` is bool, True = may attend; other cells are hatched and hold a dash, those of −∞ are hatched.
    ``colour`` is a key of ``style.COLOURS`` or "#rrggbb".

    Shape: matrix ``(rows, columns)`` or ``(columns)``. Returns a ``Table``. Used from notebook 00 on.
    Raises ``ValueError`` where sizes do not fit, or a cell or colour does not exist.

    >>> matrix_table([[2.0, -1.0], [0.5, 4.0]], ["cat", "eats"], name="Q", chosen=(1, 0))
    Q (2, 2)
    cat    2.000   −1.000
    eats  [0.500]   4.000
    """
    matrix = _matrix(name or "the matrix", matrix)
    rows = checked_labels("rows", rows, matrix.shape[0])
    columns = checked_labels("columns", columns, matrix.shape[1])
    allowed, (row, column) = checked_mask(mask, matrix.shape), checked_cell(chosen, matrix.shape)
    whole = not (matrix[matrix.isfinite()] % 1).any()

    def cell(i, j):
        if not allowed[i, j]:
            return "—", "masked"
        text = number(matrix[i, j], 0 if whole else decimals, trim=False)
        lit = (row, column) != (None, None) and row in (None, i) and column in (None, j)
        return text, "lit" if lit else "masked" if matrix[i, j] == -torch.inf else "plain"

    grid = [[cell(i, j) for j in range(matrix.shape[1])] for i in range(matrix.shape[0])]
    parts = grid, rows, columns, name, str(tuple(matrix.shape)) if shape else ""
    return Table(_html(*parts, colour_of(colour or "lit")), _text(*parts))


def words_table(rows):
    """Show rows of words, the names of the columns first; a large table scrolls. Returns a ``Table``.

    >>> words_table([("library", "empty row"), ("torch", "zeros"), ("mlx", "the mean")])
    library  empty row
    torch    zeros
    mlx      the mean
    """
    heads, *others = map(tuple, rows)
    widths = [max(map(len, column)) for column in zip(heads, *others, strict=True)]
    lines = ["  ".join(map(str.ljust, row, widths)).rstrip() for row in (heads, *others)]
    written = ["".join(_worded("th", cell) for cell in heads)]
    written += ["".join(_worded("td", cell) for cell in row) for row in others]
    table = f"<table><tr>{'</tr><tr>'.join(written)}</tr></table>"
    return Table(f'<div style="overflow:auto;max-height:430px">{table}</div>', "\n".join(lines))


def _worded(tag, words):
    """Return a cell of words in one line; what is as long as a sentence may take several."""
    width = "min-width:280px" if len(words) > 40 else "white-space:nowrap"
    return f'<{tag} style="text-align:left;{width}">{html.escape(words)}</{tag}>'


def product_table(
    a, b, row, column, names=("Q", "Kᵀ", "scores"), rows=None, columns=None, inner=None,
    colours=("query", "key", "output"),
):  # fmt: skip
    """Show ``a @ b`` with one row of a, one column of b and their cell of the product lit, and its sum.

    ``rows`` are the labels of a's rows, ``columns`` those of b's columns, ``inner`` those of the axis that is
    summed over. ``names`` and ``colours`` are those of a, b and the product.

    Shapes: a ``(rows, m)``, b ``(m, columns)``. Returns a ``Table``. Used in notebooks 02, 03, 07, 08 and 09.
    Raises ``ValueError`` where labels do not fit, ``RuntimeError`` where a and b do not.

    >>> product_table([[2, -1]], [[2], [0]], 0, 0).text.splitlines()[-1]
    'scores[1, 1] = 2·2 + (−1)·0 = 4'
    """
    a, b = _matrix(names[0], a), _matrix(names[1], b)
    tables = side_by_side(
        matrix_table(a, rows, inner, names[0], chosen=row, colour=colours[0]),
        matrix_table(b, inner, columns, names[1], chosen=(None, column), colour=colours[1]),
        matrix_table(a @ b, rows, columns, names[2], chosen=(row, column), colour=colours[2]),
        between="·=",
    )
    cell = [labels[index] if labels else index + 1 for labels, index in ((rows, row), (columns, column))]
    line = f"{names[2]}[{cell[0]}, {cell[1]}] = {cell_sum(a[row], b[:, column])}"
    written = f'<p style="font-size:16px;margin:4px 0 10px">{html.escape(line)}</p>'
    return Table(tables.html + written, f"{tables.text}\n{line}")


def cell_sum(row, column):
    """Write out the dot product of a row and a column.

    "=" stands before a number that is exact, "≈" before a rounded one.

    Shapes: both ``(m)``. Used by ``product_table`` and the explorer of notebook 02.

    >>> cell_sum([2, -1], [2, 0])
    '2·2 + (−1)·0 = 4'
    """
    a, b = _matrix("the row", row)[0], _matrix("the column", column)[0]
    terms = [f"{_factor(x)}·{_factor(y)}" for x, y in zip(a, b, strict=True)]
    numbers = torch.cat([a, b, (a @ b)[None]])
    exact = torch.allclose(numbers, numbers.round(decimals=3), rtol=0, atol=1e-6)
    return f"{' + '.join(terms)} {'=' if exact else '≈'} {number(a @ b, 3)}"


def side_by_side(*shown, between=""):
    """Set tables next to each other, or heatmaps on one scale; on a narrow page tables wrap.

    ``between`` holds a sign for each gap of tables, as in "·=". Returns a ``Table`` or a ``Picture``. Used
    from notebook 02 on. Raises ``ValueError`` for too few signs, or for a table beside a heatmap.

    >>> side_by_side(matrix_table([[1, 2]]), matrix_table([[3, 4]]), between="+")
    (1, 2)
    1  2
    +
    (1, 2)
    3  4
    """
    if len({hasattr(each, "beside") for each in shown}) > 1:
        raise ValueError("side_by_side takes tables or heatmaps, not both: show them one after the other.")
    if hasattr(shown[0], "beside"):
        return shown[0].beside(*shown[1:])
    signs = ["", *between] if between else [""] * len(shown)
    parts, texts = [], []
    for sign, table in zip(signs, shown, strict=True):  # a sign stays with the table behind it
        written = f'<div style="font-size:20px;padding-right:14px">{html.escape(sign)}</div>' if sign else ""
        parts.append(f'<div style="display:flex;align-items:center">{written}<div>{table.html}</div></div>')
        texts += [sign, table.text] if sign else [table.text]
    row = '<div style="display:flex;flex-wrap:wrap;align-items:center;gap:8px 14px">'
    return Table(f"{row}{''.join(parts)}</div>", "\n".join(texts))


def _matrix(name, matrix):
    matrix = torch.as_tensor(matrix).detach().cpu().double()
    matrix = matrix[None] if matrix.dim() == 1 else matrix
    if matrix.dim() != 2 or not matrix.numel():
        raise ValueError(f"{name} must have 2 axes, rows and columns; got {tuple(matrix.shape)}.")
    return matrix


def checked_labels(name, labels, size, counted=False):
    """Return labels as strings, one for each row or column; without any None, or numbers from 1."""
    if labels is not None and len(labels) != size:
        raise ValueError(f"{name} must hold {size} labels, one for each; got {len(labels)}.")
    labels = range(1, size + 1) if labels is None and counted else labels
    return None if labels is None else [str(label) for label in labels]


def checked_cell(chosen, shape):
    """Return the row and column that are chosen, counted from 0, with None where it is all of them."""
    cell = chosen if isinstance(chosen, tuple) else (chosen, None)
    for name, index, size in zip(("row", "column"), cell, shape, strict=True):
        if index is not None and index not in range(size):
            raise ValueError(f"chosen is {name} {index}, and they are counted from 0 to {size - 1}.")
    return cell


def checked_mask(mask, shape):
    """Return a mask as wide as the matrix, True = may attend; without one everything is."""
    mask = torch.as_tensor(True if mask is None else mask).cpu().bool()
    try:
        return mask.broadcast_to(shape)
    except RuntimeError:
        raise ValueError(f"mask {tuple(mask.shape)} does not fit the matrix {tuple(shape)}.") from None


def _factor(value):
    text = number(value, 3)
    return f"({text})" if text.startswith("−") else text


def _html(grid, rows, columns, name, size, colour):
    channels = ",".join(map(str, bytes.fromhex(colour[1:])))
    # The outline is nearer to the text's colour, so that it shows on dark pages, too.
    lit = (
        f"background:rgba({channels},.28);outline:2px solid {colour};"
        f"outline:2px solid color-mix(in srgb,{colour} 65%,currentColor);outline-offset:-2px;"
    )
    styles = {"plain": CELL, "lit": CELL + lit, "masked": CELL + HATCHED}
    parts = [f'<table style="{TABLE}font-variant-numeric:tabular-nums">']
    if name or size:
        marked = f'<span style="border-left:6px solid {colour};padding-left:6px"><b>{html.escape(name)}</b>'
        parts.append(f'<caption style="{CAPTION}">{marked} {size}</span></caption>')
    if columns:
        corner = f'<td style="{HEAD}left"></td>' if rows else ""
        names = [f'<th scope="col" style="{HEAD}right">{_in_two_lines(label)}</th>' for label in columns]
        parts.append(f'<tr style="background:transparent">{corner}{"".join(names)}</tr>')
    for line, label in zip(grid, rows or itertools.repeat(""), strict=False):
        first = f'<th scope="row" style="{HEAD}left">{html.escape(label)}</th>' if rows else ""
        bold = [(f"<b>{text}</b>" if look == "lit" else text, look) for text, look in line]
        cells = "".join(f'<td style="{styles[look]}">{text}</td>' for text, look in bold)
        parts.append(f'<tr style="background:transparent">{first}{cells}</tr>')
    return "".join([*parts, "</table>"])


def _in_two_lines(label):
    """Write the name of a column; a long one is broken near its middle, so that tables fit side by side."""
    spaces = [i for i, letter in enumerate(label) if letter == " "]
    if len(label) <= LONG or not spaces:
        return html.escape(label)
    middle = min(spaces, key=lambda i: abs(i - len(label) / 2))
    return f"{html.escape(label[:middle])}<br>{html.escape(label[middle + 1 :])}"


def _text(grid, rows, columns, name, size):
    some_lit = any(look == "lit" for line in grid for _, look in line)
    pad = " " if some_lit else ""  # brackets must not push the other numbers out of line
    lines = [[f"[{text}]" if look == "lit" else text + pad for text, look in line] for line in grid]
    if columns:
        lines.insert(0, [label + pad for label in columns])
    if rows:
        names = ["", *rows] if columns else rows
        widest = max(map(len, names))
        lines = [[first.ljust(widest), *line] for first, line in zip(names, lines, strict=True)]
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    written = ["  ".join(map(str.rjust, line, widths)).rstrip() for line in lines]
    heading = f"{name} {size}".strip()
    return "\n".join([heading, *written] if heading else written)

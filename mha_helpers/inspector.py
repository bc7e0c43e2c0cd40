"""Small matrices as tables: the arithmetic of one cell, with the numbers that go into it lit."""

import html
import itertools
import operator
import re
from dataclasses import dataclass

import torch

from mha_helpers import style
from mha_helpers.checks import (
    as_real_numbers,
    check_index,
    check_length,
    check_mask,
    check_tensors,
    mask_of_one,
)
from mha_helpers.tables import Table, side_by_side, table_html, table_text

__all__ = ["Table", "cell_sum", "matrix_table", "product_table", "side_by_side"]

GAP = "⋯"  # where rows or columns are left out
SHOWN = 10  # rows and columns of a larger matrix that are shown
TERMS = 8  # products of a longer sum that are written out


def matrix_table(
    matrix,
    rows=None,
    columns=None,
    name="",
    decimals=3,
    highlight=None,
    mask=None,
    colour=None,
    shape=True,
):
    """Show a matrix as a table with its name, its shape and its numbers.

    ``highlight`` is a dict: ``{"rows": [i], "columns": [j], "cells": [(i, j)]}``. ``mask`` is bool, True =
    may attend; masked cells are hatched and hold a dash. ``colour`` is a key of ``style.COLOURS`` or a
    colour such as ``"#0072B2"``. Of a large matrix the first rows and columns, the last, and all that is
    lit are shown.

    Shape: matrix ``(rows, columns)`` or ``(columns)``. Returns a ``Table``. Used from notebook 00 on.

    Raises ``ValueError`` where sizes do not fit, ``TypeError`` for a mask that is not bool.

    >>> matrix_table(torch.tensor([[2.0, -1.0], [0.5, 4.0]]), ["cat", "eats"], name="Q")
    Q (2, 2)
    cat   2.000  −1.000
    eats  0.500   4.000
    """
    matrix = _matrix("matrix", matrix)
    rows = _labels("rows", rows, matrix.shape[0])
    columns = _labels("columns", columns, matrix.shape[1])
    if mask is not None:
        check_tensors(mask=mask)
        mask = mask_of_one(mask, matrix.dim())
        check_mask(mask, matrix.shape)
        mask = mask.broadcast_to(matrix.shape)
    lit = _Lit.of(highlight, matrix.shape)
    texts = _texts(matrix, decimals)
    kept_rows = _kept(matrix.shape[0], lit.rows | {i for i, _ in lit.cells})
    kept_columns = _kept(matrix.shape[1], lit.columns | {j for _, j in lit.cells})
    caption = " ".join(filter(None, [name, str(tuple(matrix.shape)) if shape else ""]))

    def cell(i, j):
        if i is None or j is None:
            return GAP, "plain"
        if mask is not None and not mask[i, j]:
            return "—", "masked"
        return texts[i][j], "masked" if matrix[i, j] == -torch.inf else lit.kind(i, j)

    grid = [[cell(i, j) for j in kept_columns] for i in kept_rows]
    row_heads = rows and [GAP if i is None else rows[i] for i in kept_rows]
    column_heads = columns and [GAP if j is None else columns[j] for j in kept_columns]
    colour = _colour(colour)
    return Table(
        table_html(grid, row_heads, column_heads, name, caption, colour),
        table_text(grid, row_heads, column_heads, caption),
    )


def product_table(
    a,
    b,
    i,
    j,
    a_name="Q",
    b_name="Kᵀ",
    out_name="scores",
    a_rows=None,
    a_columns=None,
    b_rows=None,
    b_columns=None,
    scale=None,
    decimals=3,
    colours=("query", "key", "output"),
):
    """Show ``a @ b`` with row i of a, column j of b and cell (i, j) of the product lit, and its sum.

    ``scale`` divides the product (√d_k, for instance). ``colours`` are those of a, b and the product.

    Shapes: a ``(rows, m)``, b ``(m, columns)``. Returns a ``Table``. Used in notebooks 03, 07 and 08.

    Raises ``ValueError`` where sizes do not fit or there is no such row or column.

    >>> product_table(torch.tensor([[2, -1]]), torch.tensor([[2], [0]]), 0, 0).text.splitlines()[-1]
    'scores[1, 1] = 2·2 + (−1)·0 = 4'
    """
    a, b = _matrix(a_name, a), _matrix(b_name, b)
    if a.shape[1] != b.shape[0]:
        raise ValueError(
            f"{a_name} {tuple(a.shape)} @ {b_name} {tuple(b.shape)} does not fit: a row of {a_name} has"
            f" {a.shape[1]} numbers, a column of {b_name} has {b.shape[0]}."
        )
    i, j = _index("i", i), _index("j", j)
    check_index("i", i, a.shape[0], f"rows of {a_name}")
    check_index("j", j, b.shape[1], f"columns of {b_name}")
    out = a @ b if scale is None else a @ b / scale
    tables = side_by_side(
        matrix_table(a, a_rows, a_columns, a_name, decimals, {"rows": [i]}, colour=colours[0]),
        matrix_table(b, b_rows, b_columns, b_name, decimals, {"columns": [j]}, colour=colours[1]),
        matrix_table(out, a_rows, b_columns, out_name, decimals, {"cells": [(i, j)]}, colour=colours[2]),
        between=["·", "=" if scale is None else f"÷ {style.number(scale, decimals)} ="],
    )
    row = a_rows[i] if a_rows is not None else i + 1
    column = b_columns[j] if b_columns is not None else j + 1
    line = f"{out_name}[{row}, {column}] = {cell_sum(a[i], b[:, j], decimals, scale)}"
    return Table(
        f'{tables.html}<p style="font-size:16px;margin:4px 0 10px">{html.escape(line)}</p>',
        f"{tables.text}\n{line}",
    )


def cell_sum(a_row, b_column, decimals=3, scale=None):
    """Write out the dot product of a row and a column, divided by ``scale`` if one is given.

    "=" stands before a number that is exact, "≈" before a rounded one. In long sums the middle is left out.

    Shapes: both ``(m)``.

    >>> cell_sum([2, -1], [2, 0])
    '2·2 + (−1)·0 = 4'
    >>> cell_sum([1, 1], [1, 2], scale=1.5)
    '(1·1 + 1·2) ÷ 1.5 = 2'
    """
    a = as_real_numbers("a_row", a_row).double()
    b = as_real_numbers("b_column", b_column).double()
    if a.dim() != 1 or a.shape != b.shape or not len(a):
        raise ValueError(
            f"a row and a column of the same length are needed, got {tuple(a.shape)} and {tuple(b.shape)}."
        )
    terms = [f"{_factor(x, decimals)}·{_factor(y, decimals)}" for x, y in zip(a, b, strict=True)]
    if len(terms) > TERMS:
        left_out = len(terms) - TERMS + 1
        terms[TERMS - 2 : -1] = [f"… ({left_out} more) …"]
    written, exact = " + ".join(terms), _is_exact(a, decimals) and _is_exact(b, decimals)
    total = a @ b
    if scale is not None:
        written = f"({written}) ÷ {style.number(scale, decimals)}"
        exact = exact and _is_exact(torch.tensor(float(scale)), decimals)
        total = total / scale
    sign = "=" if exact and _is_exact(total, decimals) else "≈"
    return f"{written} {sign} {style.number(total, decimals)}"


@dataclass(frozen=True)
class _Lit:
    rows: frozenset
    columns: frozenset
    cells: frozenset

    @classmethod
    def of(cls, highlight, shape):
        highlight = highlight or {}
        if not isinstance(highlight, dict):
            raise TypeError(f'highlight must be a dict such as {{"rows": [1]}}, got {highlight!r}.')
        unknown = set(highlight) - {"rows", "columns", "cells"}
        if unknown:
            raise ValueError(f'highlight knows "rows", "columns" and "cells", not {sorted(unknown)}.')
        lit = cls(
            *(frozenset(_indices(key, highlight.get(key, ()))) for key in ("rows", "columns")),
            cells=frozenset(_pairs(highlight.get("cells", ()))),
        )
        for i in lit.rows | {i for i, _ in lit.cells}:
            check_index("a lit row", i, shape[0], "rows")
        for j in lit.columns | {j for _, j in lit.cells}:
            check_index("a lit column", j, shape[1], "columns")
        return lit

    def kind(self, i, j):
        return "lit" if i in self.rows or j in self.columns or (i, j) in self.cells else "plain"


def _index(name, index):
    try:
        return operator.index(index)
    except TypeError:
        raise TypeError(f"{name} must be a whole number, got {index!r}.") from None


def _indices(key, indices):
    try:
        # The elements of a tensor are tensors, and no two of those are the same to a set.
        return [operator.index(i) for i in indices]
    except TypeError:
        wanted = f'highlight["{key}"] must be a list of whole numbers such as [1]'
        raise TypeError(f"{wanted}, got {indices!r}.") from None


def _pairs(cells):
    try:
        return [(operator.index(i), operator.index(j)) for i, j in cells]
    except (TypeError, ValueError):
        raise TypeError(
            f'highlight["cells"] must be a list of pairs such as [(row, column)], got {cells!r}.'
        ) from None


def _texts(matrix, decimals):
    if style.whole_numbers(matrix):
        decimals = 0
    return [[style.number(value, decimals, trim=False) for value in row] for row in matrix.tolist()]


def _kept(size, lit):
    """Return the indices to show, with None for a gap."""
    if size <= SHOWN:
        return list(range(size))
    indices = sorted({*range(SHOWN - 2), size - 1, *lit})
    kept = [indices[0]]
    for before, after in itertools.pairwise(indices):
        kept += [after] if after == before + 1 else [None, after]
    return kept


def _factor(value, decimals):
    text = style.number(value, decimals)
    if text == "0" and value:
        text = style.number(value, decimals, trim=False)  # 0.000 is small, and 0 is nothing
    return f"({text})" if text.startswith("−") else text


def _is_exact(values, decimals):
    rounding = (values - values.double().round(decimals=decimals)).abs()
    return bool((rounding < 1e-6).all())  # float32 holds 0.1 this well


def _colour(colour):
    colour = style.COLOURS.get(colour, colour) or style.COLOURS["lit"]
    if not re.fullmatch("#[0-9A-Fa-f]{6}", colour):
        known = ", ".join(style.COLOURS)
        raise ValueError(f'colour must be one of {known}, or look like "#0072B2"; got {colour!r}.')
    return colour


def _matrix(name, matrix):
    matrix = as_real_numbers(name, matrix)
    if matrix.dim() == 1:
        matrix = matrix[None]
    if matrix.dim() != 2 or 0 in matrix.shape:
        raise ValueError(
            f"{name} must have 2 axes, rows and columns, and at least one number; got"
            f" {tuple(matrix.shape)}." + (f" Choose a head or a sentence: {name}[0]." * (matrix.dim() > 2))
        )
    return matrix.double()


def _labels(name, labels, size):
    if labels is None:
        return None
    check_length(name, labels, size, f"{name.removesuffix('s')} of the matrix")
    return [str(label) for label in labels]

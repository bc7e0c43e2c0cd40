"""How the tables of the inspector are written, as HTML and as plain text.

The HTML needs no script and no style sheet. Text keeps the colour of the page and backgrounds are thin
tints, so a table is readable in dark and light themes. What is lit is bold and outlined, not only coloured.
"""

import html
from dataclasses import dataclass

from mha_helpers.style import contrast

_DARK_PAGE = "#111111"  # JupyterLab's dark theme
_CELL = "padding:3px 10px;text-align:right;border:1px solid rgba(128,128,128,.35);font-size:15px;"
_HEAD = "padding:3px 10px;font-size:14px;font-weight:600;border:none;"
_MASKED = (
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


def side_by_side(*tables, between=""):
    """Set tables next to each other; on a narrow page they stand below each other.

    ``between`` is a sign, or a list of one sign for each gap: ``["·", "="]``. Returns a ``Table``.

    Raises ``ValueError`` without a table or where the signs do not fit the gaps, ``TypeError`` for what is
    no ``Table``.
    """
    if not tables:
        raise ValueError("side_by_side got no table: give it at least one, such as matrix_table(x).")
    for table in tables:
        if not isinstance(table, Table):
            raise TypeError(
                f"side_by_side sets tables next to each other, got {type(table).__name__}."
                " Try matrix_table, which makes a table of a matrix; for a list of tables,"
                " side_by_side(*tables)."
            )
    signs = [between] * (len(tables) - 1) if isinstance(between, str) else list(between)
    if len(signs) != len(tables) - 1:
        raise ValueError(
            f"{len(tables)} tables have {len(tables) - 1} gaps, but between has {len(signs)} signs."
        )
    signs = ["", *signs]
    parts = []
    for table, sign in zip(tables, signs, strict=True):
        # A sign stays with the table behind it when the line is too long.
        sign_html = (
            f'<div style="font-size:20px;padding-right:18px">{html.escape(sign)}</div>' if sign else ""
        )
        parts.append(f'<div style="display:flex;align-items:center">{sign_html}<div>{table.html}</div></div>')
    row = '<div style="display:flex;flex-wrap:wrap;align-items:center;gap:8px 18px">'
    texts = [
        f"{sign}\n{table.text}" if sign else table.text for table, sign in zip(tables, signs, strict=True)
    ]
    return Table(f"{row}{''.join(parts)}</div>", "\n".join(texts))


def table_html(grid, rows, columns, name, caption, colour):
    lit = (
        f"background:{_tint(colour)};font-weight:700;outline:2px solid {colour};"
        f"outline:2px solid {_nearer_to_text(colour)};outline-offset:-2px;"
    )
    styles = {"plain": _CELL, "lit": _CELL + lit, "masked": _CELL + _MASKED}
    parts = [
        '<table style="border-collapse:collapse;margin:4px 0 8px;color:inherit;background:transparent;'
        'font-variant-numeric:tabular-nums">'
    ]
    if caption:
        written = f"<b>{html.escape(name)}</b>{html.escape(caption[len(name) :])}"
        parts.append(
            '<caption style="caption-side:top;text-align:left;color:inherit;font-size:15px;'
            'padding:0 0 4px;white-space:nowrap">'
            f'<span style="{_bar(colour)}padding-left:6px">{written}</span></caption>'
        )
    if columns:
        corner = f'<td style="{_HEAD}"></td>' if rows else ""
        heads = "".join(
            f'<th scope="col" style="{_HEAD}text-align:right">{html.escape(text)}</th>' for text in columns
        )
        parts.append(
            f'<thead style="border:none"><tr style="background:transparent">{corner}{heads}</tr></thead>'
        )
    parts.append("<tbody>")
    for i, row in enumerate(grid):
        head = f'<th scope="row" style="{_HEAD}text-align:left">{html.escape(rows[i])}</th>' if rows else ""
        # <b> stays where a site removes the styles
        cells = "".join(
            f'<td style="{styles[kind]}">{f"<b>{text}</b>" if kind == "lit" else text}</td>'
            for text, kind in row
        )
        parts.append(f'<tr style="background:transparent">{head}{cells}</tr>')
    parts.append("</tbody></table>")
    return "".join(parts)


def table_text(grid, rows, columns, caption):
    marks = {"plain": "{}", "lit": "[{}]", "masked": "{}"}
    some_lit = any(kind == "lit" for row in grid for _, kind in row)
    lines = [[marks[kind].format(text) for text, kind in row] for row in grid]
    if some_lit:  # brackets must not push the other numbers out of line
        lines = [
            [text if kind == "lit" else f"{text} " for text, (_, kind) in zip(line, row, strict=True)]
            for line, row in zip(lines, grid, strict=True)
        ]
    if columns:
        lines.insert(0, [f"{text} " if some_lit else text for text in columns])
    widths = [max(len(line[j]) for line in lines) for j in range(len(lines[0]))]
    heads = (["", *rows] if columns else list(rows)) if rows else [""] * len(lines)
    head_width = max(map(len, heads))
    written = [
        "  ".join(
            ([head.ljust(head_width)] if rows else [])
            + [text.rjust(width) for text, width in zip(line, widths, strict=True)]
        ).rstrip()
        for head, line in zip(heads, lines, strict=True)
    ]
    return "\n".join(([caption] if caption else []) + written)


def _bar(colour):
    bar = f"border-left:6px solid {colour};"
    if contrast(colour, _DARK_PAGE) >= 3:
        return bar
    return f"{bar}border-left-color:{_nearer_to_text(colour)};"


def _nearer_to_text(colour):
    # It shows on dark pages too. Browsers that do not know color-mix keep what was said before it.
    return f"color-mix(in srgb,{colour} 65%,currentColor)"


def _tint(colour):
    red, green, blue = (int(colour[start : start + 2], 16) for start in (1, 3, 5))
    return f"rgba({red},{green},{blue},.28)"

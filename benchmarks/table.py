"""A table in Markdown, on the screen and, on request, in README.md between two marks."""

import re
from pathlib import Path

README = Path(__file__).resolve().parent.parent / "README.md"


def markdown(headings, rows):
    """Return the rows as a Markdown table."""
    lines = [headings, ["---"] * len(headings), *rows]
    return "\n".join("| " + " | ".join(str(cell) for cell in line) + " |" for line in lines)


def report(name, headings, rows, write=False):
    """Print the table; with ``write`` also put it into README.md between the marks that carry ``name``.

    Raises ``ValueError`` if README.md has no such marks.
    """
    table = markdown(headings, rows)
    print(table)
    if not write:
        return
    text = README.read_text(encoding="utf-8")
    begin, end = f"<!-- {name} -->", f"<!-- end of {name} -->"
    new, found = re.subn(
        rf"{re.escape(begin)}.*?{re.escape(end)}", f"{begin}\n{table}\n{end}", text, flags=re.DOTALL
    )
    if not found:
        raise ValueError(f"README.md has no place for this table: it needs {begin} and {end}.")
    README.write_text(new, encoding="utf-8")
    print(f"Written into {README.name}.")

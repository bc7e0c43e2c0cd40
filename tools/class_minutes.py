"""How many minutes a part of a page takes in class, worked out from the notebooks themselves.

    python tools/class_minutes.py            # the parts of every page with their minutes
    python tools/class_minutes.py --write    # bring the times in TEACHING.md up to date

An exercise takes the minutes of its heading. The rest of a page takes the minutes of its **Time** line,
shared out among the cells outside "Exercises": a part with a fifth of the cells gets a fifth of the time.
Where that line says "without the aside" or "asides", the cells under a heading "Aside: …" take none of it.
A part is what stands under a heading, or under a bold number such as "**2. One matrix …**".

A run sheet in TEACHING.md is a table `| clock | min | where | what to do |`. Its third column says what the
minutes are made of, with + between the parts:

    02 · Predict + By hand + Exercise 2.1        parts of page 02
    07 · all but Exercises                       the whole page, its exercises left out
    02 · Predict + Talk of 2 min                 and two minutes for what the room says
    Break of 10 min, Paper of 10 questions       minutes as said; a question of the paper takes one
    In hand                                      what is left: this row makes the sum come out
"""

from __future__ import annotations

import argparse
import re
import sys
from dataclasses import dataclass, field
from pathlib import Path

from course_notebooks import course_notebooks, read_notebook, time_line
from in_a_sentence import in_a_sentence

ROOT = Path(__file__).resolve().parent.parent
TEACHING = ROOT / "TEACHING.md"
EXERCISE = re.compile(r"^### (Exercise \d+\.\d+) ★+ · (\d+) min", re.MULTILINE)
HEADING = re.compile(r"^(#{2,3}) +(.+)$", re.MULTILINE)
BOLD_NUMBER = re.compile(r"^\*\*(\d+\. [^*]+?)\.?\*\*", re.MULTILINE)
SHEET = re.compile(r"### .*?(\d+) minutes$")
ROW = re.compile(r"^\| (\d+:\d\d) \| (\d+) \| (.+?) \| (.*) \|$")
SAID = re.compile(r"(?:Break|Arrival|Talk|Paper) of (\d+) (?:min|questions)")
LEAST_IN_HAND, MOST_IN_HAND = 3, 15


@dataclass
class PageTime:
    """A page: the minutes of its Time line, the cells of each part, the minutes of each exercise."""

    minutes: int
    cells: dict = field(default_factory=dict)  # part -> how many cells
    exercises: dict = field(default_factory=dict)  # "Exercise 3.1" -> minutes
    counted: int = 0  # cells outside "Exercises", and outside asides that the Time line leaves out

    def of(self, part: str) -> float:
        """Minutes of one part. Raises KeyError with the name where the page has no such part."""
        if part in self.exercises:
            return self.exercises[part]
        if part == "all but Exercises":
            return self.minutes
        return self.minutes * self.cells[part] / self.counted


def page_time(path: Path) -> PageTime:
    """Read one notebook. A cell counts for its section and for the sub-heading or number it stands under."""
    notebook = read_notebook(path)
    cells = notebook.cells
    minutes, without_asides = time_line(notebook, path.name).groups()
    page = PageTime(int(minutes))
    section, part = "Title", None
    for cell in cells:
        if cell.cell_type == "markdown":
            for level, name in HEADING.findall(cell.source):
                section, part = (name, None) if level == "##" else (section, name)
            if numbered := BOLD_NUMBER.search(cell.source):
                part = numbered.group(1)
            page.exercises |= {name: int(minutes) for name, minutes in EXERCISE.findall(cell.source)}
        aside = without_asides and (part or "").startswith("Aside: ")
        if section == "Exercises" or (part or "").startswith("Exercise ") or aside:
            continue
        page.counted += 1
        for name in {section, part} - {None}:
            page.cells[name] = page.cells.get(name, 0) + 1
    return page


def all_pages() -> dict[str, PageTime]:
    """The number of each page ("03") and its times."""
    return {path.name[:2]: page_time(path) for path in course_notebooks()}


def minutes_of(where: str, pages: dict[str, PageTime]) -> int | None:
    """Minutes of a row's third column, at least 1; None for "In hand". ValueError names what is unknown."""
    if where == "In hand":
        return None
    said = SAID.fullmatch(where)
    if said:
        return int(said.group(1))
    number, _, parts = where.partition(" · ")
    if number not in pages:
        raise ValueError(f"there is no page {number!r} in {where!r}")
    total = 0.0
    for part in parts.split(" + "):
        if said := SAID.fullmatch(part):
            total += int(said.group(1))
            continue
        try:
            total += pages[number].of(part)
        except KeyError:
            known = ", ".join([*pages[number].cells, *pages[number].exercises])
            raise ValueError(f"page {number} has no part {part!r}: choose from {known}") from None
    return max(1, round(total))


def retimed(text: str, pages: dict[str, PageTime]) -> str:
    """TEACHING.md with every clock and every number of minutes worked out again."""
    lines, whole, started = text.splitlines(), None, None
    rows: list[int] = []

    def close() -> None:
        if whole is None:
            return
        found = [ROW.match(lines[i]) for i in rows]
        minutes = [minutes_of(row.group(3), pages) for row in found]
        left = whole - sum(one for one in minutes if one is not None)
        if minutes.count(None) != 1 or not LEAST_IN_HAND <= left <= MOST_IN_HAND:
            raise ValueError(
                f"the sheet of {whole} minutes leaves {left} in hand; it needs one row 'In hand', "
                f"of {LEAST_IN_HAND} to {MOST_IN_HAND} minutes"
            )
        clock = 0
        for i, row, one in zip(rows, found, minutes, strict=True):
            one = left if one is None else one
            lines[i] = f"| {clock // 60}:{clock % 60:02d} | {one} | {row.group(3)} | {row.group(4)} |"
            clock += one

    for i, line in enumerate(lines):
        if line.startswith("#"):
            close()
            started = SHEET.match(line)
            whole, rows = (int(started.group(1)) if started else None), []
        elif whole is not None and ROW.match(line):
            rows.append(i)
    close()
    return "\n".join(lines) + "\n"


@in_a_sentence
def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--write", action="store_true", help="bring TEACHING.md up to date")
    options = parser.parse_args(arguments)
    try:
        pages = all_pages()
    except ValueError as error:
        print(error, file=sys.stderr)
        return 1
    if options.write:
        try:
            TEACHING.write_text(retimed(TEACHING.read_text(encoding="utf-8"), pages), encoding="utf-8")
        except ValueError as error:
            print(f"TEACHING.md: {error}", file=sys.stderr)
            return 1
        return 0
    for number, page in pages.items():
        print(f"{number}: {page.minutes} minutes")
        for part in page.cells:
            print(f"    {page.of(part):5.1f}  {part}")
        for name, minutes in page.exercises.items():
            print(f"    {minutes:5}  {name}")
    return 0


if __name__ == "__main__":
    sys.exit(main())

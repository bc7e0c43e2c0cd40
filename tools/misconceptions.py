"""Draw which misconceptions a class still has, from its answers to the papers before and after.

    python tools/misconceptions.py answers.csv              # answers.png, and the same in words
    python tools/misconceptions.py answers.csv --to class.png

The table has the columns learner, form (A or B), when (before or after), q1 … q10. A cell is a letter, or
empty where nothing was answered. Every wrong letter names a misconception: teaching/key.md says which, and
TEACHING.md says where it is met. A learner counts once for each misconception, however often it shows.
"""

from __future__ import annotations

import argparse
import csv
import io
import re
import sys
from dataclasses import dataclass
from pathlib import Path

from in_a_sentence import in_a_sentence

ROOT = Path(__file__).resolve().parent.parent
QUESTIONS = 10
RIGHT = "right"
NONE_LEFT = "none: every answer that was given is right"
WHEN = ("before", "after")


@dataclass(frozen=True)
class Misconception:
    """A row of the table "Stumbling blocks" in TEACHING.md."""

    number: int
    words: str
    page: str  # where it is met: page and heading


def read_key(text: str | None = None) -> dict[tuple[str, int, str], int | str]:
    """(form, question, letter) -> number of the misconception, or "right"; from teaching/key.md."""
    text = (ROOT / "teaching" / "key.md").read_text(encoding="utf-8") if text is None else text
    key, form = {}, None
    for line in text.splitlines():
        if heading := re.fullmatch(r"## Form ([AB])", line):
            form = heading.group(1)
        elif row := re.match(rf"\| (\d+) \| ([a-e]) \| ({RIGHT}|\d+) \|", line):
            meaning = row.group(3)
            key[form, int(row.group(1)), row.group(2)] = RIGHT if meaning == RIGHT else int(meaning)
    return key


def read_misconceptions(text: str | None = None) -> dict[int, Misconception]:
    """The stumbling blocks of TEACHING.md by number."""
    text = (ROOT / "TEACHING.md").read_text(encoding="utf-8") if text is None else text
    rows = re.findall(r"^\| (\d+) \| (.+?) \| [\d, ]+ \| (.+?) \| .+? \| [\d, ]+ \|$", text, re.MULTILINE)
    return {int(number): Misconception(int(number), words, page) for number, words, page in rows}


def read_answers(lines, key) -> list[dict]:
    """The rows of a class's table. ValueError names the line and what is wrong with it."""
    lines = list(lines)
    first = lines[0] if lines else ""
    # Where a comma is the sign for decimals, a spreadsheet writes semicolons.
    reader = csv.DictReader(lines, delimiter=";" if first.count(";") > first.count(",") else ",")
    wanted = ["form", "when", *(f"q{i}" for i in range(1, QUESTIONS + 1))]
    lacking = [name for name in wanted if name not in (reader.fieldnames or [])]
    if lacking:
        raise ValueError(f"the table has no column {', '.join(lacking)}: its first line must name them")
    rows = []
    for row in reader:
        if not any(cell for cell in row.values()):  # a spreadsheet may leave lines of commas alone
            continue
        place = f"line {reader.line_num}"
        if None in row:
            raise ValueError(f"{place}: more answers than columns, is there a comma too many?")
        form, when = (row["form"] or "").strip().upper(), (row["when"] or "").strip().lower()
        if form not in ("A", "B") or when not in WHEN:
            raise ValueError(f"{place}: form must be A or B, when before or after; found {form!r}, {when!r}")
        answers = {i: (row[f"q{i}"] or "").strip().lower() for i in range(1, QUESTIONS + 1)}
        for question, letter in answers.items():
            if letter and (form, question, letter) not in key:
                raise ValueError(f"{place}: question {question} of form {form} has no answer {letter!r}")
        rows.append({"form": form, "when": when, "answers": answers})
    if not rows:
        raise ValueError("the table has no line with answers")
    return rows


def shares(rows: list[dict], key) -> dict[str, dict[int, float]]:
    """For "before" and "after": misconception -> share of the papers that show it. Empty without papers."""
    result = {}
    for when in WHEN:
        papers = [row for row in rows if row["when"] == when]
        counts = dict.fromkeys({meaning for meaning in key.values() if meaning != RIGHT}, 0)
        for row in papers:
            shown = {
                key[row["form"], question, letter] for question, letter in row["answers"].items() if letter
            }
            for number in shown - {RIGHT}:
                counts[number] += 1
        result[when] = {number: count / len(papers) for number, count in counts.items()} if papers else {}
    return result


def ordered(result: dict[str, dict[int, float]]) -> list[int]:
    """Misconceptions that showed, those that are left most first."""
    last = result["after"] or result["before"]
    other = result["before"] or result["after"]
    shown = [number for number in last if last[number] or other[number]]
    return sorted(shown, key=lambda number: (-last[number], -other[number], number))


def in_words(rows: list[dict], result, names: dict[int, Misconception]) -> str:
    """The picture as text: what is left, how much it was, and the page to go back to."""
    papers = {when: sum(row["when"] == when for row in rows) for when in WHEN}
    lines = [f"Papers before: {papers['before']}, after: {papers['after']}. Share of papers that show it:"]
    blank = sum(not letter for row in rows for letter in row["answers"].values())
    if blank:  # a gap shows no misconception, so it makes every share smaller
        lines[0] = f"Not answered: {blank} of {len(rows) * QUESTIONS}. {lines[0]}"
    for number in ordered(result):
        numbers = [f"{when} {result[when][number]:4.0%}" for when in WHEN if result[when]]
        lines.append(f"{', '.join(numbers)}   {number:2} {names[number].words}   -> {names[number].page}")
    return "\n".join(lines if len(lines) > 1 else [*lines, NONE_LEFT])


def draw(result, names: dict[int, Misconception]):
    """Return the matplotlib figure: a line for each misconception, hollow before and full after."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    numbers = ordered(result)
    figure = Figure(figsize=(11, 1.6 + 0.36 * max(1, len(numbers))), dpi=110, layout="constrained")
    FigureCanvasAgg(figure)
    axes = figure.subplots()
    for place, number in enumerate(numbers):
        before, after = (result[when].get(number) for when in WHEN)
        if before is not None and after is not None:
            axes.plot([100 * before, 100 * after], [place, place], color="#999999", linewidth=2, zorder=1)
        if before is not None:
            axes.scatter(100 * before, place, s=70, facecolor="white", edgecolor="black", zorder=2)
        if after is not None:
            axes.scatter(100 * after, place, s=38, color="black", zorder=3)
    axes.set_yticks(range(len(numbers)), [_label(names[number]) for number in numbers])
    axes.set(xlim=(-3, 103), ylim=(max(1, len(numbers)) - 0.5, -0.5))
    if not numbers:
        axes.text(50, 0, NONE_LEFT, ha="center", va="center")
    axes.set_xlabel("papers that show it, %   (○ before, ● after; most at the top: begin there)")
    axes.set_ylabel("block → the page that meets it")
    axes.set_title("Which misconceptions are left?", loc="left", weight="bold")
    axes.grid(axis="x", color="#dddddd")
    axes.spines[["top", "right", "left"]].set_visible(False)
    axes.tick_params(axis="y", length=0)
    return figure


def _label(name: Misconception) -> str:
    page = name.page.partition(" · ")[0]
    return f"{name.number}. {name.words} → {page}".replace("`", "")


def _text(table: Path) -> str:
    """The text of a table, also as a spreadsheet in Western Europe or as "Unicode text" saves it."""
    content = table.read_bytes()
    if content[:2] in (b"\xff\xfe", b"\xfe\xff"):
        return content.decode("utf-16")
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError:
        return content.decode("cp1252")


@in_a_sentence
def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("answers", type=Path, help="a table (CSV) of the class's answers")
    parser.add_argument("--to", type=Path, help="the picture (default: beside the table, .png)")
    options = parser.parse_args(arguments)
    key, names = read_key(), read_misconceptions()
    try:
        rows = read_answers(io.StringIO(_text(options.answers), newline=""), key)
    except (OSError, ValueError) as error:
        print(f"{options.answers}: {error}", file=sys.stderr)
        return 1
    result = shares(rows, key)
    print(in_words(rows, result, names))
    picture = options.to or options.answers.with_suffix(".png")
    try:
        draw(result, names).savefig(picture)
    except (OSError, ValueError) as error:  # no such folder; a kind of file that matplotlib does not write
        print(f"{picture}: {error}", file=sys.stderr)
        return 1
    print(f"The picture: {picture}")
    return 0


if __name__ == "__main__":
    sys.exit(main())

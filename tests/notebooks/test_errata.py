"""The README's errata: every number in them is what `errata_facts.py` computes, and a cell shows it."""

import re

import pytest
from errata_facts import FACTS
from notebook_page import FOLDER, ROOT, Page, text_of

README = (ROOT / "README.md").read_text(encoding="utf-8")
ERRATA = README.split("\n## Numbers in published tutorials that are wrong\n")[1].split("\n## ")[0]
ROW = re.compile(r"^\| (S\d) \| (.+?) \| (.+?) \| \[\d\d\]\(notebooks/(\w+)\.ipynb\), (.+) \|$", re.MULTILINE)
ROWS = {(source, says): (true, name, place) for source, says, true, name, place in ROW.findall(ERRATA)}
COUNTS = {"two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "eight": 8}
NUMBER = re.compile(rf"(?<![\w.])−?[0-9]+(?:\.[0-9]+)?|(?<=float)[0-9]+|\b(?:{'|'.join(COUNTS)})\b")
UNTOLD = {("S1", "an implicit regulariser")}  # judged in words: there is nothing to compute


def agrees(word, value):
    """Whether a number of the text is this one, as far as it is printed."""
    number = COUNTS.get(word) or float(word.replace("−", "-"))
    if isinstance(value, int):
        return number == value
    decimals = len(word.partition(".")[2])
    return abs(number - value) <= 0.5 * 10**-decimals + 1e-6


def cells_at(cells, place):
    """The cells that a row's last column points at."""
    if match := re.fullmatch(r"(below )?exercise (\d+\.\d+)", place):
        found = part(cells, rf"### Exercise {re.escape(match.group(2))} ", r"##")
        offers = [k for k, cell in enumerate(found) if re.match(r"# ?exercises\.\w+\.hint", cell.source)]
        return found[offers[0] + 1 :] if match.group(1) else found[: offers[0]]
    if match := re.fullmatch(r"What goes wrong (\d+)(?: and (\d+))?", place):
        section = part(cells, "## What goes wrong$", "## ")
        numbers = [number for number in match.groups() if number]
        return [
            c for number in numbers for c in part(section, rf"(###|\*\*) ?{number}( ·|\.)", r"(###|\*\*) ?\d")
        ]
    return part(cells, rf"##+ {re.escape(place)}$", "##")


def part(cells, start, end):
    """The cells from the one with a line that starts like `start` to the next with one like `end`."""
    prose = [cell.source if cell.cell_type == "markdown" else "" for cell in cells]
    starts = [k for k, text in enumerate(prose) if re.search(f"^{start}", text, re.MULTILINE)]
    assert len(starts) == 1, f"{start!r} stands in {len(starts)} cells"
    rest = range(starts[0] + 1, len(cells))
    ends = [k for k in rest if re.search(f"^{end}", prose[k], re.MULTILINE)]
    return cells[starts[0] : min(ends, default=len(cells))]


def told(cells):
    """What the stored outputs say, without the checks that wait for the learner."""
    outputs = [text_of(output) for cell in cells if cell.cell_type == "code" for output in cell.outputs]
    return "\n".join(line for line in "\n".join(outputs).splitlines() if "not attempted yet" not in line)


def test_every_row_has_a_fact_and_every_fact_a_row():
    rows = [line for line in ERRATA.splitlines() if line.startswith("| S")]
    assert len(ROWS) == len(rows)
    assert ROWS.keys() == FACTS.keys()


@pytest.mark.parametrize("row", FACTS, ids=" ".join)
def test_the_numbers_are_computed_again(row):
    text, values = ROWS[row][0], FACTS[row][0]() or []
    words = NUMBER.findall(text)
    assert len(words) == len(values), (words, values)
    wrong = [(word, value) for word, value in zip(words, values, strict=True) if not agrees(word, value)]
    assert not wrong, f"the README says, and it is: {wrong}"


@pytest.mark.parametrize("row", FACTS, ids=" ".join)
def test_the_place_shows_it(row):
    _, name, place = ROWS[row]
    output = told(cells_at(Page(FOLDER / f"{name}.ipynb").cells, place))
    shown = FACTS[row][1]
    assert shown or row in UNTOLD
    for words in shown:
        assert words in output, f"{name}, {place} does not show {words!r}"

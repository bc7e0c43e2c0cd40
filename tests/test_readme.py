"""The README says what is there: every notebook with its title, its minutes, its exercises; no dead link."""

import re
from pathlib import Path

import nbformat
import pytest

ROOT = Path(__file__).resolve().parents[1]
README = (ROOT / "README.md").read_text(encoding="utf-8")
ROWS = dict(re.findall(r"^\| \[[^\]]+\]\(notebooks/(\w+)\.ipynb\) \|(.*)\|$", README, re.MULTILINE))
NOTEBOOKS = sorted((ROOT / "notebooks").glob("*.ipynb"))


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_the_row_of_a_notebook_is_true(path):
    cells = nbformat.read(path, as_version=4).cells
    prose = "\n".join(cell.source for cell in cells if cell.cell_type == "markdown")
    title = re.match(r"# (.+)", cells[0].source).group(1)
    minutes = re.search(r"\*\*Time\*\* (\d+)", cells[0].source).group(1)
    exercises = len(re.findall(r"^### Exercise ", prose, re.MULTILINE))
    told = [part.strip() for part in ROWS[path.stem].split("|")]
    assert told == [title, minutes, str(exercises)]


def test_the_start_page_asks_the_same_questions():
    start = nbformat.read(ROOT / "notebooks" / "00_start_here.ipynb", as_version=4)
    text = "\n".join(cell.source for cell in start.cells)
    for name, row in ROWS.items():
        if not name.startswith("00"):
            assert f"({name}.ipynb) | {row.split('|')[0].strip()} |" in text


def test_links_lead_somewhere():
    for target in re.findall(r"\]\(([^)#\s]+)[^)]*\)", README):
        if not target.startswith(("http://", "https://")):
            assert (ROOT / target).exists(), target


def test_errata_name_headings_that_exist():
    rows = re.findall(r"^\| S\d \|.*\| \[\d\d\]\(notebooks/(\w+)\.ipynb\), (.+) \|$", README, re.MULTILINE)
    assert len(rows) > 10
    for name, place in rows:
        cells = nbformat.read(ROOT / "notebooks" / f"{name}.ipynb", as_version=4).cells
        prose = "\n".join(cell.source for cell in cells if cell.cell_type == "markdown")
        headings = re.findall(r"^#+ (.+)$", prose, re.MULTILINE)
        exercise = re.fullmatch(r"(?:below )?exercise (\d+\.\d+)", place)
        if exercise:
            assert any(heading.startswith(f"Exercise {exercise.group(1)} ") for heading in headings), place
        elif place.startswith("What goes wrong"):
            for number in re.findall(r"\d+", place):
                wrong = prose.split("## What goes wrong")[1].split("\n## ")[0]
                assert re.search(rf"^(\*\*|### ){number}( ·|\.)", wrong, re.MULTILINE), (name, place)
        else:
            assert place in headings, (name, place)

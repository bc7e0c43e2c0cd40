"""The README says what is there: every notebook with its title, its minutes, its exercises; no dead link."""

import re
from pathlib import Path

import nbformat
import pytest
from course_notebooks import course_notebooks

ROOT = Path(__file__).resolve().parents[1]
README = (ROOT / "README.md").read_text(encoding="utf-8")
ROW = re.compile(r"^\| \[[^\]]+\]\(notebooks/(?:real_model/)?(\w+)\.ipynb\) \|(.*)\|$", re.MULTILINE)
ROWS = dict(ROW.findall(README))
NOTEBOOKS = course_notebooks()


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_the_row_of_a_notebook_is_true(path):
    cells = nbformat.read(path, as_version=4).cells
    prose = "\n".join(cell.source for cell in cells if cell.cell_type == "markdown")
    title = re.match(r"# (.+)", cells[0].source).group(1)
    minutes = re.search(r"\*\*Time\*\* (\d+)", cells[0].source).group(1)
    exercises = len(re.findall(r"^### Exercise ", prose, re.MULTILINE))
    told = [part.strip() for part in ROWS[path.stem].split("|")]
    assert told == [title, minutes, str(exercises)]


def test_every_notebook_has_one_row():
    assert [name for name, _ in ROW.findall(README)] == [path.stem for path in NOTEBOOKS]


def test_the_start_page_asks_the_same_questions():
    start, *others = NOTEBOOKS
    text = "\n".join(cell.source for cell in nbformat.read(start, as_version=4).cells)
    for path in others:
        link = path.relative_to(start.parent).as_posix()
        more = " It needs one more package." if link.startswith("real_model/") else ""
        assert f"({link}) | {ROWS[path.stem].split('|')[0].strip()}{more} |" in text


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

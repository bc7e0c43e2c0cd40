"""TEACHING.md against what exists: times, headings, exercises, questions, links."""

import re

import class_minutes
import misconceptions
import pytest

from mha_helpers.exercises import framework

ROOT = class_minutes.ROOT
GUIDE = (ROOT / "TEACHING.md").read_text(encoding="utf-8")
BLOCK = re.compile(
    r"^\| (\d+) \| (.+?) \| ([\d, ]+) \| (\d\d) · (.+?) \| (.+?) \| ([\d, ]+) \|$", re.MULTILINE
)
BLOCKS = BLOCK.findall(GUIDE)


@pytest.fixture(scope="module")
def pages():
    return class_minutes.all_pages()


def sheets():
    """Minutes of the sheet -> its rows (clock, minutes, where, what to do)."""
    found, rows = {}, None
    for line in GUIDE.splitlines():
        if line.startswith("#"):
            heading = class_minutes.SHEET.match(line)
            rows = found.setdefault(int(heading.group(1)), []) if heading else None
        elif rows is not None and (row := class_minutes.ROW.match(line)):
            rows.append(row.groups())
    return found


def exercise_numbers():
    """Numbers of the exercises that stand in a notebook."""
    texts = [path.read_text(encoding="utf-8") for path in (ROOT / "notebooks").glob("*.ipynb")]
    return {number for text in texts for number in re.findall(r"### Exercise (\d+\.\d+) ★", text)}


def test_both_run_sheets_are_there():
    assert sorted(sheets()) == [90, 180]


@pytest.mark.parametrize("whole", [90, 180])
def test_the_minutes_of_a_sheet_add_up_to_its_title(whole):
    clock = 0
    for start, minutes, where, _ in sheets()[whole]:
        assert start == f"{clock // 60}:{clock % 60:02d}", f"the row “{where}” begins at the wrong time"
        clock += int(minutes)
    assert clock == whole


def test_every_time_is_the_one_worked_out_from_the_pages(pages):
    assert class_minutes.retimed(GUIDE, pages) == GUIDE, "run tools/class_minutes.py --write"


def test_asides_take_none_of_the_time_of_a_page_that_leaves_them_out(pages):
    page = pages["09"]
    parts = ["Title", "Where we are", "Predict", "By hand", "In PyTorch", "See it", "Play", "What goes wrong"]
    rest = ["Shape ledger", "Recap"]
    assert not [part for part in page.cells if part.startswith("Aside: ")]
    assert sum(page.of(part) for part in [*parts, *rest]) == pytest.approx(25)


@pytest.mark.parametrize("whole", [90, 180])
def test_a_sheet_has_a_break_and_exercises(whole):
    places = [where for _, _, where, _ in sheets()[whole]]
    assert sum(where.startswith("Break") for where in places) == 1
    assert sum(where.count("Exercise ") for where in places) >= (3 if whole == 90 else 9)


def test_the_long_sheet_meets_every_page():
    met = {where[:2] for _, _, where, _ in sheets()[180]}
    assert {f"{page:02d}" for page in range(10)} <= met


def test_a_page_that_gets_longer_changes_the_sheet(pages):
    """The recomputation itself: one more minute in a heading moves the clock of all that follows."""
    pages["03"].exercises["Exercise 3.3"] += 1
    try:
        changed = class_minutes.retimed(GUIDE, pages)
    finally:
        pages["03"].exercises["Exercise 3.3"] -= 1
    assert changed != GUIDE


@pytest.mark.parametrize("where", ["12 · Predict", "03 · Predikt", "03 · Exercise 3.9"])
def test_what_does_not_exist_is_named(pages, where):
    with pytest.raises(ValueError, match="no p"):
        class_minutes.minutes_of(where, pages)


def test_a_sheet_that_is_too_full_is_refused(pages):
    row = "| 0:00 | 0 | Break of 10 min | tea |"
    with pytest.raises(ValueError, match="leaves 0 in hand"):
        class_minutes.retimed(
            "### A class of 20 minutes\n" + (row + "\n") * 2 + "| 0:00 | 0 | In hand | x |\n", pages
        )


def test_a_damaged_notebook_is_named(tmp_path, monkeypatch, capsys):
    page = tmp_path / "03_qk_scores.ipynb"
    page.write_text("# Not JSON", encoding="utf-8")
    monkeypatch.setattr(class_minutes, "course_notebooks", lambda: [page])
    assert class_minutes.main([]) == 1
    assert capsys.readouterr().err == f"{page}: this is no notebook\n"


# --- the stumbling blocks -------------------------------------------------------------------------------


def test_there_are_twenty_four_blocks():
    assert [int(row[0]) for row in BLOCKS] == list(range(1, 25))


@pytest.mark.parametrize("row", BLOCKS, ids=[row[0] for row in BLOCKS])
def test_a_block_is_met_in_a_sheet_a_page_a_check_and_a_question(row, pages):
    number, _, in_sheets, page, heading, check, questions = row
    assert heading in pages[page].cells, f"page {page} has no heading “{heading}”"
    for whole in in_sheets.split(", "):
        met = [where for _, _, where, _ in sheets()[int(whole)] if where.startswith(f"{page} · ")]
        parts = {part for where in met for part in where.split(" · ", 1)[1].split(" + ")}
        section = section_of(page, heading)
        assert {heading, section, "all but Exercises"} & parts, f"the sheet of {whole} leaves out {heading}"
    # What is no exercise is a cell of the page; tests of their own provoke the faults that these cells tell of.
    cells = {
        "check_environment": "ready = check_environment()",
        "the set-up cell": "raise ModuleNotFoundError(",
        "explorer.state()": "weights = explorer.state()",  # what it says moves with the control
    }
    if check in cells:
        assert cells[check] in notebook_text(page)
    else:
        assert check.removeprefix("Exercise ") in exercise_numbers()
    key = misconceptions.read_key()
    for form in "AB":
        asked = {
            question
            for (its_form, question, _), meaning in key.items()
            if (its_form, meaning) == (form, int(number))
        }
        assert asked == {int(question) for question in questions.split(", ")}


def notebook_text(page):
    (path,) = (ROOT / "notebooks").glob(f"{page}_*.ipynb")
    return path.read_text(encoding="utf-8")


def section_of(page, heading):
    """The ## section in which a heading stands."""
    section = None
    for line in re.findall(r'"(?:#{2,3} |\*\*\d)[^\n]*', notebook_text(page)):
        text = line.strip('"').replace("\\n", "").rstrip('",')
        if text.startswith("## "):
            section = text[3:]
        if heading in text:
            return section
    raise AssertionError(f"page {page} has no “{heading}”")


# --- goals, notes, links --------------------------------------------------------------------------------


def test_the_exercises_of_the_goals_exist():
    goals = re.findall(r"^\| … .+? \| (.+?) \|$", GUIDE, re.MULTILINE)
    assert len(goals) >= 10
    named = {number for goal in goals for number in re.findall(r"Exercise (\d+\.\d+)", goal)}
    assert named <= exercise_numbers()


def test_every_exercise_named_anywhere_exists():
    assert set(re.findall(r"[Ee]xercises? (\d+\.\d+)", GUIDE)) <= exercise_numbers()


@pytest.mark.parametrize("page", [f"{page:02d}" for page in range(10)])
def test_every_page_has_notes(page):
    notes = re.search(rf"^### Page {page}\n(.*?)(?=^##)", GUIDE, re.MULTILINE | re.DOTALL).group(1)
    for word in ("**Project**", "**Ask**", "**They say**", "**Move**", "**Stuck**"):
        assert word in notes


def test_links_lead_somewhere():
    anchors = {
        re.sub(r"[^a-z0-9 -]", "", heading.lower()).strip().replace(" ", "-")
        for heading in re.findall(r"^#{1,3} (.+)$", GUIDE, re.MULTILINE)
    }
    for target in re.findall(r"\]\(([^)]+)\)", GUIDE):
        if target.startswith("#"):
            assert target[1:] in anchors, target
        elif "://" not in target:
            assert (ROOT / target.split("#")[0]).exists(), target


def test_the_tools_it_names_exist():
    for name in set(re.findall(r"tools/(\w+\.py)", GUIDE)):
        assert (ROOT / "tools" / name).exists(), name
    for command in set(re.findall(r"course\.py (\w+)", GUIDE)):
        assert f'"{command}": (' in (ROOT / "tools" / "commands.py").read_text(encoding="utf-8")


def test_the_framework_prints_what_homework_reads(capsys):
    exercise = framework.Exercise(
        "99.1", "t", stars=1, minutes=1, variable="a", praise="p", hints=("h",), solution="a = 1"
    )
    try:
        exercise.check(...)
    finally:
        framework._registry.pop("99.1")
    import homework

    assert homework.VERDICT.findall(capsys.readouterr().out)[0][:2] == ("99.1", "not attempted yet")

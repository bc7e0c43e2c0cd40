"""Every stored page keeps the contract of the course: sizes (`python -m tools.page`), order, exercises, outputs."""

import copy
import dis
import itertools
import re

import pytest

from tools import notebook
from tools.notebook import ROOT, exercises_in
from tools.page import AT_MOST, EXPLORER, OTHER_SIZES, Page, stored_pages
from tools.teach import spoken_notes

SECTIONS = ["Where we are", "Predict", "By hand", "In PyTorch", "See it", "Play", "What goes wrong"]
SECTIONS += ["Exercises", "Our attention so far", "Shape ledger", "Recap"]
LARGEST = 600_000  # bytes: beyond this GitHub and slow connections show a page late or not at all
FOLDERS = "home|root|Users|tmp|work|usr|opt|var"
MACHINE = re.compile(rf"\b0x[0-9a-f]{{6,}}|/(?:{FOLDERS})/\w|\b[A-Z]:\\\w|site-packages")

TEACHING = (ROOT / "TEACHING.md").read_text(encoding="utf-8")
PAGES = stored_pages()
STEPS = [page for page in PAGES if page.is_step]
SITTING = [page for page in PAGES if page.name == "one_sitting"]


def of(pages):
    return pytest.mark.parametrize("page", pages, ids=lambda page: page.name)


@of(PAGES)
def test_a_page_is_no_larger_than_agreed(page: Page):
    allowed = OTHER_SIZES.get(page.name, AT_MOST)
    too_large = {what: page.sizes[what] for what, most in allowed.items() if page.sizes[what] > most}
    assert not too_large, f"{page.name}: {page.sizes}"
    assert page.path.stat().st_size <= LARGEST


@of(PAGES)
def test_a_page_opens_with_its_question_and_folded_set_up(page):
    first, setup = page.cells[:2]
    assert first.source.startswith("# ")
    assert setup.source == notebook.setup_cell(notebook.repository_of(setup.source))
    assert setup.metadata == notebook.SETUP_METADATA
    if page.is_step:
        assert first.source.splitlines()[0].endswith("?")
        starts = [first.source.find(f"**{what}**") for what in ("You will be able to", "You need", "Time")]
        assert -1 not in starts and starts == sorted(starts)


def test_no_two_cells_of_the_course_have_one_id():
    ids = [cell.id for page in PAGES for cell in page.cells]
    assert len(ids) == len(set(ids))


@of(PAGES)
def test_a_page_is_in_the_stored_form(page):
    """Ids, counts, metadata, bare pictures, no widget: bringing it into that form again changes nothing."""
    again = copy.deepcopy(page.notebook)
    notebook.normalise(again, page.path)
    assert notebook.as_text(again) == page.path.read_text(encoding="utf-8"), "run python -m tools.refresh"


@of(PAGES)
def test_outputs_show_no_fault_and_nothing_of_one_machine_and_pictures_are_told_in_words(page):
    assert page.outputs() and notebook.faults_of(page.cells) == []
    for cell, output in page.outputs():
        said = str({key: value for key, value in output.get("data", output).items() if key != "image/png"})
        assert not MACHINE.search(said), f"{cell.id}: {MACHINE.search(said).group()}"
        if "image/png" in output.get("data", {}):
            alt = output.metadata.get("image/png", {}).get("alt", "")
            assert len(alt.split()) >= 3, f"{cell.id}: a picture without a text that stands for it"
    for cell in page.cells:
        assert not MACHINE.search(cell.source), f"{cell.id} names a place on one machine"
    assert not re.search(r"!\[\s*\]\(", page.text)


@of(PAGES)
def test_links_lead_somewhere_and_foldings_open(page):
    for address in re.findall(r"\]\(([^)\s]+)\)", page.text):
        if not re.match(r"https?://", address):
            file, _, heading = address.partition("#")
            target = page.path.parent / (file or page.path.name)
            assert target.exists(), address
            if heading:
                headings = re.findall(r"^#+ (.+)$", Page(target).text, re.MULTILINE)
                assert heading in [name.strip().replace(" ", "-") for name in headings], address
                # JupyterLab and GitHub keep capitals in an anchor, a Jupyter Book writes all of it small.
                assert heading == heading.lower(), f"{address}: no target in a Jupyter Book"
    # Markdown inside <details> is set only after a blank line, and only if the block is closed.
    opened = page.text.count("<details>")
    assert opened == page.text.count("</details>")
    assert opened == len(re.findall(r"<summary>[^\n]*</summary>[ \t]*\n[ \t]*\n", page.text))


@of(PAGES)
def test_a_page_asks_the_exercises_of_its_module_as_they_stand_there(page):
    """Each in three cells. But for the sitting: all of them, of no other page, and above them what they need."""
    known = {cells[0]: (exercise, list(cells)) for exercise, cells in exercises_in(page.notebook)}
    sources = [cell.source for cell in page.cells]
    asked = [index for index, source in enumerate(sources) if source.startswith("### Exercise")]
    assert bool(asked) == bool(known)
    for index in asked:
        assert sources[index] in known, sources[index]
        exercise, cells = known[sources[index]]
        assert sources[index : index + 3] == cells, sources[index]
        above = [cell.source for cell in page.cells[:index] if cell.cell_type == "code"]
        missing = names_made_by(exercise.page_code) - names_made_by("\n\n".join(above))
        assert not missing, f"{exercise.number}: above it no cell of the page makes {missing}"
    if page.name != "one_sitting":
        folder = ("d" if page.path.parent.name == "deeper" else "p") + page.name
        imported = {name for cell in page.code for name, _ in notebook.EXERCISES.findall(cell.source)}
        assert imported == ({folder} if (ROOT / "mha_course" / folder / "exercises.py").exists() else set())
        first = folder[0].replace("p", "").upper() + str(int(page.number))  # "12", "D12"
        # test_every_exercise.py counts them.
        assert all(exercise.number.startswith(f"{first}.") for exercise, _ in known.values())
        assert sum(exercise.stars == 3 for exercise, _ in known.values()) <= 1
        assert [sources[index] for index in asked] == [cells[0] for _, cells in exercises_in(page.notebook)]


@of([page for page in PAGES if page.name != "one_sitting"])
def test_the_minutes_stated_are_those_of_a_reader_and_those_of_the_table_of_readme(page):
    reading, exercises = page.stated_minutes()
    measured = page.sizes["minutes of reading"]
    assert measured - 2 <= reading <= 1.75 * measured, page.sizes
    assert exercises == page.sizes["minutes of exercises"]
    if page.number.isdigit() and page.path.parent.name != "deeper":
        row = rf"^\| \[{page.number} .*\]\(notebooks/{page.name}\.ipynb\) \|.*\| {reading} \+ {exercises} \|$"
        readme = (ROOT / "README.md").read_text(encoding="utf-8")
        assert re.search(row, readme, re.MULTILINE), f"no row of the README's table is like {row}"


@of(STEPS)
def test_a_step_has_its_sections_in_order_and_in_them_what_they_are_for(page):
    expected = [name for name in SECTIONS if (page.number, name) != ("01", "Our attention so far")]
    assert [name for name in page.sections if name != "top"] == expected
    question, folded, _ = page.source("Predict", "markdown").partition("<details>")
    assert "?" in question and folded
    assert "<summary>Open the answer once you have given yours</summary>" in page.text
    play = page.sections["Play"]
    shown = next(i for i, cell in enumerate(play) if EXPLORER.search(cell.source))
    assert any("**Try this.**" in cell.source for cell in play[:shown] if cell.cell_type == "markdown")
    ours = [cell for cell in page.sections.get("Our attention so far", []) if cell.cell_type == "code"]
    assert page.number == "01" or any(cell.outputs for cell in ours)
    assert page.number in ("01", "09") or any("# new" in cell.source for cell in ours)


@of(PAGES)
def test_what_answers_a_question_above_is_folded(page):
    """Right below “say yours” the stored output would answer; explorers are to be seen, and moved."""
    for asks, cell in itertools.pairwise(page.cells):
        if "once you have given yours" in asks.source and cell.cell_type == "code" and cell.outputs:
            assert "answer" in cell.metadata.get("tags", []) or EXPLORER.search(cell.source), cell.id


@of([page for page in STEPS if page.number <= "08"] + [page for page in PAGES if page.number == "00"])
def test_a_page_leads_to_the_next(page):
    following = next(other for other in STEPS if int(other.number) == int(page.number) + 1)
    assert re.search(rf"\*\*Next:\*\* [^\n]*\]\({following.path.name}\)", page.cells[-1].source)


@of(SITTING)
def test_the_sitting_leaves_time_for_the_room_and_teaching_plans_it_as_it_is(page):
    headings = re.findall(r"^#+ (.*?) · (\d+) min\b", page.text, re.MULTILINE)
    assert sum(int(minutes) for _, minutes in headings) == 75
    planned = re.findall(r"^\| (\d+) \| (.*?) \|", TEACHING.split("## 180 minutes")[0], re.MULTILINE)
    assert [(heading, minutes) for minutes, heading in planned] == headings
    assert list(spoken_notes(page.path)) == [heading for heading, _ in headings]


def test_teaching_plans_180_minutes_of_the_pages_as_they_are():
    text = TEACHING.split("## 180 minutes")[1].split("## Page by page")[0]
    pages = {page.number: page for page in PAGES if page.path.parent.name == "notebooks"}
    planned = re.findall(r"^\| (\d+) \| (\d\d) \| (.*) \|$", text, re.MULTILINE)
    for minutes, number, parts in planned:
        page, needed = pages[number], 0
        of_exercise = {f"exercise {number}": time for number, _, time in page.exercises()}
        for part in parts.split(" · "):
            exercise = re.match(r"exercise [\d.]+\d|", part).group()
            needed += of_exercise[exercise] if exercise else page.minutes[part]
        assert abs(needed - int(minutes)) <= 1, f"page {number}: {needed:.1f}"
    total = sum(int(minutes) for minutes, *_ in planned)
    said = re.search(r"exercises: (\d+)\. The break takes (\d+), and (\d+) are for the room", text)
    assert [total, 180 - total] == [int(said[1]), int(said[2]) + int(said[3])]


@of(SITTING)
def test_cells_of_the_sitting_may_run_in_any_order(page):
    """No cell gives another meaning to a name of an earlier one; what a learner writes may be replaced by ours."""
    kept = [cell.source for cell in page.code if ".or_ours(" not in cell.source]
    bound = [name for source in kept for name in names_made_by(source)]
    assert not {name for name in bound if bound.count(name) > 1}


def names_made_by(source):
    """The functions, classes, variables and imported names that a cell leaves behind."""
    return {step.argval for step in dis.get_instructions(source) if step.opname == "STORE_NAME"}

"""What the commands make for a teacher: the edition with solutions, the handout, the slides' cells."""

import os
import re
import subprocess
import sys

import make_handout
import make_slides
import make_teacher_edition
import nbformat
import pytest
from course_notebooks import course_notebooks
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, new_output

from mha_helpers import style

ROOT = make_slides.ROOT
NOTEBOOKS = sorted((ROOT / "notebooks").glob("[0-9]*.ipynb"))


# --- the teacher edition --------------------------------------------------------------------------------


@pytest.mark.parametrize("path", NOTEBOOKS, ids=[path.stem for path in NOTEBOOKS])
def test_the_teacher_edition_is_solved_and_passes_strict_nbval(path):
    # Beside the notebooks' folder, or the set-up cell would not find the helpers.
    folder = ROOT / "dist" / "tests" / f"teacher-{path.stem}"
    assert make_teacher_edition.make(path, folder) == []
    made = folder / path.name
    notebook = nbformat.read(made, as_version=4)
    text = "\n".join(cell.source for cell in notebook.cells)
    assert "<details>" not in text and not make_teacher_edition.HELP.search(text)
    assert text.count("> **For the teacher.** Exercise") == len(
        re.findall(r"^### Exercise \d", text, re.MULTILINE)
    )
    command = [
        sys.executable,
        "-m",
        "pytest",
        "-q",
        "--nbval",
        "--nbval-current-env",
        "--nbval-cell-timeout=120",
    ]
    command += ["-p", "no:randomly", "-p", "no:cacheprovider", str(made)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=500)
    assert done.returncode == 0, done.stdout[-3000:]


LINK = re.compile(r"\]\(([^)#:]+\.ipynb)[^)]*\)")


def test_links_of_the_teacher_edition_lead_to_pages(tmp_path):
    made = {path.name for path in course_notebooks()}
    for path in course_notebooks():
        edition = make_teacher_edition.teacher_edition(nbformat.read(path, as_version=4), path.name[:2])
        make_teacher_edition.mend_links(edition, path, tmp_path)
        links = [link for cell in edition.cells for link in LINK.findall(cell.source)]
        assert links, path.name
        assert all(link in made or (tmp_path / link).resolve() in course_notebooks() for link in links), links


def test_an_unsolved_check_is_reported():
    cell = new_code_cell(
        "exercises.a.check(x)", outputs=[new_output("stream", text="Exercise 1.1: not yet. No.\n")]
    )
    assert make_teacher_edition.unsolved(new_notebook(cells=[cell])) == ["Exercise 1.1: not yet. No."]
    cell.outputs = []
    assert make_teacher_edition.unsolved(new_notebook(cells=[cell])) == ["1 checks, and 0 answers"]


def test_a_solution_brings_the_imports_that_the_page_lacks():
    assert make_teacher_edition.missing_imports("y = merge_heads(math.pi)", set()) == (
        "import math\nfrom mha_helpers import merge_heads"
    )
    assert make_teacher_edition.missing_imports("y = math.sqrt(2)", {"math"}) == ""


@pytest.mark.parametrize("tool", [make_slides, make_teacher_edition], ids=["slides", "teacher"])
def test_a_file_that_is_no_notebook_is_named(tool, tmp_path, capsys):
    text = tmp_path / "words.md"
    text.write_text("no notebook", encoding="utf-8")
    assert tool.main([str(text), "--to", str(tmp_path / "made")]) == 1
    said = capsys.readouterr()
    assert f"{text}: this is no notebook" in said.err + said.out


def test_a_sentence_for_many_wrong_answers_stands_once():
    from mha_helpers.exercises import e09_concat_and_output

    exercise = e09_concat_and_output.three_bugs
    note = make_teacher_edition.note_on(exercise)
    sentences = {mistake.sentence for mistake in exercise.mistakes}
    assert len(sentences) < len(exercise.mistakes)
    assert all(note.count(f": {sentence}") == 1 for sentence in sentences)


# --- the handout ----------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def page():
    with style.drawing():
        page = make_handout.handout()
        page.figure.canvas.draw()
    return page


def test_the_handout_is_one_page_a4(tmp_path):
    assert make_handout.main(["--to", str(tmp_path)]) == 0
    pdf = (tmp_path / "handout.pdf").read_bytes()
    assert len(re.findall(rb"/Type */Page\b", pdf)) == 1
    box = [float(number) for number in re.search(rb"/MediaBox *\[([^]]+)\]", pdf).group(1).split()]
    assert box[2] == pytest.approx(595.3, abs=1) and box[3] == pytest.approx(841.9, abs=1)
    assert (tmp_path / "handout.png").read_bytes()[:4] == b"\x89PNG"


def test_no_text_of_the_handout_is_cut_or_lies_on_another(page):
    texts = [text for text in page.axes.texts if text.get_text()]
    boxes = [text.get_window_extent() for text in texts]
    millimetre = make_handout.DPI / 25.4
    for text, box in zip(texts, boxes, strict=True):
        words = text.get_text()
        assert box.x0 >= 10 * millimetre and box.x1 <= (make_handout.RIGHT + 1) * millimetre, words
        assert box.y0 >= 5 * millimetre and box.y1 <= page.figure.bbox.y1 - 5 * millimetre, words
    for i, one in enumerate(boxes):
        for j in range(i):
            wide = min(one.x1, boxes[j].x1) - max(one.x0, boxes[j].x0)
            high = min(one.y1, boxes[j].y1) - max(one.y0, boxes[j].y0)
            assert wide <= 1 or high <= 3, f"{texts[i].get_text()!r} lies on {texts[j].get_text()!r}"


def test_the_handout_is_black_and_white(page):
    for patch in page.axes.patches:
        red, green, blue, _ = patch.get_facecolor()
        assert red == green == blue
    assert {text.get_color() for text in page.axes.texts} <= {"black", "white"}


# --- slides ---------------------------------------------------------------------------------------------


def shown(cell, kind="slide", tmp_path=None):
    cell.metadata["slideshow"] = {"slide_type": kind}
    return make_slides.slides_of(new_notebook(cells=[cell]), "99_test", tmp_path)


def test_the_answer_waits_for_a_key_press():
    (slide,) = shown(
        new_markdown_cell("Why?\n\n<details>\n<summary>Answer</summary>\n\nBecause **so**.\n\n</details>")
    )
    assert "details" not in slide and "summary" not in slide
    assert (
        slide.index("Why?")
        < slide.index('<div class="fragment answer">')
        < slide.index("<strong>so</strong>")
    )


@pytest.mark.parametrize("kind", ["skip", "notes"])
def test_what_is_skipped_stays_in_the_notebook(kind):
    assert shown(new_markdown_cell("private"), kind) == []


def test_a_wall_of_code_is_left_out_and_its_result_stays():
    long = "\n".join(f"x{i} = {i}" for i in range(make_slides.LONGEST_CODE + 1))
    cell = new_code_cell(long, outputs=[new_output("stream", text="a < b\n")])
    (slide,) = shown(cell, "fragment")
    assert "x3" not in slide and "a &lt; b" in slide
    short = "\n".join(long.splitlines()[: make_slides.LONGEST_CODE])
    assert "x3" in shown(new_code_cell(short), "fragment")[0]


def test_code_at_the_top_of_a_slide_may_be_longer():
    lines = [f"x{i} = {i}" for i in range(make_slides.LONGEST_ALONE)]
    assert "x3" in shown(new_code_cell("\n".join(lines)), "subslide")[0]
    assert shown(new_code_cell("\n".join([*lines, "y = 1"])), "subslide") in ([], [""])


@pytest.mark.parametrize("path", course_notebooks(), ids=lambda path: path.stem)
def test_no_slide_begins_with_code_that_is_not_shown(path, tmp_path):
    for cell in nbformat.read(path, as_version=4).cells:
        if cell.cell_type == "code" and make_slides.slide_type(cell) in ("slide", "subslide"):
            assert make_slides.code(cell, "picture", tmp_path), cell.id


def test_the_picture_of_an_explorer_says_that_it_is_live_in_the_notebook(tmp_path):
    picture = new_output("display_data", data={"image/png": "AAAA", "text/plain": "three heads"})
    (explorer,) = shown(new_code_cell("panel = mask_explorer()\npanel", outputs=[picture]), tmp_path=tmp_path)
    (still,) = shown(new_code_cell("heatmap(weights)", outputs=[picture]), tmp_path=tmp_path)
    assert make_slides.LIVE in explorer and make_slides.LIVE not in still


def test_imports_and_drawing_are_no_code_to_show():
    source = "from mha_helpers import (\n    a,\n    b,\n)\nimport math\n\ny = a(math.pi)\nmatrix_table(\n    y,\n)"
    assert make_slides.worth_showing(source) == ["y = a(math.pi)"]


def test_without_npm_the_command_says_so_in_one_sentence(monkeypatch, tmp_path):
    monkeypatch.setattr(make_slides.shutil, "which", lambda name: None)
    with pytest.raises(SystemExit, match="there is no npm on this machine"):
        make_slides.package("katex", tmp_path)


def test_a_package_with_another_checksum_is_refused(monkeypatch, tmp_path):
    def pack(command, **more):
        (tmp_path / "katex-0.16.11.tgz").write_bytes(b"something else")
        return subprocess.CompletedProcess(command, 0, "", "")

    monkeypatch.setattr(make_slides.shutil, "which", lambda name: "npm")
    monkeypatch.setattr(make_slides.subprocess, "run", pack)
    with pytest.raises(SystemExit, match="checksum"):
        make_slides.package("katex", tmp_path)
    assert not list(tmp_path.iterdir())


@pytest.fixture
def without_libraries(monkeypatch):
    monkeypatch.setattr(make_slides, "copy_libraries", lambda target, cache: None)


def test_links_between_decks_lead_to_decks(tmp_path, without_libraries):
    make_slides.make(course_notebooks(), tmp_path / "slides", tmp_path)
    decks = {path.name: path.read_text(encoding="utf-8") for path in (tmp_path / "slides").glob("*.html")}
    links = {link for text in decks.values() for link in re.findall(r'<a href="([^"#:]+)', text)}
    assert links >= {"11_a_real_model.html", "00_start_here.html"} and links <= set(decks)


@pytest.mark.skipif(os.name == "nt", reason="Windows keeps other rights")
def test_others_can_open_the_slides(tmp_path, without_libraries):
    make_slides.make(course_notebooks()[:1], tmp_path / "slides", tmp_path)
    (tmp_path / "beside").mkdir()
    assert (tmp_path / "slides").stat().st_mode == (tmp_path / "beside").stat().st_mode


def test_slides_in_a_folder_of_ones_own_leave_what_is_there(tmp_path, without_libraries):
    own = tmp_path / "thesis.txt"
    own.write_text("years of work", encoding="utf-8")
    make_slides.make(course_notebooks()[:1], tmp_path, tmp_path)
    assert own.read_text(encoding="utf-8") == "years of work" and (tmp_path / "index.html").is_file()


def test_the_usual_folder_keeps_no_deck_of_a_notebook_that_is_gone(tmp_path, without_libraries, monkeypatch):
    monkeypatch.setattr(make_slides, "SLIDES", tmp_path / "slides")
    for paths in (course_notebooks()[:2], course_notebooks()[:1]):
        make_slides.make(paths, tmp_path / "slides", tmp_path)
    assert {path.name for path in (tmp_path / "slides").glob("*.html")} == {
        "index.html",
        "00_start_here.html",
    }

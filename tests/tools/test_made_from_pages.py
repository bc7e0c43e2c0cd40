"""What tools make of the pages: the stored form, copies in one file, a teacher's edition; no learner's use shows."""

import ast
import copy
import importlib.util
import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import nbformat
import pytest
from nbclient.exceptions import CellExecutionError

from tools import notebook, portable, refresh, shipped, teach
from tools.notebook import ROOT, WIDGET_STATE, WIDGET_VIEW
from tools.page import Page

LINK = re.compile(r"\]\(([^)\s]+)\)")
SET_UP = notebook.SETUP.splitlines()[-2:]
PAGE = "notebooks/00_start_here.ipynb"
UNPACKED = """
import mha_course.d10_trained_heads
folder = Path(mha_helpers.unpacked.name)
assert folder == Path(mha_course.__file__).parents[1]
files = [path for path in folder.rglob("*.*") if path.suffix != ".pyc"]
print(json.dumps({path.relative_to(folder).as_posix(): path.read_bytes().hex() for path in files}))"""
SVG = '<svg width="200" height="20" aria-label="Weights of “a &amp; b”"><rect width="200" height="20"/></svg>'
WIDGETS = {
    "outer": {"model_name": "VBoxModel", "state": {"children": ["IPY_MODEL_inner"]}},
    "inner": {"model_name": "HTMLModel", "state": {"value": SVG}},
}


def place(page, start):
    return next(i for i, cell in enumerate(page.cells) if cell.source.startswith(start))


@pytest.fixture
def used(tmp_path, monkeypatch):
    """Page 00 in a copy of the course, after an attempt at its exercise was saved and the rest was cleared."""
    shutil.copytree(ROOT / "notebooks", tmp_path / "notebooks")
    shutil.copy(ROOT / "README.md", tmp_path)
    monkeypatch.setattr(notebook, "ROOT", tmp_path)
    monkeypatch.setattr(shipped, "ROOT", tmp_path)
    page = nbformat.read(tmp_path / PAGE, as_version=4)
    page.metadata.me = "/home/me"
    for cell in page.cells:
        cell.metadata.pop("slideshow", None)
        if cell.cell_type == "code":
            cell.outputs, cell.execution_count = [], None
    stub = page.cells[place(page, "fish_gets = ...")]
    stub.source, stub.metadata = stub.source.replace("...", "[1, 1]"), {"trusted": True}
    stub.outputs = [nbformat.v4.new_output("stream", text="Exercise 0.1: not yet.")]
    return page


def test_a_page_that_was_used_is_made_anew_as_it_was_handed_out(used, tmp_path, capsys):
    used.cells.insert(4, nbformat.v4.new_code_cell("my_own = 1"))
    nbformat.write(used, tmp_path / PAGE)
    page = shipped.shipped(tmp_path / PAGE)
    assert notebook.as_text(page) == (ROOT / PAGE).read_text(encoding="utf-8")
    assert capsys.readouterr().out == "00_start_here.ipynb: its exercises begin anew, and it is run\n"


def test_refresh_writes_the_set_up_and_the_exercises_and_stores_one_form(used, tmp_path, capsys):
    at = place(used, "### Exercise 0.1")
    used.cells[at].source, used.cells[at + 2].source = "### Exercise 0.1 of old", ""
    del used.cells[1]
    nbformat.write(used, tmp_path / PAGE)
    refresh.main([str(tmp_path / PAGE)])
    assert (tmp_path / PAGE).read_bytes() == (ROOT / PAGE).read_bytes()
    assert capsys.readouterr().out.startswith("00_start_here.ipynb: written, ")


@pytest.mark.parametrize(
    ("start", "cells", "said"),
    [
        ("# exercises.fish_gets.hint", [], "exercise 0.1 needs two code cells"),
        ("from mha_course", [nbformat.v4.new_code_cell("1 / 0")], "ZeroDivisionError"),
    ],
)
def test_a_page_that_cannot_be_made_stays_as_it_was_and_refresh_says_why(used, tmp_path, start, cells, said):
    at = place(used, start)
    used.cells[at : at + 1] = cells
    nbformat.write(used, tmp_path / PAGE)
    before = (tmp_path / PAGE).read_bytes()
    with pytest.raises((CellExecutionError, ValueError), match=said):
        refresh.main([str(tmp_path / PAGE)])
    assert (tmp_path / PAGE).read_bytes() == before


def test_other_notebooks_are_named_in_one_line_and_left_out(used, tmp_path, capsys):
    pages = [path.relative_to(tmp_path) for path in shipped.own_pages()]
    assert len(pages) == len(list((ROOT / "notebooks").rglob("*_*.ipynb"))) and capsys.readouterr().out == ""
    assert [path.parent.name for path in pages] == sorted((path.parent.name for path in pages), reverse=True)
    for name in ("Untitled", "00_start_here-Copy1", "deeper/mine"):
        (tmp_path / "notebooks" / f"{name}.ipynb").write_text("", encoding="utf-8")
    assert [path.relative_to(tmp_path) for path in shipped.own_pages()] == pages
    others = "notebooks/00_start_here-Copy1.ipynb, notebooks/Untitled.ipynb, notebooks/deeper/mine.ipynb"
    assert capsys.readouterr().out == f"Left out, because they are no pages of the course: {others}\n"


def test_a_copy_in_one_file_unpacks_what_its_page_needs(tmp_path):
    page = Page(ROOT / "notebooks" / "deeper" / "10_trained_heads.ipynb")
    portable.main([str(page.path), "--out", str(tmp_path)])
    copy = Page(tmp_path / "deeper_10_trained_heads.ipynb")
    setup = copy.code[0].source
    assert max(map(len, setup.splitlines())) == 2000 and setup.splitlines()[-2:] == SET_UP
    options = {"cwd": tmp_path, "env": {**os.environ, "PYTHONPATH": ""}, "text": True}
    said = subprocess.check_output([sys.executable, "-"], input=setup + UNPACKED, **options)
    files = {file: bytes.fromhex(content) for file, content in json.loads(said.splitlines()[1]).items()}
    for file, content in files.items():
        if file.endswith(".py"):
            module = ast.parse(content)
            assert ast.get_docstring(module) is None
            assert content.decode() == ast.unparse(module), "a comment"
        else:
            assert content == (ROOT / file).read_bytes()
    assert folders(files) == {"__init__.py", "exercises", "d10_trained_heads", "models"}
    assert any(file.endswith(".pt") for file in files)
    kept = [link for link in LINK.findall(page.text) if not link.endswith(".ipynb")]
    assert LINK.findall(copy.text) == kept and copy.sizes["words"] == page.sizes["words"]
    assert "](#" in portable.portable(ROOT / "notebooks" / "12_bugs_in_print.ipynb")


def folders(files):
    return {file.split("/")[1] for file in files if file.startswith("mha_course/")}


def test_a_copy_carries_what_is_no_python_and_folders_that_its_own_need_in_turn_and_no_more():
    files = portable.carried_files("from mha_course.d09_other_libraries import exercises")
    assert {"mha_course/d09_other_libraries/measured.json", "mha_helpers/probing.py"} <= files.keys()
    assert "mha_helpers/probing.py" in portable.carried_files("moves(layer, x)")
    files = portable.carried_files("from mha_course.d09_in_your_own_model import exercises")
    own, other = "d09_in_your_own_model", "p09_concat_and_output"
    assert folders(files) == {"__init__.py", "exercises", own, other} and ".pt" not in str(files.keys())
    assert "mha_helpers/probing.py" not in files


def test_what_a_check_of_a_deeper_page_refuses_is_told():
    said = nbformat.v4.new_output("stream", text="Exercise D9.1: not yet. No.\n")
    page = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell("", outputs=[said])])
    assert teach.unsolved(page) == ["Exercise D9.1: not yet. No."]


def test_the_teachers_folder_has_solutions_notes_and_answers(tmp_path, monkeypatch):
    sitting, folder = Page(ROOT / "notebooks" / "one_sitting.ipynb"), tmp_path / "teach"
    monkeypatch.setattr(teach, "FOLDER", folder)
    monkeypatch.setattr(teach, "own_pages", lambda: [sitting.path])
    folder.mkdir()
    (folder / "of_old.html").touch()
    assert teach.main([]) == 0
    names = ["TEACHER_one_sitting.ipynb", "handout.html", "key.html", "paper.html"]
    assert sorted(file.name for file in folder.iterdir()) == names
    edition, notes = Page(folder / names[0]), teach.spoken_notes(sitting.path)
    said = [cell.source for cell in edition.markdown if cell.source.startswith("> **Say.**")]
    assert said == [teach.quoted(f"**Say.** {note}") for note in notes.values()]
    assert edition.text.count("> **Answer.**") == sitting.text.count("<details>") > 0
    assert "<details>" not in edition.text and "](TEACHER_" in edition.text
    assert edition.text.count("> **For the teacher.** Exercise") == len(teach.unsolved(sitting.notebook)) == 2
    assert any(cell.source.endswith(teach.IMPORTS) for cell in edition.code)  # a solution may need them
    handout = (folder / "handout.html").read_text(encoding="utf-8")
    assert "<svg " in handout and "Framed: 1.784 · 1 + 1.865" in handout and "{picture}" not in handout


def with_a_panel(widgets):
    """A page with a Panel below what was printed piece by piece, as a notebook that stores these widgets."""
    printed = [nbformat.v4.new_output("stream", text=text) for text in ("one\n", "two\n")]
    data = {"text/plain": "<Panel>", WIDGET_VIEW: {"model_id": "outer"}}
    output = nbformat.v4.new_output("execute_result", data, metadata={WIDGET_VIEW: {}}, execution_count=7)
    cell = nbformat.v4.new_code_cell("weights_explorer()\n", outputs=[*printed, output], execution_count=7)
    cells, metadata = [nbformat.v4.new_markdown_cell("# A page"), cell], {"widgets": {WIDGET_STATE: widgets}}
    return nbformat.from_dict(copy.deepcopy(nbformat.v4.new_notebook(cells=cells, metadata=metadata)))


def test_a_page_that_colab_has_saved_is_stored_like_any_other():
    """Without "state" between the type and the widgets, and with notes of its own in every cell."""
    colab, jupyterlab = with_a_panel(WIDGETS), with_a_panel({"state": WIDGETS, "version_major": 2})
    colab.metadata.colab = {"provenance": []}
    for cell in colab.cells:
        cell.metadata.update(id="qVx3", outputId="9f-1", colab={"base_uri": "https://localhost:8080/"})
    for saved in (colab, jupyterlab):
        notebook.normalise(saved, Path("03_qk_scores.ipynb"))
        nbformat.validate(saved)
    assert notebook.as_text(colab) == notebook.as_text(jupyterlab)
    (printed, panel), source = colab.cells[1].outputs, colab.cells[1].source
    assert printed.text == "one\ntwo\n" and set(panel.data) == {"text/plain", "image/png"}
    assert panel.execution_count == 1 and source == "weights_explorer()"
    assert panel.metadata == {"image/png": {"alt": "Weights of “a & b”", "width": 200}}


def test_a_page_that_came_alone_says_in_one_sentence_what_to_do(monkeypatch):
    monkeypatch.setattr(sys, "path", [*sys.path])
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    with pytest.raises(AssertionError, match=r"^The helpers of this page are not here\. .* Colab badge"):
        exec(notebook.setup_cell(), {})

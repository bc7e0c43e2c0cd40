"""tools/homework.py: what the checks printed into returned notebooks, as a table; nobody's code is run."""

import csv
import subprocess
import sys
from pathlib import Path

import homework
import nbformat
import pytest
from course_notebooks import course_notebooks
from homework import main

from mha_helpers.exercises import framework
from mha_helpers.exercises.framework import CORRECT, NOT_YET, Verdict

TOOL = Path(__file__).resolve().parents[2] / "tools" / "homework.py"
BEFORE_SCALING = 'These are the scores before scaling, q·k: which step stands between "score" and softmax?'
CAUGHT = Verdict(NOT_YET, BEFORE_SCALING)
PRAISED = Verdict(CORRECT, "You divide by √d_k.")


@pytest.fixture
def no_page(monkeypatch):
    """The course poses nothing beyond what stands in the returned notebook."""
    monkeypatch.setattr(homework, "posed_on", lambda page: ())


class _Judged(framework.Exercise):
    """The answer is the verdict."""

    def _judge(self, answer):
        return answer


@pytest.fixture
def check(monkeypatch, capsys):
    """What an exercise prints for each of the answers."""
    monkeypatch.setattr(framework, "_registry", {})

    def printed(number, *answers):
        words = {"variable": "a", "praise": "p", "hints": ("h",), "solution": "a = 1"}
        exercise = _Judged(number, "t", stars=1, minutes=1, **words)
        for answer in answers:
            exercise.check(answer)
        exercise.hint()
        return capsys.readouterr().out

    return printed


def _write(path, *printed):
    """A notebook in which each of the texts is what one cell printed."""
    cells = [
        nbformat.v4.new_code_cell(
            "raise SystemExit('nobody runs this')",
            outputs=[nbformat.v4.new_output("stream", name="stdout", text=text)],
        )
        for text in printed
    ]
    picture = nbformat.v4.new_output("display_data", data={"text/plain": "Exercise 9.9: correct."})
    cells.append(nbformat.v4.new_code_cell("picture", outputs=[picture]))
    cells.append(nbformat.v4.new_markdown_cell("Exercise 9.9: correct."))
    path.parent.mkdir(parents=True, exist_ok=True)
    nbformat.write(nbformat.v4.new_notebook(cells=cells), path)


@pytest.fixture
def folder(tmp_path, check, no_page):
    folder = tmp_path / "returned"
    _write(
        folder / "anna.ipynb",
        check("3.1", CAUGHT, PRAISED),  # twice in one cell
        "torch.Size([3, 3])\n" + check("3.2", ..., CAUGHT),
        check("3.10", ...),
    )
    _write(
        folder / "group b" / "ben.ipynb", check("3.1", PRAISED), check("3.2", PRAISED), check("3.1", CAUGHT)
    )
    _write(folder / "group b" / ".ipynb_checkpoints" / "ben-checkpoint.ipynb", check("3.1", PRAISED))
    _write(folder / "zoe.ipynb", "I did Exercise 3.1: correct.\n")
    (folder / "damaged.ipynb").write_text('{"cells": [')
    return folder


def test_the_table_says_who_is_where_and_why(folder, capsys):
    assert main([str(folder)]) == 0
    told = capsys.readouterr()
    assert told.out.splitlines() == [
        "anna: 1 of 3 correct",
        f"    3.2 not yet: {BEFORE_SCALING}",
        "    3.10 not attempted yet",
        "group b/ben: 1 of 2 correct",
        f"    3.1 not yet: {BEFORE_SCALING}",
        "zoe: no check was run",
    ]
    assert told.err == "damaged: cannot be read as a notebook (NotJSONError)\n"


def test_an_exercise_that_is_gone_from_the_notebook_counts(tmp_path, check, capsys):
    (page,) = (path for path in course_notebooks() if path.name.startswith("03_"))
    posed = homework.exercises_in(nbformat.read(page, as_version=4).cells)
    assert posed == ["3.1", "3.2", "3.3", "3.4"] == list(homework.posed_on("3"))
    _write(tmp_path / "anna.ipynb", check("3.1", PRAISED), check("3.3", PRAISED))
    assert main([str(tmp_path)]) == 0
    assert (
        capsys.readouterr().out == "anna: 2 of 2 correct\n"
    )  # nothing says that it is a page of this course
    page = nbformat.read(tmp_path / "anna.ipynb", as_version=4)
    page.cells.insert(
        0, nbformat.v4.new_code_cell("from mha_helpers.exercises import e03_qk_scores as exercises")
    )
    nbformat.write(page, tmp_path / "anna.ipynb")
    assert main([str(tmp_path)]) == 0
    assert capsys.readouterr().out.splitlines() == [
        "anna: 2 of 4 correct",
        "    3.2 no answer: it is not in the notebook",
        "    3.4 no answer: it is not in the notebook",
    ]
    assert homework.posed_on("99") == ()


def test_a_stray_check_of_another_page_adds_itself_alone(tmp_path, check, capsys):
    _write(tmp_path / "anna.ipynb", check("4.1", PRAISED), *(check(f"3.{k}", PRAISED) for k in (1, 2, 3, 4)))
    page = nbformat.read(tmp_path / "anna.ipynb", as_version=4)
    headings = [f"### Exercise 3.{k} ★ · 3 min · t" for k in (1, 2, 3, 4)]
    page.cells = [*map(nbformat.v4.new_markdown_cell, headings), *page.cells]
    page.cells.append(nbformat.v4.new_code_cell("import mha_helpers"))
    nbformat.write(page, tmp_path / "anna.ipynb")
    assert main([str(tmp_path)]) == 0
    assert capsys.readouterr().out == "anna: 5 of 5 correct\n"


def test_what_is_no_notebook_is_named(tmp_path, check, no_page, capsys):
    _write(tmp_path / "carl.IPYNB", check("3.1", PRAISED))
    for name in ("dora.ipynb.txt", "fritz.zip", ".DS_Store"):
        (tmp_path / name).write_text("")
    assert main([str(tmp_path), "--csv", str(tmp_path / "results.csv")]) == 0
    told = capsys.readouterr()
    assert told.out == "carl: 1 of 1 correct\n"
    assert told.err.splitlines() == [
        f"{name}: not read, its name does not end in .ipynb" for name in ("dora.ipynb.txt", "fritz.zip")
    ]
    assert main([str(tmp_path), "--csv", str(tmp_path / "results.csv")]) == 0
    assert "results.csv" not in capsys.readouterr().err


def test_an_exercise_whose_cell_stopped_with_an_error_counts(tmp_path, check, no_page, capsys):
    path = tmp_path / "anna.ipynb"
    _write(path, check("3.1", PRAISED), check("3.3", CAUGHT))
    page = nbformat.read(path, as_version=4)
    headings = [
        nbformat.v4.new_markdown_cell(f"### Exercise 3.{k} ★ · 3 min · t\n\nDo it.") for k in (1, 2, 3)
    ]
    error = nbformat.v4.new_output("error", ename="SyntaxError", evalue="invalid syntax", traceback=[])
    page.cells = [
        *[headings[0], page.cells[0]],
        *[headings[1], nbformat.v4.new_code_cell("my_scores = ", outputs=[error])],
        *[headings[2], page.cells[1]],
    ]
    nbformat.write(page, path)
    assert main([str(tmp_path)]) == 0
    assert capsys.readouterr().out.splitlines() == [
        "anna: 1 of 3 correct",
        "    3.2 no answer: its cell was not run, or stopped with an error",
        f"    3.3 not yet: {BEFORE_SCALING}",
    ]


def test_a_page_that_nobody_ran_is_told_as_such(tmp_path, capsys):
    page = nbformat.v4.new_notebook(cells=[nbformat.v4.new_markdown_cell("### Exercise 3.1 ★ · 3 min · t")])
    nbformat.write(page, tmp_path / "zoe.ipynb")
    assert main([str(tmp_path)]) == 0
    assert capsys.readouterr().out == "zoe: no check was run\n"


def test_the_file_holds_the_same_table(folder, tmp_path):
    path = tmp_path / "results.csv"
    assert main([str(folder), "--csv", str(path)]) == 0
    assert path.read_bytes().startswith(b"\xef\xbb\xbf"), (
        "without its mark, a spreadsheet takes it for cp1252"
    )
    with path.open(encoding="utf-8-sig", newline="") as file:
        rows = list(csv.reader(file))
    stub = framework.Exercise.stub_words
    assert rows == [
        ["learner", "exercise", "status", "reason"],
        ["anna", "3.1", "correct", "You divide by √d_k."],
        ["anna", "3.2", "not yet", BEFORE_SCALING],
        ["anna", "3.10", "not attempted yet", stub],
        ["group b/ben", "3.1", "not yet", BEFORE_SCALING],
        ["group b/ben", "3.2", "correct", "You divide by √d_k."],
    ]


def test_a_file_that_cannot_be_written_is_a_sentence(folder, capsys):
    assert main([str(folder), "--csv", str(folder)]) == 1
    assert folder.name in capsys.readouterr().err.splitlines()[-1]


def test_a_folder_without_notebooks_is_named(tmp_path, capsys):
    _write(tmp_path / ".ipynb_checkpoints" / "anna-checkpoint.ipynb", "Exercise 3.1: correct.\n")
    assert main([str(tmp_path)]) == 1
    assert capsys.readouterr().err == f"There is no notebook in {tmp_path}.\n"


def test_it_is_a_command(tmp_path):
    lost = str(tmp_path / "lost")
    done = subprocess.run([sys.executable, str(TOOL), lost], capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr == f"{lost} is no folder: name the one in which the notebooks lie.\n"

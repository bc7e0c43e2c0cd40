"""What a teacher sees of a class: read from notebooks as a learning platform or a hub gives them."""

import re
import zipfile

import nbformat
import pytest

from mha_helpers.exercises import ValueExercise
from tools import collect
from tools.notebook import exercise_cells


def exercise(number, title):
    return ValueExercise(
        number, title, stars=1, minutes=1, right=2, task="Two.", stub="two = ...", praise="Two it is.",
        hints=["Two."], solution="two = 2", mistakes=[(3, "That is <three>: which number is asked for?")],
    )  # fmt: skip


FIRST, SECOND = exercise("3.1", "A first one"), exercise("10.2", "A second one")
DEEPER = exercise("D4.1", "A deeper one")


@pytest.fixture
def notebook(capsys):
    """Make a learner's notebook from (exercise, answer): what the page shows and what its check prints."""

    def cells(exercise, answer):
        if isinstance(answer, type):  # the cell raises
            outputs = [nbformat.v4.new_output("error", ename=answer.__name__, evalue="x")]
        else:
            exercise.check(answer)
            outputs = [nbformat.v4.new_output("stream", text=f"mine: 7\n{capsys.readouterr().out}")]
        heading, stub, _ = exercise_cells(exercise, "name")
        code = nbformat.v4.new_code_cell(stub, outputs=outputs)
        return [nbformat.v4.new_markdown_cell(heading), code]

    def make(*pairs):
        parts = [cell for pair in pairs for cell in cells(*pair)]
        return nbformat.writes(nbformat.v4.new_notebook(cells=parts))

    return make


def write(folder, files):
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return folder


def statuses(told, number):
    """Learner -> whether correct."""
    return {learner: answer.correct for learner, answer in told.tried(number).items()}


def test_correct_not_yet_and_not_tried(tmp_path, notebook):
    files = {
        "anna.ipynb": notebook((FIRST, 2), (SECOND, 3)),
        "ben.ipynb": notebook((FIRST, 5), (SECOND, ...)),
        "cem.ipynb": notebook((DEEPER, 3), (FIRST, ...)),
    }
    told = collect.collect(write(tmp_path, files))
    assert list(told.answers) == ["anna", "ben", "cem"]
    assert told.numbers() == ["3.1", "10.2", "D4.1"]
    assert told.titles == {"3.1": "A first one", "10.2": "A second one", "D4.1": "A deeper one"}
    assert statuses(told, "D4.1") == {"cem": False}
    assert statuses(told, "3.1") == {"anna": True, "ben": False}
    assert statuses(told, "10.2") == {"anna": False}


def test_a_cell_that_stops_before_its_check_was_tried(tmp_path, notebook):
    told = collect.collect(write(tmp_path, {"anna.ipynb": notebook((FIRST, NameError))}))
    assert statuses(told, "3.1") == {"anna": False}
    assert "NameError" in told.answers["anna"]["3.1"].sentence


def test_solved_on_one_page_is_solved(tmp_path, notebook):
    files = {"anna/a.ipynb": notebook((FIRST, 2)), "anna/b.ipynb": notebook((FIRST, 3))}
    assert statuses(collect.collect(write(tmp_path, files)), "3.1") == {"anna": True}


def test_homes_of_a_hub_and_checkpoints(tmp_path, notebook):
    files = {
        "anna/course/notebooks/03.ipynb": notebook((FIRST, 3)),
        "anna/course/notebooks/.ipynb_checkpoints/03.ipynb": notebook((FIRST, 2)),
        "ben/course/notebooks/03.ipynb": notebook((FIRST, ...)),
    }
    told = collect.collect(write(tmp_path, files))
    assert list(told.answers) == ["anna", "ben"]
    assert statuses(told, "3.1") == {"anna": False}


def test_one_wrong_idea_is_counted_once_whatever_else_is_right(tmp_path, notebook):
    parts = ValueExercise(
        "3.2", "Two parts", stars=1, minutes=1, right={"row": 2, "column": 5}, task="Two.", praise="Yes.",
        stub="both = {...: ...}", hints=["Two."], solution="both = {}",
        mistakes=[({"row": 3}, "“row” is one too many.")],
    )  # fmt: skip
    files = {
        "ben.ipynb": notebook((parts, {"row": 3, "column": 5})),
        "anna.ipynb": notebook((parts, {"row": 3, "column": 7})),
    }
    sentences = collect.sentences_of("3.2", collect.collect(write(tmp_path, files)))
    assert re.findall(r"(\d+) ×</b>(.*?) <", sentences) == [("2", "“row” is one too many.")]


def test_learners_come_in_the_order_of_their_names(tmp_path, notebook):
    with zipfile.ZipFile(tmp_path / "class.zip", "w") as archive:
        for name in ("dora", "ben", "Cem", "Anna"):
            archive.writestr(f"{name}.ipynb", notebook((FIRST, 2)))
    assert list(collect.collect(tmp_path / "class.zip").answers) == ["Anna", "ben", "Cem", "dora"]


@pytest.mark.parametrize("top", ["", "class 3/"])
def test_a_zip_with_or_without_a_folder_round_it(tmp_path, notebook, top):
    with zipfile.ZipFile(tmp_path / "handed in.zip", "w") as archive:
        archive.writestr(f"{top}anna/03.ipynb", notebook((FIRST, 2)))
        archive.writestr(f"{top}ben/03.ipynb", notebook((FIRST, 3)))
        archive.writestr("__MACOSX/._03.ipynb", "x")
    told = collect.collect(tmp_path / "handed in.zip")
    assert statuses(told, "3.1") == {"anna": True, "ben": False}
    assert told.passed_over == []


def test_a_zip_for_each_learner(tmp_path, notebook):
    with zipfile.ZipFile(tmp_path / "anna.zip", "w") as archive:
        archive.writestr("notebooks/03.ipynb", notebook((FIRST, 2)))
        archive.writestr("notebooks/04.ipynb", notebook((SECOND, 2)))
    told = collect.collect(tmp_path)
    assert list(told.answers) == ["anna"]
    assert set(told.answers["anna"]) == {"3.1", "10.2"}


def test_what_is_no_notebook_is_named_and_passed_over(tmp_path, notebook):
    files = {
        "anna.ipynb": notebook((FIRST, 2)),
        "half.ipynb": notebook((FIRST, 2))[:-9],
        "list.ipynb": "[1, 2]",
        "text.ipynb": '{"cells": "none"}',
        "notes.txt": "hello",
        "broken.zip": "PK",
    }
    told = collect.collect(write(tmp_path, files))
    assert list(told.answers) == ["anna"]
    assert told.passed_over == ["broken.zip", "half.ipynb", "list.ipynb", "notes.txt", "text.ipynb"]


def test_the_page_counts_wrong_ideas_and_not_numbers(tmp_path, notebook):
    files = {f"{name}.ipynb": notebook((FIRST, 3)) for name in ("anna", "<b>en")}
    files |= {"cem.ipynb": notebook((FIRST, 7)), "dora.ipynb": notebook((FIRST, 8.5))}
    files["eve.ipynb"] = notebook((FIRST, 9), (SECOND, ...))
    page = collect.page(collect.collect(write(tmp_path, files)))
    table, sentences = page.split("What they were told")
    assert re.findall(r"<td>(\d+)</td>", table) == ["0", "5", "0"]
    assert re.findall(r"(\d+) ×", sentences) == ["3", "2"]
    assert "&lt;three&gt;" in sentences
    assert "&lt;b&gt;en" in table
    assert "<b>en" not in page
    assert "Nobody tried 10.2" in page
    assert "http" not in page


def test_the_command_says_what_it_needs_and_where_the_page_is(tmp_path, notebook, monkeypatch, capsys):
    monkeypatch.setattr(collect, "PAGE", tmp_path / "dist" / "collect.html")
    assert collect.main([]) == 2
    assert collect.main([str(tmp_path / "nowhere")]) == 2
    assert collect.main([str(write(tmp_path / "empty", {"a.txt": ""}))]) == 1
    assert not collect.PAGE.exists()
    assert collect.main([str(write(tmp_path / "class", {"anna.ipynb": notebook((FIRST, 2))}))]) == 0
    assert "anna" in collect.PAGE.read_text(encoding="utf-8")
    assert "1 learner: open" in capsys.readouterr().out

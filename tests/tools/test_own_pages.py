"""A page that a teacher adds, under any name and with anything in its cells, is handled or told what it lacks."""

import re

import class_minutes
import export
import make_slides
import nbformat
import pytest
from course_notebooks import as_python, id_prefix
from make_portable import make_portable
from make_teacher_edition import bound_names
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook
from refresh_notebooks import normalise, refresh

MAGIC = (
    "%matplotlib inline\n!pip list\nfrom mha_helpers import causal_mask\nif True:\n    %time causal_mask(3)"
)


@pytest.fixture
def page(tmp_path):
    """Write a page and return its path."""

    def written(*cells, name="my page ü.ipynb"):
        path = tmp_path / name
        nbformat.write(new_notebook(cells=[new_markdown_cell("# My page"), *cells]), path)
        return path

    return written


@pytest.mark.parametrize(
    ("name", "prefix"),
    [("03_qk_scores", "03"), ("my page ü", "my-page"), ("猫", "page"), ("a" * 80, "a" * 12)],
)
def test_any_name_of_a_file_gives_ids_that_jupyter_takes(name, prefix):
    assert id_prefix(name) == prefix
    notebook = new_notebook(cells=[new_code_cell("1 + 1"), new_markdown_cell("## " + "long " * 20)])
    normalise(notebook, name)
    nbformat.validate(notebook)


def test_a_copy_is_made_of_a_page_of_any_name_with_magics(page, tmp_path):
    copy = make_portable([page(new_code_cell(MAGIC))], tmp_path / "out")[0]
    cells = nbformat.read(copy, as_version=4).cells
    assert cells[-1].source == MAGIC


def test_a_copy_of_a_page_without_code_carries_nothing(page, tmp_path):
    copy = make_portable([page(new_markdown_cell("Read [this](00_start_here.ipynb)."))], tmp_path / "out")[0]
    assert [cell.source for cell in nbformat.read(copy, as_version=4).cells] == ["# My page", "Read this."]


@pytest.mark.parametrize(
    ("source", "python"),
    [
        ("x = (5\n% 3)", "x = (5\n% 3)"),
        ("%load_ext a\nx = 1", "pass\nx = 1"),
        ("if x:\n    !ls", "if x:\n    pass"),
        ("%%time\nx = 1", "pass\nx = 1"),
        ("%%bash\nls -l && echo $HOME", ""),
    ],
)
def test_what_is_for_jupyter_alone_is_left_out(source, python):
    assert as_python(source) == python


def test_what_is_no_python_is_named():
    with pytest.raises(ValueError, match=re.escape("line 2 of a cell is no Python: x = = 2")):
        as_python("a = 1\nx = = 2")


def test_the_teacher_edition_knows_the_names_of_a_cell_with_magics():
    assert bound_names("%matplotlib inline\nx = 1") == {"x"}


def test_a_deck_without_a_number_is_listed(page, tmp_path, monkeypatch):
    monkeypatch.setattr(make_slides, "copy_libraries", lambda folder, cache: None)
    out = tmp_path / "out"
    out.mkdir()
    make_slides.write_decks([page(), page(name="12_mine.ipynb")], out, tmp_path)
    index = (out / "index.html").read_text(encoding="utf-8")
    assert '<li><a href="my page ü.html">' in index and '<li value="12"><a href="12_mine.html">' in index


def test_a_page_without_its_minutes_is_named(page, monkeypatch, capsys):
    path = page(name="12_mine.ipynb")
    wanted = re.escape('12_mine.ipynb has no **Time** line: write one into its first cell, "**Time** 20')
    with pytest.raises(ValueError, match=wanted):
        export.reading_copy([path])
    monkeypatch.setattr(class_minutes, "course_notebooks", lambda: [path])
    assert class_minutes.main([]) == 1
    assert re.match(wanted, capsys.readouterr().err)


def test_a_file_that_is_no_text_is_no_notebook(tmp_path, monkeypatch, capsys):
    path = tmp_path / "12_mine.ipynb"
    path.write_bytes(b"\xff\xfe{}")
    assert refresh(path, check=True) == "this is no notebook"
    monkeypatch.setattr(class_minutes, "course_notebooks", lambda: [path])
    assert class_minutes.main([]) == 1
    assert capsys.readouterr().err == f"{path}: this is no notebook\n"

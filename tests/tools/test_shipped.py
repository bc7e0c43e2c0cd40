"""What a learner saves in a page or puts beside it changes nothing of what is made of the pages."""

import shutil
import subprocess

import nbformat
import pytest

from tools import notebook, portable, shipped
from tools.notebook import ROOT

PAGE = "notebooks/00_start_here.ipynb"


@pytest.fixture
def copied(tmp_path, monkeypatch):
    """A copy of the course's pages that a learner has used, in a folder without git."""
    shutil.copytree(ROOT / "notebooks", tmp_path / "notebooks")
    shutil.copy(ROOT / "README.md", tmp_path)
    monkeypatch.setattr(notebook, "ROOT", tmp_path)
    monkeypatch.setattr(shipped, "ROOT", tmp_path)
    return tmp_path


def use(file):
    """Save an attempt with its verdict, clear all other outputs, and add a cell."""
    page = nbformat.read(file, as_version=4)
    for cell in page.cells:
        if cell.cell_type == "code":
            cell.outputs, cell.execution_count = [], None
    (stub,) = [cell for cell in page.cells if cell.source.startswith("fish_gets = ...")]
    stub.source = stub.source.replace("...", "[1, 1]")
    stub.outputs = [nbformat.v4.new_output("stream", text="Exercise 0.1: not yet.")]
    page.cells.insert(4, nbformat.v4.new_code_cell("my_own = 1"))
    nbformat.write(page, file)


def test_a_page_that_was_used_is_made_anew_as_it_was_handed_out(copied, capsys):
    use(copied / PAGE)
    page = shipped.shipped(copied / PAGE)
    assert notebook.as_text(page) == (ROOT / PAGE).read_text(encoding="utf-8")
    assert capsys.readouterr().out == "00_start_here.ipynb: its exercises begin anew, and it is run\n"


def test_where_git_has_the_page_nothing_is_run(copied, capsys, monkeypatch):
    git = ["git", "-c", "user.name=a", "-c", "user.email=a@example.org"]
    for command in (["init", "-q"], ["add", "."], ["commit", "-q", "-m", "the course"]):
        subprocess.run([*git, *command], cwd=copied, check=True)
    use(copied / PAGE)
    monkeypatch.delattr(shipped, "remade")
    assert notebook.as_text(shipped.shipped(copied / PAGE)) == (ROOT / PAGE).read_text(encoding="utf-8")
    assert "without what was saved since it was committed" in capsys.readouterr().out


def test_other_notebooks_are_named_in_one_line_and_left_out(copied, capsys):
    pages = [path.relative_to(copied) for path in shipped.own_pages()]
    assert (
        len(pages) == len(list((ROOT / "notebooks").glob("**/*_*.ipynb"))) and capsys.readouterr().out == ""
    )
    for name in ("Untitled", "00_start_here-Copy1", "deeper/mine"):
        (copied / "notebooks" / f"{name}.ipynb").write_text("", encoding="utf-8")
    portable.main(["--out", str(copied / "out")])
    first, *lines = capsys.readouterr().out.splitlines()
    others = "notebooks/00_start_here-Copy1.ipynb, notebooks/Untitled.ipynb, notebooks/deeper/mine.ipynb"
    assert first == f"Left out, because they are no pages of the course: {others}"
    assert len(lines) == len(pages) == len(list((copied / "out").iterdir()))

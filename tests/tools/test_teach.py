"""The teacher edition: its links, and that it is held back where one of its checks does not say "correct"."""

import re

import nbformat
import pytest

from tools import teach
from tools.notebook import all_pages, name_of

PAGES = all_pages()


def test_what_is_wrong_and_what_was_left_as_handed_out_is_not_solved():
    said = "Exercise 3.1: correct. Good.\nExercise 3.2: not yet. No.\nExercise 3.3: not attempted yet. …\n"
    cell = nbformat.v4.new_code_cell(outputs=[nbformat.v4.new_output("stream", text=said)])
    assert [line[9:12] for line in teach.unsolved(nbformat.v4.new_notebook(cells=[cell]))] == ["3.2", "3.3"]


@pytest.mark.parametrize("path", [path for path in PAGES if path.name == "04_scaling.ipynb"], ids=name_of)
def test_links_of_the_edition_lead_to_its_own_pages(path, monkeypatch, tmp_path):
    monkeypatch.setattr(teach, "execute", lambda page, folder: None)
    monkeypatch.setattr(teach, "FOLDER", tmp_path)
    teach.teacher_edition(path)
    edition = nbformat.read(tmp_path / f"TEACHER_{name_of(path)}.ipynb", as_version=4)
    targets = set(re.findall(r"\]\(([\w./]+\.ipynb)", "".join(cell.source for cell in edition.cells)))
    assert targets and targets <= {f"TEACHER_{name_of(path)}.ipynb" for path in PAGES}

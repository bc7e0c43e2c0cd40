"""The teacher edition: its links, and that it is held back where one of its checks does not say "correct"."""

import re

import nbformat

from tools import teach
from tools.notebook import all_pages, name_of


def test_what_is_wrong_and_what_was_left_as_handed_out_is_not_solved():
    said = "Exercise 3.1: correct. Good.\nExercise 3.2: not yet. No.\nExercise 3.3: not attempted yet. …\n"
    cell = nbformat.v4.new_code_cell(outputs=[nbformat.v4.new_output("stream", text=said)])
    assert [line[9:12] for line in teach.unsolved(nbformat.v4.new_notebook(cells=[cell]))] == ["3.2", "3.3"]


def test_links_of_the_edition_lead_to_its_own_pages(tmp_path, monkeypatch):
    pages = all_pages()
    monkeypatch.setattr(
        teach, "all_pages", lambda: [path for path in pages if path.name == "04_scaling.ipynb"]
    )
    monkeypatch.setattr(teach, "execute", lambda page, folder: None)
    teach.teacher_edition(tmp_path)
    written = [nbformat.read(tmp_path / f"TEACHER_{name}04_scaling.ipynb", 4) for name in ("", "deeper_")]
    text = "".join(cell.source for page in written for cell in page.cells)
    targets = set(re.findall(r"\]\(([\w./]+\.ipynb)", text))
    assert targets and targets <= {f"TEACHER_{name_of(path)}.ipynb" for path in pages}

"""The teacher edition: it is held back where one of its checks does not say "correct"."""

import nbformat

from tools import teach


def test_what_is_wrong_and_what_was_left_as_handed_out_is_not_solved():
    said = "Exercise 3.1: correct. Good.\nExercise 3.2: not yet. No.\nExercise 3.3: not attempted yet. …\n"
    cell = nbformat.v4.new_code_cell(outputs=[nbformat.v4.new_output("stream", text=said)])
    assert [line[9:12] for line in teach.unsolved(nbformat.v4.new_notebook(cells=[cell]))] == ["3.2", "3.3"]

"""Where transformers or the model is missing, notebook 11 says one line and waits, without an error."""

import copy

import nbformat
import pytest
from notebook_page import FOLDER, WITH_A_MODEL
from refresh_notebooks import execute

PATH = FOLDER / f"{WITH_A_MODEL}.ipynb"
WAITS = "This cell waits for the model: see the cell that loads it.\n"
HIDE = """
import importlib.util
import mha_helpers.real_model as hidden

hidden.find_spec = lambda name: None if name == "transformers" else importlib.util.find_spec(name)
"""


@pytest.fixture(scope="module")
def cells():
    """Run the page where there is no transformers, whatever this environment has."""
    notebook = copy.deepcopy(nbformat.read(PATH, as_version=4))
    notebook.cells.insert(2, nbformat.v4.new_code_cell(HIDE))
    code = [cell for cell in notebook.cells if cell.cell_type == "code"]
    assert "import torch" in code[0].source and code[1].source == HIDE
    # The model's cell runs a second time at the end: it must not wait itself.
    again = next(cell for cell in code if "= load_or_stop(" in cell.source)
    notebook.cells.append(nbformat.v4.new_code_cell(again.source))
    execute(notebook, PATH.parent)  # raises where a cell does
    return [cell for cell in notebook.cells if cell.cell_type == "code"]


def printed(cell):
    return "".join(output.get("text", "") for output in cell.outputs)


def test_one_line_says_what_to_install(cells):
    loading = [cell for cell in cells if "= load_or_stop(" in cell.source]
    assert len(loading) == 2
    for cell in loading:
        assert printed(cell) == (
            "This page needs the package transformers: pip install transformers, then restart the kernel.\n"
        )


def test_every_later_cell_waits_and_says_so(cells):
    place = next(i for i, cell in enumerate(cells) if "= load_or_stop(" in cell.source)
    for cell in cells[place + 1 : -1]:
        assert printed(cell) == WAITS, cell.source


def test_nothing_goes_wrong(cells):
    for cell in cells:
        for output in cell.outputs:
            assert output.output_type != "error" and output.get("name") != "stderr"

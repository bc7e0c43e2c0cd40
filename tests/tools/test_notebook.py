"""What refresh stores, whoever saved the page before."""

import copy

import nbformat
import pytest
from nbconvert import HTMLExporter

from tools import refresh
from tools.notebook import ROOT, WIDGET_STATE, WIDGET_VIEW, as_text, normalise, normalise_outputs
from tools.refresh import write_exercises

SVG = '<svg width="60" height="20" aria-label="Weights of “a &amp; b”"><rect width="60" height="20"/></svg>'
WIDGETS = {
    "outer": {"model_name": "VBoxModel", "state": {"children": ["IPY_MODEL_inner"]}},
    "inner": {"model_name": "HTMLModel", "state": {"value": SVG}},
}


def page():
    view = {"model_id": "outer", "version_major": 2, "version_minor": 0}
    output = nbformat.v4.new_output("display_data", {"text/plain": "<Panel>", WIDGET_VIEW: view})
    cell = nbformat.v4.new_code_cell("weights_explorer()", outputs=[output], execution_count=7)
    return nbformat.v4.new_notebook(cells=[nbformat.v4.new_markdown_cell("# A page"), cell])


def saved_by_jupyterlab():
    notebook = page()
    notebook.metadata.widgets = {WIDGET_STATE: {"state": copy.deepcopy(WIDGETS), "version_major": 2}}
    return nbformat.from_dict(notebook)


def saved_by_colab():
    """Without "state" between the type and the widgets, and with notes of its own in every cell."""
    notebook = page()
    notebook.metadata.update(colab={"provenance": []}, widgets={WIDGET_STATE: copy.deepcopy(WIDGETS)})
    for cell in notebook.cells:
        cell.metadata.update(id="qVx3", outputId="9f-1", colab={"base_uri": "https://localhost:8080/"})
    return nbformat.from_dict(notebook)


def test_a_page_that_colab_has_saved_is_stored_like_any_other():
    colab, jupyterlab = saved_by_colab(), saved_by_jupyterlab()
    with pytest.raises(KeyError, match="state"):  # what Colab leaves: nbconvert stops, GitHub shows nothing
        HTMLExporter().from_notebook_node(copy.deepcopy(colab))
    for notebook in (colab, jupyterlab):
        normalise(notebook, "03_qk_scores")
        nbformat.validate(notebook)
    assert as_text(colab) == as_text(jupyterlab)
    data, metadata = colab.cells[1].outputs[0].data, colab.cells[1].outputs[0].metadata
    assert set(data) == {"text/plain", "image/png"} and metadata["image/png"]["alt"] == "Weights of “a & b”"
    html, _ = HTMLExporter().from_notebook_node(colab)
    assert "data:image/png" in html
    again = copy.deepcopy(colab)
    normalise(again, "03_qk_scores")
    assert as_text(again) == as_text(colab)


def test_an_exercise_without_its_two_code_cells_is_named_before_anything_is_written():
    heading = nbformat.v4.new_markdown_cell("### Exercise 3.1 ★ · 2 min · Scores on paper")
    notebook = nbformat.v4.new_notebook(cells=[heading, nbformat.v4.new_markdown_cell("## Recap")])
    with pytest.raises(ValueError, match="needs two code cells"):
        write_exercises(notebook, ROOT / "notebooks" / "03_qk_scores.ipynb")
    assert notebook.cells[1].source == "## Recap"


def test_other_pixels_are_stored_but_no_fault_that_a_check_finds(tmp_path, monkeypatch):
    path = tmp_path / "a_page.ipynb"
    path.write_text('"image/png": "today"', encoding="utf-8")
    monkeypatch.setattr(refresh, "refreshed", lambda path: '"image/png": "of another release"')
    assert refresh.refresh(path, check=True) == "" and "today" in path.read_text(encoding="utf-8")
    assert refresh.refresh(path, check=False) == "" and "another" in path.read_text(encoding="utf-8")


def test_lines_of_one_stream_are_joined_and_warnings_stay_apart():
    printed = [("stdout", "a\n"), ("stdout", "b\n"), ("stderr", "a warning\n")]
    outputs = [nbformat.v4.new_output("stream", name=name, text=text) for name, text in printed]
    stored = normalise_outputs(outputs, 1, {})
    assert [(part.name, part.text) for part in stored] == [("stdout", "a\nb\n"), ("stderr", "a warning\n")]

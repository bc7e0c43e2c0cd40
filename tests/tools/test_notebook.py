"""What refresh stores, whoever saved the page before."""

import copy
import importlib.util
import sys
from pathlib import Path

import nbformat
import pytest

from tools.notebook import WIDGET_STATE, WIDGET_VIEW, as_text, normalise, setup_cell

SVG = '<svg width="200" height="20" aria-label="Weights of “a &amp; b”"><rect width="200" height="20"/></svg>'
WIDGETS = {
    "outer": {"model_name": "VBoxModel", "state": {"children": ["IPY_MODEL_inner"]}},
    "inner": {"model_name": "HTMLModel", "state": {"value": SVG}},
}


def page(widgets):
    """A page with a Panel below what was printed piece by piece, as a notebook that stores these widgets."""
    printed = [nbformat.v4.new_output("stream", text=text) for text in ("one\n", "two\n")]
    data = {"text/plain": "<Panel>", WIDGET_VIEW: {"model_id": "outer"}}
    output = nbformat.v4.new_output("execute_result", data, metadata={WIDGET_VIEW: {}}, execution_count=7)
    cell = nbformat.v4.new_code_cell("weights_explorer()\n", outputs=[*printed, output], execution_count=7)
    cells, metadata = [nbformat.v4.new_markdown_cell("# A page"), cell], {"widgets": {WIDGET_STATE: widgets}}
    return nbformat.from_dict(copy.deepcopy(nbformat.v4.new_notebook(cells=cells, metadata=metadata)))


def test_a_page_that_colab_has_saved_is_stored_like_any_other():
    """Without "state" between the type and the widgets, and with notes of its own in every cell."""
    colab, jupyterlab = page(WIDGETS), page({"state": WIDGETS, "version_major": 2})
    colab.metadata.colab = {"provenance": []}
    for cell in colab.cells:
        cell.metadata.update(id="qVx3", outputId="9f-1", colab={"base_uri": "https://localhost:8080/"})
    for notebook in (colab, jupyterlab):
        normalise(notebook, Path("03_qk_scores.ipynb"))
        nbformat.validate(notebook)
    assert as_text(colab) == as_text(jupyterlab)
    (printed, panel), source = colab.cells[1].outputs, colab.cells[1].source
    assert printed.text == "one\ntwo\n" and set(panel.data) == {"text/plain", "image/png"}
    assert panel.execution_count == 1 and source == "weights_explorer()"
    assert panel.metadata == {"image/png": {"alt": "Weights of “a & b”", "width": 200}}


def test_a_page_that_came_alone_says_in_one_sentence_what_to_do(monkeypatch):
    monkeypatch.setattr(sys, "path", [*sys.path])
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    with pytest.raises(AssertionError, match=r"^The helpers of this page are not here\. .* Colab badge"):
        exec(setup_cell(), {})

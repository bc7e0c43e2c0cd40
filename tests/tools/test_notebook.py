"""What refresh stores, whoever saved the page before."""

import base64
import copy
import importlib.util
import io
import sys
from pathlib import Path

import nbformat
import pytest
from PIL import Image

from tools.notebook import WIDGET_STATE, WIDGET_VIEW, as_text, normalise, setup_cell

SVG = """<svg width="200" height="20" aria-label="Weights of “a &amp; b”"><rect width="200" height="20"/>
<text class="tip" x="9" y="15" fill="red">two
tips</text></svg>"""
WIDGETS = {
    "outer": {"model_name": "VBoxModel", "state": {"children": ["IPY_MODEL_inner"]}},
    "inner": {"model_name": "HTMLModel", "state": {"value": SVG}},
}


def page(widgets):
    """A page with a Panel, as a notebook that stores these widgets."""
    data = {"text/plain": "<Panel>", WIDGET_VIEW: {"model_id": "outer"}}
    output = nbformat.v4.new_output("display_data", data, metadata={WIDGET_VIEW: {}})
    cell = nbformat.v4.new_code_cell("weights_explorer()", outputs=[output], execution_count=7)
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
    data, metadata = colab.cells[1].outputs[0].data, colab.cells[1].outputs[0].metadata
    assert set(data) == {"text/plain", "image/png"}
    assert metadata == {"image/png": {"alt": "Weights of “a & b”", "width": 200}}
    picture = Image.open(io.BytesIO(base64.b64decode(data["image/png"]))).convert("RGB")
    drawn, line = (picture.crop(box).getcolors(5000) for box in ((0, 0, 400, 40), (0, 40, 400, 92)))
    assert drawn == [(16000, (0, 0, 0))]  # twice the size, and no words for the mouse
    colours = [colour for _, colour in sorted(line)]
    assert len(line) > 16 and colours[-1] == (255, 255, 255) and min(colours) == (85, 85, 85)


def test_a_page_that_came_alone_says_in_one_sentence_what_to_do(monkeypatch):
    monkeypatch.setattr(sys, "path", [*sys.path])
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    with pytest.raises(AssertionError, match=r"^The helpers of this page are not here\. .* Colab badge"):
        exec(setup_cell(), {})

"""The explorer of page 11: sentence, layer, head and change move everything together."""

import os

import pytest
import torch

from mha_course.models import load_minilm
from mha_course.p11_a_real_model import real_model_explorer
from mha_helpers.style import head_colour

pytestmark = pytest.mark.real_model
os.environ["HF_HUB_OFFLINE"] = "1"
SHUFFLED, OFF = "shuffle the words", "switch this head off"


@pytest.fixture
def panel():
    return real_model_explorer()


def test_it_shows_the_models_own_weights(panel):
    tokenizer, model = load_minilm()
    batch = tokenizer(panel.controls["sentence"].value, return_tensors="pt")
    with torch.no_grad():
        result = model(**batch, output_attentions=True)
    assert torch.allclose(panel.state()["weights"], torch.cat(result.attentions), atol=1e-6)


def test_what_the_page_lets_a_learner_try(panel):
    panel.set(change=SHUFFLED)
    assert panel.state()["tendencies"]["previous"][0, 2] > 0.99  # the stripe goes by place
    assert f"cosine {panel.state()['cosine']:.2f}" in panel.description() and panel.state()["cosine"] < 0.95
    on_cls = panel.state()["tendencies"]["[CLS]"].mean(dim=-1)
    assert on_cls[0] < 0.35 and on_cls[1] > 0.5
    panel.set(layer=6, head=12, change=OFF)
    assert panel.state()["cosine"] < 0.95
    panel.set(layer=5)
    assert panel.state()["cosine"] > 0.995


def test_a_head_switched_off_loses_its_colour(panel):
    blue = head_colour(0)
    before = panel.svg().count(blue)
    panel.set(change=OFF)
    assert "is off" in panel.svg() and panel.svg().count(blue) < before


def test_a_click_in_the_table_of_72_chooses_a_head(panel):
    panel.click(1, 4, 7)
    assert (panel.controls["layer"].value, panel.controls["head"].value) == (5, 8)
    assert "layer 5, head 8" in panel.svg() and "Head 5.8:" in panel.description()
    panel.click(0, 2, 3)  # a cell of the heatmap
    assert (panel.controls["layer"].value, panel.controls["head"].value) == (5, 8)


@pytest.mark.parametrize("sentence", ["", "cat " * 40])
def test_a_sentence_that_does_not_fit_is_explained(panel, sentence):
    before = panel.svg()
    panel.controls["sentence"].value = sentence
    assert "1 to 22 tokens" in panel.message() and panel.svg() == before

"""The explorer of notebook 11: sentence, layer, head, shuffle and switch move everything together."""

import pytest
import torch
from matplotlib.colors import to_hex

from mha_helpers import real_model_explorer, style
from mha_helpers.explorers.e11_picture import RealModelPicture
from mha_helpers.explorers.e11_real_model import SENTENCE, WARNING
from mha_helpers.real_model import run_minilm


@pytest.fixture(scope="module")
def panel():
    return real_model_explorer()


@pytest.fixture(autouse=True)
def from_the_start(panel):
    panel.set(sentence=SENTENCE, layer=1, head=3, shuffle=False, off=False)
    assert panel.message() == ""


def test_state_is_the_models_own(panel):
    _, result = run_minilm([SENTENCE])
    state = panel.state()
    assert state["weights"].shape == (6, 12, 11, 11)
    assert torch.equal(state["weights"], torch.stack(result.attentions)[:, 0])
    assert state["similarity"] == pytest.approx(1, abs=1e-5)


def test_the_sliders_end_with_the_models_layers_and_heads(panel):
    layer, head = panel.controls["layer"], panel.controls["head"]
    assert (layer.min, layer.max, layer.step) == (1, 6, 1)
    assert (head.min, head.max, head.step) == (1, 12, 1)


def test_every_control_changes_the_picture(panel):
    seen = {panel.png()}
    for name, value in (
        ("layer", 2), ("head", 9), ("shuffle", True), ("off", True), ("sentence", "a dog saw a dog"),
    ):  # fmt: skip
        panel.controls[name].value = value
        assert panel.message() == ""
        assert panel.png() not in seen, name
        seen.add(panel.png())


def test_what_the_page_lets_a_learner_try(panel):
    panel.controls["shuffle"].value = True
    assert panel.state()["tendencies"]["previous"][0, 2] > 0.99  # the stripe goes by place
    assert panel.state()["similarity"] < 0.95
    panel.set(shuffle=False, layer=6, head=12, off=True)
    assert panel.state()["similarity"] < 0.95
    panel.set(layer=5, head=12, off=True)
    assert panel.state()["similarity"] > 0.995
    columns = panel.state()["tendencies"]["[CLS]"].mean(dim=-1)
    assert columns[0] < 0.35 and columns[1] > 0.5
    panel.set(layer=1, head=9, off=False, sentence="the dog saw the cat")
    assert panel.state()["tendencies"]["same word"][0, 8] > 0.3
    panel.controls["sentence"].value = "one dog saw a cat"
    assert "same word nan (there is none)" in panel.description()


def test_words_warn_and_numbers_stand_beside_even_weights(panel):
    assert panel.description().endswith(WARNING)
    assert "previous 1, next 0" in panel.description()
    from mha_helpers.explorers.e11_real_model import details

    for words in ("head 1.3", "average of 72 heads", "even weights", "spread"):
        assert words in details(panel.state())


@pytest.mark.parametrize(("sentence", "words"), [("", "empty"), ("  ", "empty"), ("no " * 23, "at most 22")])
def test_a_bad_sentence_is_explained_and_the_picture_stays(panel, sentence, words):
    before = panel.png()
    panel.controls["sentence"].value = sentence
    assert words in panel.message() and panel.png() == before


@pytest.mark.parametrize("sentence", ["no", "猫吃鱼", "<b>5 $ and 6 $</b>", "no " * 22])
def test_odd_sentences_are_drawn(panel, sentence):
    panel.controls["sentence"].value = sentence
    assert panel.message() == "" and len(panel.png()) > 5000


def test_blue_and_orange_are_query_and_key_alone(panel):
    picture, state = RealModelPicture(), panel.state()
    _, artists = picture.draw(state)
    picture.update(artists, state)
    frames, bars = artists["small"]["frames"], artists["bars"]["bars"]
    colours = [*(frame.get_edgecolor() for frame in frames), *bars.get_facecolor()]
    assert [to_hex(colour).upper() for colour in colours[:2]] == [style.COLOURS["ink"], style.COLOURS["lit"]]
    assert not {to_hex(colour).upper() for colour in colours} & {style.COLOURS["query"], style.COLOURS["key"]}
    for frame in frames:  # around layer 1, head 3: two heads lie left of it
        left, width = frame.get_x(), frame.get_width()
        assert left + width / 2 == pytest.approx(2 * width + (len(state["tokens"]) - 1) / 2)

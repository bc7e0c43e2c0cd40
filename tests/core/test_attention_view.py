"""attention_view: the weights of any model (test_cells.py reads its picture); what does not fit is said in words."""

import re

import numpy
import pytest
import torch

from mha_helpers import attention_view, head_heatmaps
from mha_helpers.style import COLOURS
from mha_helpers.svg import MOST_SMALL
from tests.pages import test_every_panel
from tools.states import States

ASKS, ANSWERS = ["le", "chat"], ["the", "old", "cat"]
FRAME = f'fill="none" stroke="{COLOURS["lit"]}" stroke-width="3" pointer-events'


def random_weights(*shape):
    return torch.rand(shape, generator=torch.Generator().manual_seed(0)).softmax(dim=-1)


def numbered(n, letter="w"):
    return [f"{letter}{i}" for i in range(n)]


@pytest.mark.parametrize(
    "change",
    [
        lambda weights: weights.bfloat16(),
        lambda weights: weights.half()[None],
        lambda weights: weights.double().clone().requires_grad_(),
        lambda weights: weights.numpy(),
        lambda weights: weights.tolist(),
        lambda weights: (weights[None],),  # as Hugging Face has them: one of (1, h, n_q, n_k) a layer
    ],
)
def test_weights_of_cross_attention_are_taken_as_they_come(change):
    weights = random_weights(3, 2, 3)
    panel = attention_view(change(weights), ASKS, ANSWERS)
    torch.testing.assert_close(panel.state()["weights"], weights, atol=0.003, rtol=0)
    assert panel.message() == ""
    assert len(panel.description().splitlines()) == 2, "nothing is odd about these weights"


def test_a_slider_goes_through_the_layers_and_a_click_chooses_head_query_and_key():
    weights = random_weights(4, 3, 2, 3)
    panel = attention_view(weights, ASKS, ANSWERS, names=["looks back"])
    assert panel.controls["head"].options[0] == ("1: looks back", 0)
    panel.controls["layer"].value = 3
    panel.click(1, 0, 2)
    assert panel.state()["chosen"] == (1, 0, 2) and torch.equal(panel.state()["weights"], weights[2])
    most = ANSWERS[weights[2, 1, 0].argmax()]
    assert panel.description().startswith(f"Layer 3, head 2. “le” looks most at “{most}”")
    assert f"“le” asks, “cat” answers: weight {weights[2, 1, 0, 2]:.2f}." in panel.description()


@pytest.mark.parametrize(
    ("heads", "n_q", "n_k"), [(1, 1, 64), (32, 64, 64), (17, 64, 1), (12, 3, 40), (96, 9, 9)]
)
def test_every_size_fits_a_projector_and_every_head_can_be_chosen(heads, n_q, n_k):
    panel = attention_view(random_weights(24, heads, n_q, n_k), numbered(n_q), numbered(n_k, "k"))
    test_every_panel.test_a_panel_fits_a_projector_with_all_menus_and_its_controls_say_what_they_are(panel)
    for head in range(1, heads, 7):
        panel.controls["head"].value = head
        drawn = {int(number) for number in re.findall(r'data-cell="(\d+),', panel.svg())}
        assert head in drawn and len(drawn) == min(MOST_SMALL, heads - head // MOST_SMALL * MOST_SMALL)
        assert {f"head {i + 1}" for i in drawn} == {*re.findall(r">(head \d+)</text>", panel.svg())}
        assert panel.svg().count(FRAME) == 2, "the chosen cell, and the small map of its head"
        assert panel.description().startswith(f"Layer 1, head {head + 1}.")
    area = r'<(?:rect|image) x="([\d.]+)" y="([\d.]+)" width="([\d.]+)" height="([\d.]+)"'
    for box in re.findall(area, panel.svg()):
        x, y, width, height = map(float, box)
        assert x + width <= 860 and y + height <= 334


@pytest.mark.parametrize(
    ("weights", "words", "message"),
    [
        (torch.rand(4), [ASKS], r"\(layers, h, n_q, n_k\), of one sentence; got \(4,\)"),
        (torch.rand(2, 2, 1, 3, 3), [ANSWERS], r"of one sentence; got \(2, 2, 1, 3, 3\)"),
        (torch.rand(0, 3, 3), [ANSWERS], "got"),
        ([[[0.5, 0.5], [1.0]]], [ASKS], "as many in every row"),
        ([torch.rand(1, 2, 2), torch.rand(2, 2, 2)], [ASKS], "as many in every row, head and layer"),
        (random_weights(2, 2, 3), [ASKS], "2 queries look at 3 keys here, so name the tokens of both"),
        (random_weights(2, 2, 3), [ANSWERS, ASKS], "the other way round"),
        (random_weights(2, 3, 3), [ASKS], r"weights have 3 queries, and you named 2.*\[CLS\]"),
        (random_weights(2, 2, 3), [ASKS, ASKS], "weights have 3 keys, and you named 2"),
        (random_weights(2, 65, 65), [numbered(65)], r"Show a part: weights\[\.\.\., :64, :64\]"),
        (torch.tensor([[[0.5, -2.0]] * 2]), [ASKS], "one of these is −2. Scores become weights"),
    ],
)
def test_what_does_not_fit_is_said_in_words(weights, words, message):
    with pytest.raises(ValueError, match=message):
        attention_view(weights, *words)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda weights: weights * torch.tensor([[[1.0], [1.25]], [[1], [1]]]), "1 of 4 rows do not add up to 1: “chat” in head 1 to 1.25. Is dropout on?"),
        (lambda weights: weights[..., :2], "4 of 4 rows do not add up to 1: “chat” in head 1 to 0.57. Are keys left out?"),
        (lambda weights: torch.tensor([[[0.5, 0.3], [0.5, 0.2]]]), "Are keys left out?"),  # one column adds up to 1
        (lambda weights: weights / weights.sum(dim=-2, keepdim=True), "The columns add up to 1, not the rows."),
        (lambda weights: weights.masked_fill(torch.tensor([[True], [False]]), torch.nan), "2 of 4 rows are not a number."),
    ],
)  # fmt: skip
def test_odd_weights_are_drawn_and_the_words_say_what_is_odd(change, words):
    weights = change(random_weights(2, 2, 3))
    panel = attention_view(weights, ASKS, ANSWERS[: weights.shape[-1]])
    assert words in panel.description().splitlines()[2]
    assert panel.message() == "" and len(panel.description().splitlines()) == 3


def test_a_sentence_may_stand_for_its_tokens_and_markup_is_text():
    panel = attention_view(numpy.eye(3)[None], "<b>cat</b> eats fish")
    assert "<b>cat" not in panel.svg() and "&lt;b&gt;cat" in panel.svg()
    assert panel.state()["chosen"] == (0, 2, 2)


def test_it_plays_without_a_kernel():
    states = States(lambda: attention_view(random_weights(2, 2, 1, 2), ["le"], ASKS))
    assert list(states.live) == ["layer", "head", "key"]
    assert len([name for name in states.shown if " " not in name]) == 2 * 2 * 3


def test_the_static_heatmaps_of_cross_attention_have_the_words_of_both():
    picture = head_heatmaps(torch.eye(2, 3).expand(2, 2, 3), ASKS, keys=ANSWERS)
    ax = picture.figure.axes[0]
    labels = [[label.get_text() for label in axis.get_ticklabels()] for axis in (ax.yaxis, ax.xaxis)]
    assert labels == [ASKS, ANSWERS] and "head 2, le → the (1.00)" in picture.words

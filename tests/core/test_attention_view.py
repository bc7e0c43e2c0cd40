"""attention_view: the weights of any model; what does not fit is said in words."""

import itertools
import re
from types import SimpleNamespace

import numpy
import pytest
import torch

from mha_helpers import attention_view
from mha_helpers.style import COLOURS
from mha_helpers.svg import MOST_SMALL
from tests.pages import test_every_panel
from tests.pages.svg_reader import SeenDrawing

ASKS, ANSWERS = ["le", "chat"], ["the", "old", "cat"]
FRAME = f'fill="none" stroke="{COLOURS["lit"]}" stroke-width="3" pointer-events'


def random_weights(*shape):
    return torch.rand(shape, generator=torch.Generator().manual_seed(0)).softmax(dim=-1)


def numbered(n, letter="w"):
    return [f"{letter}{i}" for i in range(n)]


def test_weights_of_cross_attention_are_taken_as_they_come():
    weights = random_weights(3, 2, 3)
    kinds = [weights.bfloat16(), weights.half()[None], weights.double().requires_grad_(), weights.numpy()]
    answer = SimpleNamespace(logits=None, attentions=(weights[None],))  # as a model of Hugging Face returns
    for given in (*kinds, weights.tolist(), answer.attentions, answer, {"a": weights[None]}):
        panel = attention_view(given, ASKS, ANSWERS)
        torch.testing.assert_close(panel.state()["weights"], weights, atol=0.003, rtol=0)
        assert panel.message() == ""
        assert len(panel.description().splitlines()) == 2, "nothing is odd about these weights"
    for seen, matrix in zip(SeenDrawing(panel.svg()).heatmaps, [weights[0], *weights], strict=True):
        pairs = itertools.product(ASKS, ANSWERS)
        said = [f"{' → '.join(pair)}: {w:.2f}" for pair, w in zip(pairs, matrix.flatten(), strict=True)]
        assert [cell.said for cell in seen.cells.values()] == said


@pytest.mark.parametrize("sizes", [(1, 1, 64), (32, 64, 64), (17, 64, 1), (12, 3, 40), (96, 9, 9)])
def test_every_size_fits_a_projector_and_every_head_can_be_chosen(sizes):
    heads, n_q, n_k = sizes
    panel = attention_view(random_weights(24, heads, n_q, n_k), numbered(n_q), numbered(n_k, "k"))
    test_every_panel.test_a_panel_fits_a_projector_with_all_menus_and_its_controls_say_what_they_are(panel)
    panel.set(layer=1)
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
        (torch.rand(4), [ASKS], r"\(layers, h, n_q, n_k\), of one sentence.*; got \(4,\)"),
        (torch.rand(2, 2, 1, 3, 3), [ANSWERS], r"got \(2, 2, 1, 3, 3\)\. Show one sentence: weights\[:, :1\], or layer"),
        ({"a": random_weights(2, 4, 3, 3)}, [], "Show one sentence"),
        (torch.rand(0, 3, 3), [ANSWERS], "There are none"),
        ([[[0.5, 0.5], [1.0]]], [ASKS], r"must be numbers .*expected sequence of length 2 at dim 2 \(got 1\)"),
        ([torch.rand(1, 2, 2), torch.rand(2, 2, 2)], [ASKS], r"got \[1, 2, 2\] at entry 0 and \[2, 2, 2\] at entry 1"),
        (random_weights(2, 2, 3), [ASKS], r"have 2 queries \(rows\) and 3 keys \(columns\), and you named 2 and 2.*\[CLS\]"),
        (random_weights(2, 3, 3), [ASKS], "you named 2 and 2"),
        (random_weights(2, 66, 66), [numbered(66)], r"at most 65 .*got \(2, 66, 66\)\. Show a part: weights\[\.\.\., :65, :65\]\.$"),
        *((nothing, [], 'Load the model with attn_implementation="eager"') for nothing in ((), None, (None, None), {})),
        ((random_weights(1, 4, 3, 3), None), [], "NoneType.*eager"),
        (torch.tensor([[[0.5, -2.0]] * 2]), [ASKS], "from 0 up, .*Scores become weights by torch.softmax"),
        (torch.nested.nested_tensor([torch.eye(2)], layout=torch.jagged), [], "weights must be numbers"),  # of several lengths
    ],
)  # fmt: skip
def test_what_does_not_fit_is_said_in_words(weights, words, message):
    with pytest.raises(ValueError, match=message):
        attention_view(weights, *words)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda weights: weights * torch.tensor([[[1.0], [1.25]], [[1], [1]]]), "1 of 4 rows do not add up to 1: “chat” in head 1 to 1.25. Is dropout on (call .eval() first), or are they scaled?"),
        (lambda weights: weights[..., :2], "4 of 4 rows do not add up to 1: “chat” in head 1 to 0.57. Are keys left out?"),
        (lambda weights: torch.tensor([[[0.5, 0.5], [0.5, 0.2]]]), "Are keys left out?"),  # one column adds up to 1
        (lambda weights: 100 * weights, " to 100. Is dropout on (call .eval() first), or are they scaled?"),
        (lambda weights: weights / weights.sum(dim=-2, keepdim=True), "The columns add up to 1, not the rows."),
        (lambda weights: weights.masked_fill(torch.tensor([[True], [False]]), torch.nan), "2 of 4 rows are not a number."),
    ],
)  # fmt: skip
def test_odd_weights_are_drawn_and_the_words_say_what_is_odd(change, words):
    weights = change(random_weights(2, 2, 3))
    panel = attention_view(weights, ASKS, ANSWERS[: weights.shape[-1]])
    assert words in panel.description().splitlines()[2]
    assert panel.message() == "" and len(panel.description().splitlines()) == 3


def test_several_layers_begin_with_an_overview_whose_cells_lead_to_the_heads():
    weights = random_weights(3, 4, 2, 3)
    layers = dict(zip(("first", "second", "third"), weights, strict=True))
    panel = attention_view(layers, ASKS, ANSWERS, names=["looks back"])
    largest = weights.amax(dim=-1).mean(dim=-1)
    torch.testing.assert_close(panel.state()["weights"], largest)
    layer, head = divmod(int(largest.argmax()), 4)
    most = f"layer {[*layers][layer]}, head {head + 1} ({largest.max():.2f})"
    assert f"The most has {most}." in panel.description()
    shown = SeenDrawing(panel.svg()).heatmaps[0].cells
    assert len(shown) == 12 and shown[1, 2].said == f"second → 3: {largest[1, 2]:.2f}"
    panel.click(0, 1, 2)
    assert torch.equal(panel.state()["weights"], weights[1]) and panel.state()["chosen"][0] == 2
    panel.click(1, 0, 2)
    assert panel.state()["chosen"] == (1, 0, 2) and panel.controls["head"].options[0] == ("1: looks back", 0)
    most = ANSWERS[weights[1, 1, 0].argmax()]
    assert panel.description().startswith(f"Layer second, head 2. “le” looks most at “{most}”")
    assert f"“le” asks, “cat” answers: weight {weights[1, 1, 0, 2]:.2f}." in panel.description()
    panel.controls["layer"].value = 0
    assert torch.equal(panel.state()["weights"], largest)


def test_one_tensor_of_four_axes_says_how_it_was_read():
    assert "Of a batch, show one sentence" in attention_view(random_weights(2, 4, 3, 3)).description()
    assert "Of a batch" not in attention_view([random_weights(1, 4, 3, 3)] * 2).description()
    assert "Of a batch" not in attention_view(random_weights(1, 4, 3, 3)).description()


def test_weights_that_are_small_can_be_coloured_by_the_largest():
    panel = attention_view(random_weights(4, 12, 12))
    weights = panel.state()["weights"]
    assert weights.max() < 0.3 and "deepest" not in panel.description()
    panel.set(colour="0 to the largest weight shown")
    assert f"The deepest colour is {weights.max():.3f}." in panel.description()
    for seen, matrix in zip(SeenDrawing(panel.svg()).heatmaps, [weights[0], *weights], strict=True):
        opacity, share = float(seen.cells[2, 3].rect.get("fill-opacity")), matrix[2, 3] / weights.max()
        assert opacity == pytest.approx(float(share), abs=0.006), "large and small ones have one scale"


def test_sixty_four_tokens_have_single_cells_names_and_the_width():
    panel = attention_view(random_weights(12, 64, 64), numbered(64))
    large, *small = SeenDrawing(panel.svg()).heatmaps
    assert len(large.cells) == 64 * 64 and len(small) == 12
    assert large.cells[63, 63].x + large.cells[63, 63].width - large.cells[0, 0].x > 380
    names = [text.text for text in large.texts if re.fullmatch(r"w\d+", text.text)]
    assert len(names) >= 2 * 15 and "w63" in names
    patches = attention_view(random_weights(1, 65, 65), ["[CLS]", *numbered(64)])
    assert len(SeenDrawing(patches.svg()).heatmaps[0].cells) == 65 * 65


def test_tokens_may_be_numbers_or_left_out_or_one_sentence_and_markup_is_text():
    panel = attention_view(random_weights(2, 3, 3), torch.tensor([101, 4, 102]))
    assert "“102” looks most at" in panel.description()
    assert "“2” asks" in attention_view(random_weights(2, 2, 3)).description()
    named = attention_view(torch.eye(3)[None, 2:], ["le"], range(1, 4))
    assert "“le” asks, “3” answers" in named.description()
    assert torch.equal(attention_view(torch.eye(3).to_sparse()).state()["weights"], torch.eye(3)[None])
    markup = attention_view(numpy.eye(3)[None], "<b>cat</b> eats fish")
    assert "<b>cat" not in markup.svg() and "&lt;b&gt;cat" in markup.svg()
    assert markup.state()["chosen"] == (0, 2, 2)

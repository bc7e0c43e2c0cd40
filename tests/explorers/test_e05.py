"""The mask explorer: what is ticked and what is shown are the same thing."""

import io
import itertools

import numpy as np
import pytest
import torch
from matplotlib.backends.backend_agg import FigureCanvasAgg
from PIL import Image

from mha_helpers import (
    attention_weights,
    causal_mask,
    golden_example,
    mask_explorer,
    mask_scores,
    padding_mask,
    sliding_window_mask,
)
from mha_helpers.explorers.e05_causal_mask import MOST_TOKENS, PAD, SCORES
from mha_helpers.explorers.e05_picture import TITLES, MaskSteps
from mha_helpers.heatmap_cells import _minus, _stamp


@pytest.fixture
def panel():
    panel = mask_explorer()
    yield panel
    panel.close()


def test_the_empty_text_field_shows_what_to_write(panel):
    assert panel.controls["by_hand"].placeholder == "(row, column)=1 or 0"


def pixels(panel):
    return np.asarray(Image.open(io.BytesIO(panel.png())).convert("RGB"))


@pytest.mark.parametrize("causal", [False, True])
@pytest.mark.parametrize("padding", [False, True])
@pytest.mark.parametrize("sliding", [False, True])
def test_the_ticked_masks_are_combined_with_and(panel, causal, padding, sliding):
    panel.set(causal=causal, padding=padding, sliding=sliding, length=4, window=1)
    expected = torch.ones(7, 7, dtype=torch.bool)
    if causal:
        expected &= causal_mask(7)
    if padding:
        expected &= padding_mask([4], 7)[0, 0]
    if sliding:
        expected &= sliding_window_mask(7, 1)
    state = panel.state()
    assert torch.equal(state["mask"], expected)
    assert torch.equal(state["masked"], mask_scores(state["scaled"], expected))
    assert torch.equal(state["weights"], attention_weights(state["masked"]))
    assert f"{int((~expected).sum())} of 49 cells are masked" in panel.description()
    assert not panel.message()


@pytest.mark.parametrize("head", [1, 2, 3])
def test_the_golden_example_gives_the_numbers_of_the_page(panel, head):
    example = golden_example()
    panel.set(scores=SCORES[head], causal=True)
    weights = example.attention().trace(example.x, causal_mask(3)).weights[head - 1]
    assert torch.allclose(panel.state()["weights"], weights)


def test_what_try_this_1_promises(panel):
    panel.set(scores=SCORES[2], query=1, key=2, causal=False)
    assert panel.state()["weights"][1].tolist() == pytest.approx([0.088, 0.178, 0.734], abs=5e-4)
    panel.controls["causal"].value = True
    assert panel.state()["weights"][1].tolist() == pytest.approx([0.330, 0.670, 0], abs=5e-4)


def test_what_try_this_2_promises(panel):
    panel.set(causal=False, length=4)
    assert panel.state()["tokens"] == ["the", "cat", "eats", "the", PAD, PAD, PAD]
    on_padding = panel.state()["weights"][:4, 4:].sum(dim=-1).max().item()
    assert on_padding > 0.1
    assert f"Real tokens attend to padding: up to {100 * on_padding:.0f} % of a row" in panel.description()
    panel.controls["padding"].value = True
    assert panel.state()["weights"][:, 4:].count_nonzero() == 0
    assert torch.allclose(panel.state()["weights"].sum(dim=-1), torch.ones(7))  # the rows of padding stay
    assert "attend to padding" not in panel.description()


def test_what_try_this_3_promises(panel):
    panel.set(query=2, key=3)
    assert panel.controls["may_attend"].value is False
    panel.controls["may_attend"].value = True
    assert panel.state()["mask"][2, 3]
    assert panel.controls["by_hand"].value == "(3, 4)=1"
    assert "A leak: 1 cell looks ahead." in panel.description()
    panel.controls["may_attend"].value = False
    assert panel.controls["by_hand"].value == ""
    panel.set(query=0, key=0)
    assert panel.controls["may_attend"].value is True
    panel.controls["may_attend"].value = False
    assert panel.state()["weights"][0].tolist() == [0] * 7
    assert "Row 1 has no key left. A plain softmax gives NaN there." in panel.description()
    panel.set(padding=True, length=1, sliding=True, window=1)
    assert "Rows 1, 3, 4, 5, 6 and 7 have no key left." in panel.description()


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"scores": SCORES[1], "length": 2, "query": 2}, "3 of 3 keys, equally to all of them (0.33)."),
        ({"query": 0}, "7 of 7 keys, most to “the” in column 4 (0.20)."),
        ({"query": 1, "causal": True}, "2 of 7 keys, most to “cat” (0.76)."),
        ({"query": 1, "by_hand": "(2, 1)=0", "causal": True}, "1 of 7 keys, most to “cat” (1.00)."),
        ({}, "No mask: 0 of 49 cells are masked."),
        ({"by_hand": "(1, 1)=0"}, "No kind of mask: 1 of 49 cells is masked. 1 cell is set by hand."),
        ({"causal": True, "sliding": True}, "Causal & sliding window mask: "),
        (
            {"by_hand": "(3, 6)=1 (1, 1)=0", "causal": True},
            "21 of 49 cells are masked. 2 cells are set by hand.",
        ),
        (
            {"sentence": "cat"},
            "No mask: 0 of 1 cell are masked. “cat” (row 1) may attend to 1 of 1 key, most to",
        ),
        ({"query": 2, "key": 3}, " Column 4, “the”: scaled score 0.65, weight 0.10."),
        ({"query": 2, "key": 3, "causal": True}, " Column 4, “the”: masked."),
    ],
)
def test_the_words_are_true_of_ties_of_repeated_words_and_of_one(panel, settings, words):
    panel.set(**{"causal": False, **settings})
    assert words in panel.description()


def test_little_weight_on_padding_is_not_called_none(panel):
    panel.controls["sentence"].value = " ".join(f"w{i}" for i in range(17))
    panel.set(causal=True, length=16, by_hand="(13, 17)=1")
    assert 0.005 < panel.state()["weights"][12, 16] < 0.015
    assert "Real tokens attend to padding: up to 1 % of a row." in panel.description()
    panel.controls["by_hand"].value = "(11, 17)=1"
    assert 0 < panel.state()["weights"][10, 16] < 0.005
    assert "Real tokens attend to padding: less than 1 % of a row." in panel.description()


@pytest.mark.parametrize("count", range(2, 20))
def test_all_cells_of_a_heatmap_have_their_number_or_none(panel, count):
    panel.set(causal=False, sentence=" ".join(["word"] * count))
    state = panel.state()
    _, artists = MaskSteps().draw(state)
    for parts, values in zip(artists[1:], (state["masked"], state["weights"]), strict=True):
        cells = parts["cells"]
        cells.values = np.ma.masked_array(values.numpy(), ~state["mask"].numpy())
        if cells.decimals is not None:
            side = round(cells.box.width)
            widest = max(
                _stamp(
                    f"{value:.{cells.decimals}f}", False, _minus(f"{cells.norm.vmin:.1f}", side / count)
                ).shape[1]
                for value in values.flatten().tolist()
            )
            assert widest <= side / count
    assert (artists[2]["cells"].decimals is None) == (round(artists[2]["cells"].box.width) / count < 28)


def test_a_cell_set_by_hand_stays_what_it_was_set_to(panel):
    panel.controls["by_hand"].value = "(3, 6)=1 (1, 1)=0"
    for causal in (True, False, True):
        panel.controls["causal"].value = causal
        assert panel.state()["mask"][2, 5]
        assert not panel.state()["mask"][0, 0]
    panel.controls["by_hand"].value = ""
    assert torch.equal(panel.state()["mask"], causal_mask(7))


@pytest.mark.parametrize("text", ["x", "(1, 2)", "(1, 2)=2", "1, 2", "(0, 1)=1", "<b>"])
def test_what_is_no_list_of_cells_is_said(panel, text):
    before = panel.png()
    panel.controls["by_hand"].value = text
    assert f"“{text}” is no list of cells" in panel.message()
    assert panel.png() == before
    panel.controls["by_hand"].value = ""
    assert not panel.message()


def test_the_picture_follows_every_control(panel):
    panel.set(length=6)
    changes = {
        "padding": True,
        "length": 5,
        "sliding": True,
        "window": 2,
        "query": 4,
        "key": 1,
        "causal": False,
    }
    for name, value in changes.items():
        before = pixels(panel)
        panel.controls[name].value = value
        assert not np.array_equal(before, pixels(panel)), name


def test_masked_cells_are_hatched_in_all_three_pictures(panel):
    panel.set(causal=False)
    open_cells = pixels(panel)
    panel.set(causal=True)
    changed = (open_cells != pixels(panel)).any(axis=2).any(axis=0).nonzero()[0]
    width = open_cells.shape[1]
    for third in range(3):
        assert ((changed > third * width / 3) & (changed < (third + 1) * width / 3)).any()


def test_the_pickers_follow_the_sentence(panel):
    panel.set(query=6, key=6)
    panel.controls["sentence"].value = "cats sleep"
    assert panel.state()["selected"] == (1, 1)
    assert [label for label, _ in panel.controls["query"].options] == ["1 cats", "2 sleep"]
    assert panel.controls["length"].value == panel.controls["length"].max == 2
    panel.controls["sentence"].value = "猫 <b>吃</b> 鱼 $x$ $y$"
    assert not panel.message()
    assert "<b>" not in panel._details_box.value.split("</caption>", 1)[1]


def test_an_empty_or_endless_sentence_is_said(panel):
    panel.controls["sentence"].value = " "
    assert "The sentence is empty" in panel.message()
    panel.controls["sentence"].value = "a " * (MOST_TOKENS + 3)
    assert "Take out at least 3" in panel.message()
    panel.controls["sentence"].value = "a " * MOST_TOKENS
    assert not panel.message()
    assert panel.state()["weights"].shape == (MOST_TOKENS, MOST_TOKENS)


def test_no_real_token_at_all(panel):
    panel.set(length=0, padding=True)
    assert not panel.message()
    assert panel.state()["weights"].count_nonzero() == 0


def test_moving_the_length_draws_no_new_figure(panel):
    panel.set(length=6)
    layouts = len(panel._renderer._drawn)
    for length in range(7):
        panel.controls["length"].value = length
    assert len(panel._renderer._drawn) == layouts


@pytest.mark.parametrize("sentence", ["cat", "cat eats", "cat eats fish"])
def test_titles_do_not_overlap(sentence):
    state = mask_explorer(sentence).state()
    figure, _ = MaskSteps().draw(state)
    FigureCanvasAgg(figure).draw()
    titles = [axes.get_title(loc="left") for axes in figure.axes[:3]]
    assert titles == list(TITLES)
    extents = [axes._left_title.get_window_extent() for axes in figure.axes[:3]]
    assert all(one.x1 + 4 < other.x0 for one, other in itertools.pairwise(extents))
    assert extents[-1].x1 <= figure.bbox.width

"""The explorer of page 05: its weights are those of plain torch, and every way to change a cell changes it."""

import pytest
import torch

from mha_course.p05_causal_mask import mask_explorer
from mha_course.p05_causal_mask.explorer import MASK, MASKS
from mha_helpers.sentence import hand_made_heads, sentence_vectors


@pytest.mark.parametrize("name", MASKS)
def test_the_weights_are_those_of_a_plain_softmax(name):
    panel = mask_explorer()
    panel.set(mask=name, head=1)
    state, (_, x) = panel.state(), sentence_vectors(panel.controls["sentence"].value)
    w_q, w_k, _, _ = hand_made_heads(4, 16)
    scores = (x @ w_q[1]) @ (x @ w_k[1]).T / 4
    expected = torch.softmax(scores.masked_fill(~state["mask"], -torch.inf), dim=-1)
    torch.testing.assert_close(state["weights"], expected)


def test_padding_takes_columns_and_the_causal_mask_what_is_later():
    panel = mask_explorer()
    panel.set(sentence="cat eats [pad]", mask="padding")
    assert panel.state()["mask"].tolist() == [[True, True, False]] * 3
    panel.set(mask="causal and padding")
    assert panel.state()["mask"].tolist() == [[True, False, False], [True, True, False], [True, True, False]]


def test_a_click_and_the_box_allow_or_forbid_one_cell():
    panel = mask_explorer()
    before = panel.state()["mask"]
    for clicks in (1, 2, 3):
        panel.click(MASK, 2, 6)
        assert (panel.state()["mask"] != before).sum() == clicks % 2
        assert panel.controls["mask"].value == "your own"
    panel.controls["allowed"].value = False
    assert torch.equal(panel.state()["mask"], before)
    panel.click(0, 4, 1)  # the weights: a click there chooses
    state = panel.state()
    assert (state["query"], state["key"]) == (4, 1) and torch.equal(state["mask"], before)


def test_the_words_that_look_ahead_are_counted_not_those_looked_at():
    panel = mask_explorer()
    panel.click(MASK, 1, 2)
    panel.click(MASK, 1, 3)
    assert "1 word may look at a later word: a leak" in panel.description()


def test_a_row_without_a_key_is_told():
    panel = mask_explorer()
    panel.click(MASK, 0, 0)
    assert "NaN" in panel.description() and panel.state()["weights"][0].sum() == 0

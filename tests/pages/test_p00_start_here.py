"""The explorers of pages 00 and 09: heads made by hand, and the three heads of "cat eats fish"."""

import math

import torch

from mha_helpers import causal_mask, golden_example
from mha_helpers.pages.p00_start_here import attention_explorer, cat_eats_fish_heads


def test_its_weights_are_those_of_plain_softmax():
    panel = attention_explorer()
    panel.set(heads=6, d_k=7, mask="causal")
    state = panel.state()
    scores = state["q"] @ state["k"].transpose(-2, -1) / math.sqrt(7)
    scores = scores.masked_fill(~causal_mask(len(state["tokens"])), -torch.inf)
    assert torch.allclose(state["weights"], scores.softmax(-1), atol=1e-6)
    assert torch.allclose(state["heads"], state["weights"] @ state["v"], atol=1e-5)


def test_the_frame_is_on_the_strongest_cell_until_a_click_chooses_another():
    panel = attention_explorer()
    head, row, column = panel.state()["chosen"]
    assert column == panel.state()["weights"][head, row].argmax()
    panel.set(d_k=1)  # five words alike
    assert panel.state()["chosen"] == (0, 3, 2)  # still “cat”
    panel.click(1, 4, 0)
    assert panel.state()["chosen"] == (1, 4, 0) and panel.controls["head"].label == "2 same word"


def test_the_three_heads_of_page_00_are_those_of_the_example():
    panel = cat_eats_fish_heads()
    example = golden_example()
    expected = example.attention()(example.x)[1]
    assert torch.equal(panel.state()["weights"], expected.detach())
    panel.click(1, 1, 2)
    assert panel.description().startswith("Head 2: what is eaten. “eats” gives “cat” 0.028")

"""The explorer of page 00: heads made by hand, with the weights of plain torch."""

import math

import torch

from mha_course.p00_start_here import attention_explorer
from mha_helpers import causal_mask


def test_its_weights_are_those_of_plain_softmax():
    panel = attention_explorer()
    panel.set(heads=6, d_k=7, mask="causal")
    state = panel.state()
    scores = state["q"] @ state["k"].transpose(-2, -1) / math.sqrt(7)
    scores = scores.masked_fill(~causal_mask(len(state["tokens"])), -torch.inf)
    assert torch.allclose(state["weights"], scores.softmax(-1), atol=1e-6)
    assert torch.allclose(state["heads"], state["weights"] @ state["v"], atol=1e-5)


def test_the_frame_is_on_the_strongest_cell_and_of_some_alike_on_the_nearest():
    panel = attention_explorer()
    head, row, column = panel.state()["chosen"]
    assert column == panel.state()["weights"][head, row].argmax()
    panel.set(d_k=1)  # five words alike
    assert panel.state()["chosen"] == (0, 3, 2)  # still “cat”

"""The explorer of page 07: one output mixed as plain torch mixes it, from values that move no weight."""

import math

import pytest
import torch

from mha_course.p07_weighted_values import values_explorer
from mha_helpers import golden_example


@pytest.mark.parametrize(("head", "query"), [(0, 1), (1, 2), (2, 0)])
def test_the_output_is_that_of_plain_torch(head, query):
    panel = values_explorer()
    panel.set(head=head, query=query, temperature=0.5)
    example, columns = golden_example(), slice(2 * head, 2 * head + 2)
    q, k, v = (example.x @ w[:, columns] for w in (example.w_q, example.w_k, example.w_v))
    expected = torch.softmax(q @ k.T / math.sqrt(2) / 0.5, dim=-1) @ v
    torch.testing.assert_close(panel.state()["output"], expected[query])
    torch.testing.assert_close(panel.state()["pieces"].sum(dim=0), expected[query])


def test_other_values_move_the_output_and_no_weight():
    panel = values_explorer()
    before = panel.state()
    panel.set(values="cat and fish swapped")
    assert torch.equal(panel.state()["weights"], before["weights"])
    assert torch.equal(panel.state()["v"], before["v"][[2, 1, 0]])  # cat and fish
    assert (panel.state()["output"] - before["output"]).abs().max() > 0.5
    panel.set(values="1 from every word")
    torch.testing.assert_close(panel.state()["output"], torch.ones(2))

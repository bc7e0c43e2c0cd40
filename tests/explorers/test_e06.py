"""The explorer of page 06: its weights are those of torch.softmax, and it fails where plain softmax fails."""

import math

import pytest
import torch

from mha_helpers import golden_example
from mha_helpers.explorers import softmax_explorer
from mha_helpers.explorers.e06_softmax import ALL


@pytest.mark.parametrize("shift", [False, True])
@pytest.mark.parametrize(("head", "query"), [(0, 1), (1, 2), (2, 0)])
def test_the_weights_are_those_of_torch(head, query, shift):
    panel = softmax_explorer()
    panel.set(head=head, query=query, shift=shift, cat=-1.5, every=7, temperature=0.5, hide=2)
    example = golden_example()
    columns = slice(2 * head, 2 * head + 2)
    scores = (example.x @ example.w_q[:, columns] @ (example.x @ example.w_k[:, columns]).T)[query]
    scores = (scores / math.sqrt(2) + torch.tensor([5.5, 7.0, -torch.inf])) / 0.5
    torch.testing.assert_close(panel.state()["weights"], scores.softmax(-1))


@pytest.mark.parametrize("every", [-110, 100])
def test_only_the_shifted_softmax_survives_a_large_constant(every):
    panel = softmax_explorer()
    right = panel.state()["weights"]
    panel.set(every=every)
    assert panel.state()["weights"].isnan().all() and "NaN" in panel.description()
    panel.set(shift=True)
    torch.testing.assert_close(panel.state()["weights"], right, rtol=1e-4, atol=1e-6)


@pytest.mark.parametrize("shift", [False, True])
def test_a_row_without_any_key_is_told(shift):
    panel = softmax_explorer()
    panel.set(hide=ALL, shift=shift)
    assert panel.state()["weights"].isnan().all() and "NaN" in panel.description()


def test_a_click_hides_a_word_and_the_next_shows_it():
    panel = softmax_explorer()
    before = panel.state()["weights"]
    panel.click(0, 1, 0)
    assert panel.state()["weights"][0] == 0
    panel.click(0, 1, 0)
    assert torch.equal(panel.state()["weights"], before)


def test_every_control_changes_a_picture_of_one_size():
    panel = softmax_explorer()
    for name, value in dict(cat=2, every=1, temperature=3, head=2, query=0, hide=1, shift=True).items():
        before = panel.svg()
        panel.set(**{name: value})
        assert panel.svg() != before and 'width="860" height="344"' in panel.svg(), name

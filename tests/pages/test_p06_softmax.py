"""The explorer of page 06: its weights are those of torch.softmax, and it fails where plain softmax fails."""

import math

import pytest
import torch

from mha_course.p06_softmax import softmax_explorer
from mha_helpers import golden_example


@pytest.mark.parametrize("shift", [False, True])
@pytest.mark.parametrize(("head", "query"), [(0, 1), (1, 2), (2, 0)])
def test_the_weights_are_those_of_torch(head, query, shift):
    panel = softmax_explorer()
    panel.set(head=head, query=query, shift=shift, cat=-1.5, every=50, temperature=2, hide="fish")
    example = golden_example()
    columns = slice(2 * head, 2 * head + 2)
    scores = (example.x @ example.w_q[:, columns] @ (example.x @ example.w_k[:, columns]).T)[query]
    scores = (scores / math.sqrt(2) + torch.tensor([48.5, 50.0, -torch.inf])) / 2
    torch.testing.assert_close(panel.state()["weights"], scores.softmax(-1))


@pytest.mark.parametrize(("every", "not_a_number"), [(50, []), (86, [0]), (90, [0, 1, 2])])
def test_only_the_shifted_softmax_survives_a_large_constant(every, not_a_number):
    """The values that page 06 names: it says that at 50 no weight moves, at 86 “cat” is NaN, at 90 all are."""
    panel = softmax_explorer()
    right = panel.state()["weights"]
    panel.set(every=every)
    weights = panel.state()["weights"]
    assert weights.isnan().nonzero().flatten().tolist() == not_a_number
    if not_a_number:
        assert "NaN" in panel.description() and (weights.nan_to_num() == 0).all()
        panel.set(shift=True)
    torch.testing.assert_close(panel.state()["weights"], right, rtol=1e-4, atol=1e-6)


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"query": 2, "every": 86, "cat": 1.25}, "their sum is too large for float32"),  # though no power is
        ({"cat": 6}, "6827.04"),
        ({"head": 2, "query": 0}, "“cat” has as much weight as any other, 0.333."),
    ],
)
def test_what_is_odd_is_told(settings, words):
    panel = softmax_explorer()
    panel.set(**settings)
    assert words in panel.description()


def test_a_click_hides_a_word_and_the_next_shows_it():
    panel = softmax_explorer()
    before = panel.state()["weights"]
    panel.click(0, 1, 0)
    assert panel.state()["weights"][0] == 0
    panel.click(0, 1, 0)
    assert torch.equal(panel.state()["weights"], before)

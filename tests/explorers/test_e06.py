"""The softmax explorer over its whole grid: three steps, temperature, and the overflow."""

import itertools
import warnings

import pytest
import torch

from mha_helpers import softmax_explorer

ROWS = [(2.0, -0.5, 0.0, 1.0), (0.0, 0.0, 0.0, 0.0), (-5.0, 5.0, -5.0, 5.0)]


@pytest.fixture(scope="module")
def panel():
    return softmax_explorer()


def move(panel, row, **others):
    panel.set(**{f"score_{number}": score for number, score in enumerate(row, start=1)}, **others)


@pytest.mark.parametrize("row, temperature, shift", list(itertools.product(ROWS, [0.1, 1.0, 10.0], [0, 200])))
def test_every_row_and_temperature(panel, row, temperature, shift):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        move(panel, row, temperature=temperature, shift=shift, minus_maximum=True)
    state = panel.state()
    assert panel.message() == ""
    expected = torch.softmax(torch.tensor(row) / state["temperature"], dim=-1)
    torch.testing.assert_close(state["weights"], expected, atol=1e-3, rtol=0)
    torch.testing.assert_close(state["weights"].sum(), torch.tensor(1.0))
    assert state["exponentials"].max() == 1
    assert "They sum to 1." in panel.description()


def test_without_the_maximum_small_scores_are_the_same(panel):
    move(panel, ROWS[0], temperature=1.0, shift=0, minus_maximum=True)
    right = panel.state()["weights"]
    panel.set(minus_maximum=False)
    torch.testing.assert_close(panel.state()["weights"], right)
    torch.testing.assert_close(panel.state()["exponentials"], torch.tensor(ROWS[0]).exp())


def test_without_the_maximum_large_scores_overflow_and_the_words_say_so(panel):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        move(panel, ROWS[0], temperature=1.0, shift=90, minus_maximum=False)
    assert panel.state()["weights"].isnan().any()
    assert "e to such a large power is ∞ for float32" in panel.description()
    assert "Tick “subtract the maximum first”" in panel.description()
    panel.set(minus_maximum=True)
    assert not panel.state()["weights"].isnan().any()


@pytest.mark.parametrize(
    ("scores", "temperature", "shift", "words"),
    [
        ([5.0, 5.0, 5.0, 5.0], 1.0, 90, "the weights are nan."),
        ([5.0, -5.0, -5.0, -5.0], 1.0, 90, "cat gets nan, the others 0."),
        ([5.0, 5.0, -5.0, -5.0], 1.0, 90, "cat and eats get nan, the others 0."),
        ([-1.5, -1.5, -1.5, -1.5], 1.0, 90, "The sum is ∞ for float32"),
        ([-1.3, -1.4, -5.0, -5.0], 1.0, 90, "all weights are 0. Tick “subtract the maximum first”."),
    ],
)
def test_what_overflows_is_named(panel, scores, temperature, shift, words):
    move(panel, scores, temperature=temperature, shift=shift, minus_maximum=False)
    assert words in panel.description()
    weights = panel.state()["weights"]
    assert weights.isnan().any() or not weights.any()


def test_each_control_changes_the_picture(panel):
    move(panel, ROWS[0], temperature=1.0, shift=0, minus_maximum=True)
    changes = {f"score_{number}": 3.0 for number in range(1, 5)}
    for name, value in {**changes, "temperature": 2.0, "shift": 10, "minus_maximum": False}.items():
        before = panel.png()
        panel.controls[name].value = value
        assert panel.png() != before, name


def test_float32_overflows_also_where_the_learner_calculates_in_float64(panel, float64_by_default):
    move(panel, ROWS[1], temperature=1.0, shift=90, minus_maximum=False)
    assert panel.state()["weights"].isnan().any()


@pytest.mark.parametrize(
    "scores, said",
    [
        ((0.0, 0.0, 0.0, 0.0), " All get the same."),
        ((1.0, -0.5, 0.0, 1.0), " cat and now get most."),
        ((1.0, 1.0, 0.0, 1.0), " cat, eats and now get most."),
        ((1.0, 1.1, 0.0, 1.0), " eats gets most."),
    ],
)
def test_equal_weights_are_said_to_be_equal(scores, said):
    assert said in softmax_explorer(scores=scores).description()


def test_the_words_tell_of_the_step_between(panel):
    move(panel, (1.0, 0.0, 0.0, 0.0), temperature=1.0, shift=0, minus_maximum=True)
    assert " e to the power of each less the maximum: 1, 0.368, 0.368, 0.368. Weights:" in panel.description()
    panel.controls["minus_maximum"].value = False
    assert " e to the power of each: 2.718, 1, 1, 1. Weights:" in panel.description()
    panel.controls["shift"].value = 80
    assert " e to the power of each: 2e35, 6e34, 6e34, 6e34. Weights:" in panel.description()

"""A plain softmax gives NaN where a row has no key; other mistakes beside it are still told by name."""

import pytest
import torch
from exercise_rules import status
from sample_exercises import told

from mha_helpers.exercises import e06_softmax, e07_weighted_values, e09_concat_and_output
from mha_helpers.exercises.mistakes import MASKING, SCALING, SCORES, pick
from mha_helpers.exercises.whole_mistakes import CLASS, FAULTS, attention_class, attention_with

WHOLE, BLANK = e07_weighted_values.whole_attention, e09_concat_and_output.the_class
STEPS = {
    "scale": SCALING,
    "scores": pick(SCORES, "queries with queries", "keys with keys"),
    "masking": pick(MASKING, "mask polarity", "mask left out", "padding on rows"),
}


def plain(scores):
    return torch.softmax(scores, dim=-1)


def without_nan(scores):
    return plain(scores).nan_to_num()


@pytest.mark.parametrize("softmax", [plain, without_nan])
@pytest.mark.parametrize(("step", "name"), [(step, one.name) for step in STEPS for one in STEPS[step]])
def test_a_mistake_in_whole_attention_is_named_beside_nan(step, name, softmax):
    (mistake,) = pick(STEPS[step], name)
    answer = attention_with(**{step: mistake.wrong}, softmax=softmax)
    assert told(WHOLE, answer) == mistake.sentence


@pytest.mark.parametrize("softmax", [plain, without_nan])
@pytest.mark.parametrize(
    "name",
    [
        "no scale",
        "÷d_k",
        "d_k taken as d_model",
        "mask polarity",
        "reshape without transpose",
        "heads merged without transpose",
        "W_O missing",
        "V from W_K",
        "Q and K swapped",
    ],
)
def test_a_mistake_in_the_class_is_named_beside_nan(name, softmax):
    sentence = pick(CLASS, name)[0].sentence
    assert told(BLANK, attention_class(**FAULTS[name], softmax=softmax)) == sentence


def test_nan_alone_is_told_as_nan():
    assert told(WHOLE, attention_with(softmax=plain)).startswith("A row that is −∞ everywhere becomes NaN")
    assert status(WHOLE, attention_with(softmax=without_nan))[0] == "correct"


def all_nan(q, k, v, mask=None):
    output, weights = attention_with()(q, k, v, mask)
    return output * torch.nan, weights * torch.nan


def test_nan_everywhere_is_no_other_mistake():
    assert "has NaN in" in told(WHOLE, all_nan)


def masked_with(number):
    return attention_with(masking=lambda scores, mask: scores.masked_fill(~mask, number), softmax=plain)


def ones_in_empty_rows(scores):
    return plain(scores).nan_to_num(1.0)


def clamped(scores):
    powers = scores.clamp(max=50).exp()
    return powers / powers.sum(dim=-1, keepdim=True)


@pytest.mark.parametrize("softmax", [plain, without_nan])
def test_blocked_keys_with_plus_infinity_are_told_so(softmax):
    answer = attention_with(masking=pick(MASKING, "+∞")[0].wrong, softmax=softmax)
    assert told(WHOLE, answer).startswith("The blocked keys get +∞")


@pytest.mark.parametrize(
    ("exercise", "answer"),
    [
        (WHOLE, masked_with(-10.0)),
        (WHOLE, masked_with(-100.0)),
        (WHOLE, attention_with(softmax=ones_in_empty_rows)),
        (WHOLE, attention_with(masking=lambda scores, mask: scores + mask, softmax=plain)),
        (e06_softmax.stable_softmax, clamped),
    ],
)
def test_numbers_where_a_mistake_has_nan_are_not_that_mistake(exercise, answer):
    said = told(exercise, answer)
    assert "+∞" not in said and "smallest score" not in said


@pytest.mark.parametrize("name", ["÷d_k", "×√d_k", "÷√num_heads"])
def test_what_is_nan_everywhere_is_no_bug_less(name):
    answer = attention_class(**FAULTS[name], masking=pick(MASKING, "+∞")[0].wrong, softmax=plain)
    assert not told(e09_concat_and_output.three_bugs, answer).startswith("1 bug is left")

"""What a check says of numbers, texts, sets and dicts, whatever the exercise."""

from fractions import Fraction

import numpy as np
import pytest
import torch
from samples import TABLE, function, reply, softmax, value

from mha_course.exercises import numbers
from mha_course.exercises.compare import difference
from mha_course.exercises.engine import CORRECT
from mha_course.exercises.relations import Asked

BATCH, MASK = numbers(2, 3, 3), torch.ones(3, 3).tril().bool()


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        (TABLE.T, "transposed"),
        (3 * TABLE, "is 3 times the right one in every number"),
        (-TABLE, "is −1 times the right one in every number"),
        (TABLE.softmax(-1), "is the softmax of what is asked for"),
        ((TABLE * 10).round() / 10, "rounded to 1 decimal"),
        (TABLE[[1, 0, 2]], "right numbers, but not in their places"),
        (TABLE[None], "one axis more, axis 0 of size 1"),
        (TABLE[0], "lacks one axis, axis 0 of size 3"),
        (TABLE[:, :2], "has the size 2 along axis 1, and 3 is needed"),
        (TABLE.flatten(), "right numbers in another shape"),
        (softmax(TABLE.log() * 2), "in the first row, first column, which is too"),
        (TABLE / 0, "has ∞ or −∞ in the first row, first column, where"),
        (TABLE * torch.nan, "has NaN in the first row, first column"),
        (TABLE * TABLE[:, :1], "rows that are right but for their sum"),
        (softmax(numbers(3, 3).T).T, "adds up to 1 along each column"),
        (TABLE + torch.eye(3), "has 1.7 in the first row, first column, which is too large; 6 of 9 numbers"),
        (TABLE - torch.eye(3)[[1, 2, 0]].tril(), "third row, first column, which is too small; all that"),
        ("abc", "is text"),
        (torch.ones, "is a function"),
        (1.0, "is a number; 9 numbers are needed"),
        ([[1, 2], [3]], "is a list"),
    ],
)
def test_the_sentence_says_how_the_numbers_differ(answer, words):
    assert words in reply(value(TABLE), answer)


@pytest.mark.parametrize(
    ("right", "answer", "words"),
    [
        (BATCH, BATCH.mT, "transposed"),
        (BATCH, BATCH.permute(1, 2, 0), "order of its axes"),
        (BATCH, BATCH.transpose(0, 1), "axes 0 and 1 swapped"),
        (numbers(2, 2, 3), numbers(2, 2, 3).transpose(0, 1), "axes 0 and 1 swapped"),
        (MASK, ~MASK, "exact opposite"),
        ([[1, 2], [3, 5]], [[1, ...], ...], "is a list with `...` in it; 4 numbers are needed"),
        ({"a": 1, "b": 2}, {"a": 1, "B": 2}, "lacks “b”; it has “B”"),
        ({"a": 1, "b": 2}, (1, 2), "a dict with “a”"),
        (dict.fromkeys("ABCDE", 1), {"a": 1}, "lacks “A”, “B”, “C”, “D”, …; it has “a”"),
        ({1, 5}, True, "is True or False; a set"),
        ({"a", "c"}, "a and d", "has 1 right choice, 1 wrong one, and lacks 1."),
        ([4, 5], ["f5", "f6"], "is a list with text in it; 2 numbers are needed"),
        ([3072, 7], [3073, 7], "has 3073 as its first number, which is too large"),
        (209715200, 210_000_000, "Your answer, 210000000, is too large."),
        (0.5, -0.25, "Your answer, −0.25, is too small."),  # no factor, which would give the answer away
        (0.5, np.ones(3), "is of type ndarray; 1 number is needed"),
        (torch.ones(2, 3, 4), torch.ones(5), "has 1 axis, and 3 are needed"),
        ([1, 2, 3, 4], [[1, 2], [3, 4]], "another shape"),
        ([[1, 2], [3, 5]], [[1, 2], [3]], "is a list with rows of different lengths"),
        ([0.1, 0.2], [0.1, None], "is a list with None in it; 2 numbers are needed"),
        ([0.422, 0.155, 0, 0.423], [1, 0.368, 0, 1.003], "but for its sum: weights should add up to 1"),
        ([2, 5, 1], [1.414, 3.536, 0.707], "is 0.707 times the right one in every number"),
        ([2, 5, 1], [4, 25, 1], "has 4 as its first number, which is too large; 1 of 3 numbers is right"),
        ([0, 1], [1, 2], "has 1 as its first number, which is too large; none of 2 numbers is right"),
        ([0.2, 0.8], [0.8, 0.2], "not in their places"),
        *((524288, wrong, "Your answer") for wrong in (524287, 524289, 524288.5, True, "524288")),
    ],
)
def test_what_is_missing_or_in_another_form_is_named(right, answer, words):
    assert words in reply(value(right), answer)


def test_a_mask_of_a_function_holds_true_and_false():
    assert "torch.bool is needed" in difference(MASK.float(), MASK, Asked(of_function=True))


@pytest.mark.parametrize(
    ("right", "answers"),
    [
        (TABLE, [TABLE.tolist(), TABLE.numpy(), tuple(TABLE), TABLE.double(), np.float32(TABLE.tolist())]),
        ([1, 2, 3, 4], [[[1, 2, 3, 4]]]),
        (524288, [524288.0, Fraction(524288)]),
        ("flatter", [" 'Flatter'. ", {"flatter"}, ("flatter",)]),
        ({"A", "C"}, [{"c", "a"}, ["A", "C"], "A, C"]),
        ({1, 5}, ["1, 5", ["1", 5]]),
    ],
)
def test_any_way_to_write_what_is_asked_for_is_right(right, answers):
    for answer in answers:
        assert value(right).verdict(answer).status == CORRECT, answer


@pytest.mark.parametrize(
    ("right", "answer", "words"),
    [
        (0.0101, 0.0115, "is too large"),  # 14 % more: nobody rounded that on the way
        (0.0101, 0.0107, "was something rounded on the way"),
        (0.0101, 1.01, "Your answer is 100 times too large: is it in per cent?"),
        ([0.868, 1.296], [86.8, 129.6], "is 100 times too large: is it in per cent?"),
        ([0.67, 0, 0.33], [0.7, 0, 0.3], "rounded to 1 decimal: give 3"),
        ([0.67, 0, 0.33], [0.67, 0.0004, 0.33], "has 0.0004 as its second number"),  # what is hidden gets 0
        ([0.67, 0, 0.33], [0.716, 0, 0.284], "All to the largest."),
        ([0.42, 0.16, 0.42], [0.4, 0.2, 0.4], "give 3 decimals. If nothing was rounded: You took 2."),
    ],
)
def test_rounding_is_what_is_said_only_where_it_explains_the_answer(right, answer, words):
    mistakes = [([0.716, 0, 0.284], "All to the largest."), ([0.4, 0.2, 0.4], "You took 2.")]
    exercise = value(right, decimals=3, mistakes=mistakes if isinstance(right, list) else [])
    assert words in reply(exercise, answer)


def test_numbers_rounded_as_asked_are_right():
    assert value([0.919, 0.027, 0.0], decimals=2).verdict([0.92, 0.03, 0]).status == CORRECT


def test_the_right_answer_is_never_printed():
    for wrong in (1.5, [1, 2], "no", None, {"a": 1}, torch.zeros(3)):
        assert "7.125" not in value(7.125).verdict(wrong).sentence


def test_entries_of_a_dict_are_reported_one_by_one():
    right = {"scores": (2, 3), "output": (2, 6), "kind": "self"}
    exercise = value(right, mistakes=[({"output": (2, 3)}, "As wide as what?")])
    for changes, sentence in (
        ({"output": (2, 3), "kind": "Self"}, "“scores”, “kind”: right. As wide as what?"),
        (
            {"output": (2, 3), "scores": (2, 4)},
            "“kind”: right. As wide as what? Not yet right either: “scores”.",
        ),
    ):
        assert reply(exercise, right | changes) == sentence
    assert "“scores”: right. “output” is still `...`" in reply(exercise, right | {"output": ..., "kind": "x"})


def test_values_of_a_tuple_are_reported_by_name_and_in_order():
    exercise = function(lambda x: (x.sum(), softmax(x)), returns=("total", "weights"))
    assert "“total”: right. “weights”" in reply(exercise, lambda x: (x.sum(), x))
    assert "another order: total, weights" in reply(exercise, lambda x: (softmax(x), x.sum()))
    assert "2 values are needed: total, weights" in reply(exercise, lambda x: (x.sum(),))


def test_one_choice_of_a_set_may_have_its_sentence():
    exercise = value({"a", "c"}, mistakes=[("b", "Look at b."), ("c", "Look at c.")])
    assert reply(exercise, {"a", "b"}) == "Look at b."
    assert reply(exercise, "a") == "Look at c."


@pytest.mark.parametrize(
    ("answer", "named"),
    [
        ({"a", "b", "f"}, "“f”"),
        ({"dog bites man"}, "“dog bites man”"),
        ([True, False, True], "“False”"),
        ([["a", "c"]], "a list"),
        ({"a", ...}, "`...`"),
    ],
)
def test_a_choice_that_is_not_offered_is_named_first(answer, named):
    exercise = value({"a", "c"}, mistakes=[(letter, f"Look at {letter}.") for letter in "abcd"])
    assert reply(exercise, answer) == f"Your answer has {named}, which is none of the choices."

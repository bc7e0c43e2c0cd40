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
    ("right", "answer", "words"),
    [
        (BATCH, BATCH.permute(1, 2, 0), "order of its axes"),
        (numbers(2, 2, 3), numbers(2, 2, 3).transpose(0, 1), "axes 0 and 1 swapped"),
        ([[1, 2], [3, 5]], [[1, ...], ...], "is a list with `...` in it; 4 numbers are needed"),
        ({"a": 1, "b": 2}, (1, 2), "a dict with “a”"),
        (dict.fromkeys("ABCDE", 1), {"a": 1}, "lacks “A”, “B”, “C”, “D”, …; it has “a”"),
        ({"a", "c"}, "a and d", "has 1 right choice, 1 wrong one, and lacks 1."),
        (0.5, np.ones(3), "is of type ndarray; 1 number is needed"),
        ([[1, 2], [3, 5]], [[1, 2], [3]], "is a list with rows of different lengths"),
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

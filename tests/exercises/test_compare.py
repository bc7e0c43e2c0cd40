"""The sentence for every way in which an answer differs from the right one, word for word.

The tables of tensors: ``compared_tensors.py``. Through an exercise: ``test_values_and_choices.py``.
"""

import math
import re
from decimal import Decimal
from fractions import Fraction

import numpy
import pytest
import torch
from compared_tensors import EYE, FORM, NAN, NOT_DEFINED, ONES, RIGHT_TENSORS, VALUE, WRONG_TENSORS, function

from mha_helpers.exercises.compare import Difference, difference, kind_of, numbers_of, plain_number


class Box:
    """A thing of no usual kind."""


class Sly(torch.Tensor):
    """Says of itself that it is right."""

    @classmethod
    def __torch_function__(cls, function, types, arguments=(), keywords=None):
        return True


RIGHT = [
    (3, 3.0, {}),
    (3.0, torch.tensor(3), {}),
    (2.5, numpy.float64(2.5), {}),
    (0.919, 0.9195, {"decimals": 3}),
    (math.inf, math.inf, {}),
    (0.25, Fraction(1, 4), {}),
    (0.25, Decimal("0.25"), {}),
    (3_276_800, 3_276_800.0, {}),
    (81, torch.tensor(81.00001).item(), {}),
    (True, torch.tensor(True), {}),
    (False, numpy.bool_(False), {}),
    ((2, 3), [2, 3], {}),
    ((2, 3), [torch.tensor(2), numpy.int64(3)], {}),
    ((2, 3), torch.Size([2, 3]), {}),
    ([2.0, 3.0], (2.0, 3.0), {}),
    ([0.919, 0.081], (0.9195, 0.0805), {"decimals": 3}),
    ((torch.tensor([3.0]), 1.5), [torch.tensor([3]), 1.5], {"any_dtype": True}),
    ({"a": 1.5, "b": (2, 3)}, {"b": [2, 3], "a": 1.5, "more": None}, {}),
    ({"a": 0.919}, {"a": 0.9195}, {"decimals": 3}),
    ({"a": torch.tensor([3.0])}, {"a": torch.tensor([3])}, {"any_dtype": True}),
]


@pytest.mark.parametrize(("expected", "got", "options"), RIGHT + RIGHT_TENSORS)
def test_a_right_answer_differs_in_nothing(expected, got, options):
    assert difference(got, expected, **options) is None


# expected, got, the options of difference(), whether the form is wrong, the sentence after its subject
WRONG = [
    (1.5, ..., {}, FORM, "is still `...`: put what you found in its place."),
    # numbers
    (
        1.5,
        torch.tensor([1.5]),
        {},
        FORM,
        "is a tensor of shape (1,); one number is needed: .item() takes it out.",
    ),
    (1.5, torch.tensor([1.5, 2.5]), {}, FORM, "is a tensor of shape (2,); one number is needed."),
    (1.5, True, {}, FORM, "is True or False; one number is needed."),
    (1.5, "1.5", {}, FORM, "is text; one number is needed."),
    (1.5, NAN, {}, VALUE, f"is NaN: {NOT_DEFINED}"),
    (0.919, 0.92, {"decimals": 3}, VALUE, "is close; give it with 3 decimals."),
    (0.9, 1.2, {"decimals": 1}, VALUE, "is close, but not right to 1 decimal."),
    (0.9, 1, {"decimals": 1}, VALUE, "is close; give it with 1 decimal."),
    (3_276_800, 3_276_801, {}, VALUE, "is a number, but not the right one."),
    (3, 4, {"decimals": 0}, VALUE, "is a number, but not the right one."),
    (0.919, 0.93, {"decimals": 2}, VALUE, "is close, but not right to 2 decimals."),
    (0.919, 0.9, {"decimals": 2}, VALUE, "is close; give it with 2 decimals."),
    (0.919, 1.5, {"decimals": 2}, VALUE, "is a number, but not the right one."),
    (100_000, 100_000.5, {"decimals": 1}, VALUE, "is close, but not right to 1 decimal."),
    (1.5, -1.5, {}, VALUE, "has the right size and the wrong sign."),
    (1.5, 1.6, {}, VALUE, "is a number, but not the right one."),
    # True and False
    (True, False, {}, VALUE, "is False; True is right."),
    (False, True, {}, VALUE, "is True; False is right."),
    (True, 1, {}, FORM, "must be True or False."),
    (True, None, {}, FORM, "must be True or False."),
    (True, torch.tensor([0.5]), {}, FORM, "must be True or False."),
    (
        True,
        torch.ones(2, 3).bool(),
        {},
        FORM,
        "must be True or False. `==` compares cell by cell: torch.equal(a, b) gives one answer for all.",
    ),
    # shapes
    ((2, 3), ONES, {}, FORM, "is a tensor; its shape is asked for, as in (2, 3)."),
    ((2, 3), torch.tensor([2, 4]), {}, FORM, "is a tensor that holds sizes: write (2, 4) alone."),
    ((2, 3), torch.tensor([2, 3, 1]), {}, FORM, "is a tensor; its shape is asked for, as in (2, 3)."),
    ((2, 3), torch.tensor([2.0, 3.0]), {}, FORM, "is a tensor; its shape is asked for, as in (2, 3)."),
    ((2, 3), 6, {}, FORM, "is a number; a shape is needed, as in (2, 3)."),
    ((2, 3), (2, ...), {}, FORM, "still has a `...` in it: put a size in its place."),
    (
        (2, 3),
        (2, 6 / 2),
        {},
        FORM,
        "must hold whole numbers only, as in (2, 3). 3.0 is a float: // in place of / keeps it whole.",
    ),
    ((2, 3), (2, 2.5), {}, FORM, "must hold whole numbers only, as in (2, 3)."),
    ((2, 3), (2, True), {}, FORM, "must hold whole numbers only, as in (2, 3)."),
    ((2, 3), (2,), {}, VALUE, "has 1 axis; the tensor has 2."),
    ((2, 3), (), {}, VALUE, "has 0 axes; the tensor has 2."),
    ((2, 3), (2, 3, 1), {}, VALUE, "has 3 axes; the tensor has 2."),
    ((2, 3), (3, 2), {}, VALUE, "has the right sizes in the wrong order."),
    (
        (2, 3, 4),
        (2, 5, 5),
        {},
        VALUE,
        "has 1 of 3 axes right; the first wrong one is axis 1, counted from 0.",
    ),
    # several values
    ([1.5, 2.5], 1.5, {}, FORM, "is a number; 2 values are needed."),
    (
        [1.5, 2.5],
        1.5,
        {"names": ("mean", "spread")},
        FORM,
        "is a number; 2 values (mean, spread) are needed.",
    ),
    ([1.5, 2.5], [1.5], {}, FORM, "has 1 value; 2 values are needed."),
    ([1.5, 2.5], [2.5, 1.5], {}, VALUE, "holds the right values in another order."),
    (
        [1.5, 2.5],
        [2.5, 1.5],
        {"names": ("mean", "spread")},
        VALUE,
        "holds the right values in another order: mean, spread is asked for.",
    ),
    ([0.919, 2.5], [2.5, 0.92], {"decimals": 2}, VALUE, "holds the right values in another order."),
    ([1.5, 2.5, 3.5, 4.5], [2.5, 3.5, 4.5, 1.5], {}, VALUE, "holds the right values in another order."),
    (
        [torch.ones(1), torch.zeros(1)],
        [torch.zeros(1).long(), torch.ones(1).long()],
        {"any_dtype": True},
        VALUE,
        "holds the right values in another order.",
    ),
    (
        [1.5, 2.5],
        (1, 2, 3),
        {"names": ("mean", "spread")},
        FORM,
        "has 3 values; 2 values (mean, spread) are needed.",
    ),
]


@pytest.mark.parametrize(("expected", "got", "options", "form", "sentence"), WRONG + WRONG_TENSORS)
def test_each_way_of_being_wrong_has_its_sentence(expected, got, options, form, sentence):
    assert difference(got, expected, **options) == Difference(f"Your answer {sentence}", form)
    assert difference(got, expected, "“q”", **options) == Difference(f"“q” {sentence}", form)


# expected, got, options, whether the form is wrong, the whole sentence
PARTS = [
    (
        [1.5, 2.5, 3.5],
        [1.5, 9.0, 9.0],
        {},
        VALUE,
        "Value 2 of 3 is a number, but not the right one. (1 of 3 values is right.)",
    ),
    (
        [1.5, 2.5],
        [1.5, 9.0],
        {"names": ("mean", "spread")},
        VALUE,
        "“spread” is a number, but not the right one. (1 of 2 values is right.)",
    ),
    ([1.5, 2.5], [9.0, "a"], {}, FORM, "Value 2 of 2 is text; one number is needed."),
    (
        [0.919, 2.5],
        [0.92, 2.5],
        {"decimals": 3},
        VALUE,
        "Value 1 of 2 is close; give it with 3 decimals. (1 of 2 values is right.)",
    ),
    (
        (torch.ones(1), 1.5),
        (torch.ones(1).long(), 1.5),
        {},
        VALUE,
        "Value 1 of 2 has the right values, but as int64; float32 is needed. (1 of 2 values is right.)",
    ),
    ({"a": 1.5, "b": 2.5}, [1.5, 2.5], {}, FORM, "Your answer is a list; a dict with 'a', 'b' is needed."),
    ({"a": 1.5, "b": 2.5, "c": 1}, {"c": 1}, {}, FORM, "Your dict lacks 'a', 'b'."),
    (
        {"a": 1.5, "b": 2.5},
        {"a": 1.5, "b": 9.0},
        {},
        VALUE,
        "“b” is a number, but not the right one. (1 of 2 values is right.)",
    ),
    (
        {"a": 1.5, "b": 2.5},
        {"a": 9.0, "b": ...},
        {},
        FORM,
        "“b” is still `...`: put what you found in its place.",
    ),
    (  # of five values the order is not looked for: a count of what is right says more
        [1.5, 2.5, 3.5, 4.5, 5.5],
        [2.5, 1.5, 3.5, 4.5, 5.5],
        {},
        VALUE,
        "Value 1 of 5 is a number, but not the right one. (3 of 5 values are right.)",
    ),
    (
        {"a": 0.919},
        {"a": 0.92},
        {"decimals": 3},
        VALUE,
        "“a” is close; give it with 3 decimals.",
    ),
    (
        {"a": torch.ones(1)},
        {"a": torch.ones(1).long()},
        {},
        VALUE,
        "“a” has the right values, but as int64; float32 is needed.",
    ),
]


@pytest.mark.parametrize(("expected", "got", "options", "form", "sentence"), PARTS)
def test_of_several_values_the_most_telling_is_named(expected, got, options, form, sentence):
    assert difference(got, expected, **options) == Difference(sentence, form)


def test_an_exercise_that_expects_a_strange_thing_is_a_fault_of_the_course():
    with pytest.raises(TypeError, match=re.escape("an exercise cannot expect a Box")):
        difference(1, Box())


@pytest.mark.parametrize(
    ("value", "number"),
    [
        (3, 3),
        (2.5, 2.5),
        (True, True),
        (torch.tensor(2.5, requires_grad=True), 2.5),
        (torch.tensor(True), True),
        (numpy.float32(2.5), 2.5),
        (numpy.int64(3), 3),
        (numpy.array(2.5), 2.5),
        (numpy.array([2.5]), None),
        (torch.tensor([2.5]), None),
        (torch.tensor(2.5, device="meta"), None),
        (torch.tensor(1j), None),
        ("3", None),
        (Box(), None),
        (numpy, None),
        (numpy.dtype("int64"), None),
    ],
)
def test_a_plain_number_is_taken_out_of_its_wrapping(value, number):
    found = plain_number(value)
    assert found == number and type(found) is type(number)


@pytest.mark.parametrize(
    ("value", "words"),
    [
        (ONES, "a tensor of shape (2, 3)"),
        (Box, "a class"),
        (torch.nn.Linear(1, 1), "a module"),
        (numpy.ones(2), "a NumPy array"),
        (numpy.float32(1), "a NumPy number"),
        ("text", "text"),
        (True, "True or False"),
        (1, "a number"),
        (1.5, "a number"),
        ([], "a list"),
        ((), "a tuple"),
        (torch.Size([1]), "a shape"),
        ({}, "a dict"),
        (None, "None"),
        (function, "a function"),
        (len, "a function"),
        (Box(), "a Box"),
    ],
)
def test_a_thing_is_named_in_the_words_of_the_learner(value, words):
    assert kind_of(value) == words


def test_a_class_of_its_own_does_not_answer_for_itself():
    assert difference(torch.zeros(2, 3).as_subclass(Sly), ONES).sentence == (
        "Your answer has the right shape, but none of its 6 numbers is right."
    )
    assert difference(torch.ones(2, 3).as_subclass(Sly), ONES) is None


def test_numbers_are_plain_doubles_whatever_they_came_in():
    parts = {
        "sparse": EYE.to_sparse(),
        "graph": EYE.clone().requires_grad_(),
        "subclass": EYE.as_subclass(Sly),
        "complex": EYE.cfloat(),
        "bool": EYE.bool(),
    }
    for name, tensor in parts.items():
        found = numbers_of(tensor)
        assert type(found) is torch.Tensor and found.dtype == torch.float64, name
        assert not found.requires_grad and found.tolist() == [[1, 0], [0, 1]], name
    imaginary = numbers_of(torch.tensor([1j, 2 + 0j]))
    assert imaginary.isnan().tolist() == [True, False] and imaginary[1] == 2


@pytest.mark.filterwarnings("ignore:torch.quantize_per_tensor")
def test_a_quantized_tensor_has_the_numbers_it_stands_for():
    assert numbers_of(torch.quantize_per_tensor(EYE, 0.5, 0, torch.quint8)).tolist() == [[1, 0], [0, 1]]

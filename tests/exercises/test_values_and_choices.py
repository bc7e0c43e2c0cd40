"""Values and choices: what counts as right, and the words for each form of a wrong one."""

import collections

import numpy
import pytest
import torch
from exercise_rules import printed, status
from sample_exercises import COMMON, told, value

from mha_helpers.exercises import (
    ChoiceExercise,
    Mistake,
)

pytestmark = pytest.mark.usefixtures("only_these_exercises")


# Numbers


@pytest.mark.parametrize("answer", [2.5, torch.tensor(2.5), numpy.float32(2.5), torch.tensor(2.5).double()])
def test_a_number_may_be_of_any_kind(answer):
    assert status(value(2.5), answer)[0] == "correct"


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        (-2.5, "wrong sign"),
        (2.51, "not the right one"),
        (torch.tensor([2.5]), ".item()"),
        (torch.tensor([2.5, 2.5]), "one number is needed"),
        (True, "one number is needed"),
        ("2.5", "text"),
        ([2.5], "a list"),
        (float("nan"), "NaN"),
        (float("inf"), "not the right one"),
        (lambda: 2.5, "function"),
    ],
)
def test_a_wrong_number_is_described(answer, words):
    assert words in told(value(2.5), answer)


def test_true_is_not_one_and_one_is_not_true():
    assert status(value(1), True)[0] == status(value(True), 1)[0] == "not yet"
    assert status(value(True), torch.tensor(True))[0] == "correct"
    assert status(ChoiceExercise("7.1", "A", answer=1, wrong={2: "No."}, **COMMON), True)[0] == "not yet"


@pytest.mark.parametrize(("answer", "said"), [(0.919, "correct"), (0.9193, "correct"), (0.92, "decimals")])
def test_decimals_are_those_that_are_asked_for(answer, said):
    assert said in printed(value(0.91931, decimals=3), answer)


# Choices in other forms


@pytest.mark.parametrize("answer", [numpy.array(["c"])[0], "C", " 'c' "])
def test_text_may_be_of_any_kind(answer):
    assert (
        status(ChoiceExercise("7.1", "A", answer="c", wrong={"a": "No."}, **COMMON), answer)[0] == "correct"
    )


def test_a_set_may_hold_text_of_numpy():
    letters = ChoiceExercise("7.1", "A", answer=frozenset("bd"), wrong={frozenset("b"): "No."}, **COMMON)
    assert status(letters, set(numpy.array(["d", "b"])))[0] == "correct"


@pytest.mark.parametrize("answer", [frozenset("bd"), frozenset({1, 5})])
def test_an_empty_set_has_the_right_form(answer):
    some = ChoiceExercise(
        "7.1", "A", answer=answer, wrong={frozenset("b"): "No."}, otherwise="Look.", **COMMON
    )
    assert told(some, set()) == "Look."
    assert "Answer with a set" in told(some, {True}) and "Answer with a set" in told(some, ())


# Shapes, tuples, dicts


def test_a_shape_may_be_a_tuple_a_list_or_a_size():
    for answer in ((2, 3), [2, 3], torch.Size([2, 3]), torch.zeros(2, 3).shape):
        assert status(value((2, 3)), answer)[0] == "correct"


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        ((3, 2, 4), "wrong order"),
        ((2, 3), "2 axes; the tensor has 3"),
        ((2, 3, 5), "2 of 3 axes right; the first wrong one is axis 2"),
        (torch.zeros(2, 3, 4), "its shape is asked for"),
        ((2, 3.5, 4), "whole numbers"),
        ((2, 3, ...), "`...`"),
        (24, "a shape is needed"),
        ("(2, 3, 4)", "text"),
    ],
)
def test_a_wrong_shape_is_described(answer, words):
    assert words in told(value((2, 3, 4)), answer)


def test_several_values_go_by_their_names():
    exercise = value((torch.ones(2), torch.zeros(3)), names=("output", "weights"))
    assert status(exercise, (torch.ones(2), torch.zeros(3)))[0] == "correct"
    assert "2 values (output, weights)" in told(exercise, torch.ones(2))
    assert "has 1 value;" in told(exercise, [torch.ones(2)])
    sentence = told(exercise, (torch.ones(2), torch.ones(3)))
    assert "“weights”" in sentence and "1 of 2 values is right" in sentence
    assert "“weights” is a list" in told(exercise, (torch.ones(2), [0.0, 0.0, 0.0]))
    assert "“weights” is still `...`" in told(exercise, (torch.ones(2), ...))


def test_values_in_another_order_are_told_apart_from_wrong_ones():
    exercise = value((torch.ones(2), torch.zeros(3)), names=("output", "weights"))
    sentence = told(exercise, (torch.zeros(3), torch.ones(2)))
    assert sentence == "Your answer holds the right values in another order: output, weights is asked for."
    assert "another order" not in told(exercise, (torch.zeros(3), torch.ones(3)))
    assert told(value([1, 2.5]), [2.5, 1]) == "Your answer holds the right values in another order."


def test_shapes_by_name():
    exercise = value({"q": (2, 3), "scores": (2, 2)})
    assert status(exercise, collections.OrderedDict(scores=(2, 2), q=[2, 3]))[0] == "correct"
    assert "lacks 'scores'" in told(exercise, {"q": (2, 3)})
    assert "“scores”" in told(exercise, {"q": (2, 3), "scores": (2, 3)})
    assert "a dict" in told(exercise, ((2, 3), (2, 2)))
    assert status(exercise, {"q": ..., "scores": ...})[0] == "not attempted yet"
    assert "still `...`" in told(exercise, {"q": (2, 3), "scores": ...})


def test_a_list_of_shapes():
    assert status(value([(2, 3), (4,)]), [(2, 3), (4,)])[0] == "correct"
    assert "Value 2 of 2" in told(value([(2, 3), (4,)]), [(2, 3), (5,)])


# Tensors


def test_typed_integers_are_as_good_as_floats_and_bools_are_not():
    assert status(value(torch.tensor([1.0, 0.0])), torch.tensor([1, 0]))[0] == "correct"
    assert "as bool" in told(value(torch.tensor([1.0, 0.0])), torch.tensor([True, False]))
    assert "as int64" in told(value(torch.tensor([True, False])), torch.tensor([1, 0]))


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda t: t.mT, "axes in another order"),
        (lambda t: t.flatten(), "right numbers in the wrong shape"),
        (lambda t: t[None], "right numbers in the wrong shape"),
        (lambda t: t[:1], "the shape (1, 3)"),
        (lambda t: t[0], "an axis too few"),
        (lambda t: t.expand(2, 2, 3), "an axis too many"),
        (lambda t: t + torch.tensor([0, 0, 1]), "4 of 6 numbers are right; the first wrong one is at [0, 2]"),
        (lambda t: t + 10, "none of its 6"),
        (lambda t: t / 0, "NaN|infinite"),
        (lambda t: t.half() + 0.001, "float16"),
    ],
)
def test_a_wrong_tensor_is_described(change, words):
    right = torch.arange(1.0, 7).view(2, 3)
    sentence = told(value(right), change(right))
    assert any(word in sentence for word in words.split("|")), sentence


class Lying(torch.Tensor):
    """A tensor that says it has the shape that is asked for."""

    @property
    def shape(self):
        return torch.Size([2, 3])

    def detach(self):
        return torch.arange(1.0, 7).view(2, 3)


def test_a_tensor_does_not_answer_for_itself():
    right = torch.arange(1.0, 7).view(2, 3)
    assert status(value(right), right.clone().as_subclass(Lying))[0] == "correct"
    assert "an axis too few" in told(value(right), torch.ones(1).as_subclass(Lying))
    assert "none of its 6" in told(value(right), torch.zeros(2, 3).as_subclass(Lying))


def test_an_answer_may_be_computed():
    assert status(value(lambda: 2.5), 2.5)[0] == "correct"
    assert told(value(lambda: 2.5), 3.5) == "Your answer is a number, but not the right one."


def test_a_mistake_is_named_before_a_generality():
    table = torch.arange(6.0).view(2, 3)
    exercise = value(table, mistakes=[Mistake("turned", lambda: table.T, "It is turned over.")])
    assert told(exercise, table.T) == "It is turned over."
    assert told(exercise, table.T.long()) == "It is turned over."
    rounded = value(2.5, decimals=2, mistakes=[Mistake("root", 1.58114, "That is its root.")])
    assert told(rounded, 1.581) == "That is its root."


def test_a_mistake_may_be_of_another_form():
    exercise = value(2.5, mistakes=[Mistake("products", [1.5, 1.0], "Add them up.")])
    assert told(exercise, [1.5, 1.0]) == "Add them up."


# Choices


def choice(answer=(1, 2), **parts):
    return ChoiceExercise("7.1", "A", answer=answer, wrong={(2, 1): "Rows first."}, **COMMON, **parts)


@pytest.mark.parametrize("answer", [(1, 2), [1, 2], (1.0, 2), (torch.tensor(1), numpy.int64(2))])
def test_a_pair_may_be_written_in_several_ways(answer):
    assert status(choice(), answer)[0] == "correct"


def test_each_choice_has_its_own_sentence():
    assert told(choice(otherwise="Look at row 1."), (2, 1)) == "Rows first."
    assert told(choice(otherwise="Look at row 1."), (0, 0)) == "Look at row 1."


@pytest.mark.parametrize(
    ("right", "other", "form"),
    [
        ("b", 2, 'text in quotes, as in "A", not in a set or list'),
        (frozenset({"a", "b"}), {"a, b"}, 'a set of texts, as in {"x", "y"}'),
        (frozenset({"a", "b"}), {"ab"}, 'a set of texts, as in {"x", "y"}'),
        (True, "true", "True or False"),
        (3, "three", "a number"),
        (frozenset({1, 2}), 3, "a set of numbers, as in {1, 2}"),
        (frozenset({1, 2}), {"one", "two"}, "a set of numbers, as in {1, 2}"),
        (frozenset({"a", 1}), "a", "a set, as in {1, 2}"),
        (frozenset({"a", "b"}), "a", 'a set of texts, as in {"x", "y"}'),
        (frozenset({"a", "b"}), {(0, 1)}, 'a set of texts, as in {"x", "y"}'),
        ((1, 2), "b", "a pair in brackets, as in (0, 1)"),
    ],
)
def test_the_form_that_is_asked_for_is_shown(right, other, form):
    exercise = ChoiceExercise("7.1", "A", answer=right, wrong={}, **COMMON)
    for answer in (other, object(), {1: 2}, [object()]):
        assert told(exercise, answer) == f"Answer with {form}."


def test_a_choice_has_its_number_its_title_and_its_mistakes():
    exercise = choice()
    assert exercise.heading == "Exercise 7.1 ★ · 2 min · A"
    assert [mistake.name for mistake in exercise.mistakes] == ["chose (2, 1)"]


def test_capitals_spaces_and_quotes_do_not_matter():
    exercise = ChoiceExercise("7.1", "A", answer="The Last  axis", wrong={}, **COMMON)
    for answer in ("the last axis", ' "THE LAST AXIS." ', "(the\tlast\naxis)", "'the last axis'"):
        assert status(exercise, answer)[0] == "correct"
    for answer in ("thelastaxis", "the last axis!", "x the last axis x"):
        assert status(exercise, answer)[0] == "not yet"


def test_text_and_sets():
    letters = ChoiceExercise("7.1", "A", answer="b", wrong={"a": "No."}, also_right=["the key"], **COMMON)
    assert [status(letters, answer)[0] for answer in ("b", " B ", "(b)", "The  Key")] == ["correct"] * 4
    assert told(letters, "a") == "No."
    assert told(letters, "z") == "Choose one of 'a', 'b'."
    several = ChoiceExercise("7.1", "A", answer=frozenset("ac"), wrong={"a": "One more."}, **COMMON)
    assert status(several, {"c", "a"})[0] == "correct"
    assert status(several, {"a", "b"})[0] == "not yet"
    assert "a set" in told(several, 3)


@pytest.mark.parametrize(
    "right, wrong, form",
    [
        (frozenset("ac"), {"a", "b"}, False),
        (frozenset("ac"), {"z"}, False),
        (frozenset("ac"), {"ac"}, True),  # two letters run together are no choice
        (frozenset("ac"), {"a, c"}, True),
        (frozenset(["query", "key"]), {"query", "value"}, False),
        (frozenset([1, 2]), {1, 3}, False),
        (frozenset([1, 2]), {10}, False),
        (2, 3, False),
        ((0, 1), (1, 1), False),
    ],
)
def test_another_choice_is_wrong_and_another_form_is_told_so(right, wrong, form):
    exercise = ChoiceExercise("7.1", "A", answer=right, wrong={}, otherwise="Another choice.", **COMMON)
    said = told(exercise, wrong)
    assert said.startswith("Answer with a set of texts") if form else said == "Another choice."

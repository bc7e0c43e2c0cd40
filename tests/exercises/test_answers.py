"""What a check says of values and functions, whatever the exercise, where no kept verdict (verdicts.py) says it."""

import sys
from fractions import Fraction

import numpy as np
import pytest
import torch
from samples import TABLE, function, reply, softmax, value

from mha_course.exercises import case, numbers
from mha_course.exercises.engine import CORRECT, NOT_ATTEMPTED

BATCH = numbers(2, 3, 3)


@pytest.mark.parametrize(
    ("right", "answer", "words"),
    [
        (BATCH, BATCH.permute(1, 2, 0), "order of its axes"),
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


def test_the_right_answer_is_never_printed():
    for wrong in (1.5, [1, 2], "no", None, {"a": 1}, torch.zeros(3)):
        assert "7.125" not in value(7.125).verdict(wrong).sentence


def test_the_first_input_that_fails_chooses_the_mistakes():
    def no_maximum(x):
        return x.exp() / x.exp().sum(-1, keepdim=True)

    def both(x):
        return no_maximum(x) * 2

    def cases():
        large = case(1000 * numbers(3, 4), label="with large scores", mistakes=[(no_maximum, "Too large.")])
        return [case(numbers(2, 3), label="with a small table"), large]

    exercise = function(cases=cases, mistakes=[(both, "Twice."), (no_maximum, "Of any size.")])
    assert reply(exercise, no_maximum) == "Too large."
    assert reply(exercise, both) == "Twice."
    assert "With large scores: the result" in reply(exercise, lambda x: softmax(x) if len(x) == 2 else x)


@pytest.mark.parametrize(
    ("code", "words"),
    [
        ("def helper(x):\n    return x @ x\ndef mine(x):\n    return helper(x)", "The line: return x @ x"),
        ("def mine(x):\n    exit()", "t raises SystemExit"),
        ("def mine(x):\n    return x.view(...)", "A `...` is still in the code"),
        ("def mine(x):\n    x -= len(x) - 2  # of the first input nothing\n    return x.softmax(-1)", "but your function writes into"),
        ("def mine(x):\n    return torch.softmax(x)", "'torch' is not defined. Run the set-up cell"),
    ],
)  # fmt: skip
def test_what_a_function_does_wrong_is_named(code, words):
    exercise = function()
    answer = exercise.made_by(code)
    if "set-up" in words:
        del answer.__globals__["torch"]  # as on a page whose set-up cell has not run
    assert words in reply(exercise, answer)


@pytest.mark.parametrize(
    "body",
    ["...", "pass", "return ...", '"""Words."""', "raise NotImplementedError", "# yours\n    return None"],
)
def test_a_stub_is_not_attempted_yet(body):
    exercise = function()
    assert exercise.verdict(exercise.made_by(f"def mine(x):\n    {body}")).status == NOT_ATTEMPTED


SHARES = "e = x.exp()\n    return e / e.sum(-1, keepdim=True)"


@pytest.mark.parametrize(
    ("body", "words"),
    [
        (f"softmax = 1\n    {SHARES}", None),
        (f"matmul(x)\n    {SHARES}", None),
        ("return helper(x)", "your code calls softmax, and this task does without it"),
        (f"{SHARES} @ torch.eye(x.shape[-1])", "your code calls matmul"),
        (f"torch.matmul(x, x.mT)\n    {SHARES}", "your code calls matmul"),
    ],
)
def test_rules_are_kept_by_what_is_called_and_not_by_what_is_named(body, words):
    exercise, before = function(without=("softmax", "matmul")), sys.getprofile()
    helpers = "def matmul(x):\n    return x\n\ndef helper(x):\n    return torch.softmax(x, -1)\n\n"
    verdict = exercise.verdict(exercise.made_by(f"{helpers}def mine(x):\n    {body}"))
    assert words in verdict.sentence if words else verdict.status == CORRECT
    assert sys.getprofile() is before  # after a check calls are noted no longer


def test_a_mistake_is_named_only_where_it_explains_what_is_right():
    """One too many for n = 1: not where another is right, and not where most are wrong in another way."""
    exercise = function(
        lambda n: torch.full((n,), n),
        lambda: [case(1), case(2), case(3)],
        mistakes=[(lambda n: torch.full((n,), n + 1), "One too many.")],
    )
    assert reply(exercise, lambda n: torch.full((n,), n + 1)) == "One too many."
    for values in ((2, 2, 4), (2, 9, 9)):
        answer = lambda n, values=values: torch.full((n,), values[n - 1])  # noqa: E731
        assert "One too many" not in reply(exercise, answer)

"""What a check says of functions and classes, whatever the exercise."""

import sys

import pytest
import torch
from samples import function, reply, softmax

from mha_course.exercises import case, numbers
from mha_course.exercises.engine import CORRECT, NOT_ATTEMPTED


def test_the_first_input_that_fails_chooses_the_mistakes():
    def cases():
        return [
            case(numbers(2, 3), label="with a small table"),
            case(1000 * numbers(3, 4), label="with large scores", mistakes=[(no_maximum, "Too large.")]),
        ]

    def no_maximum(x):
        return x.exp() / x.exp().sum(-1, keepdim=True)

    def both(x):
        return no_maximum(x) * 2

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
        ("def mine(x):\n    return torch.rand(2, 3)", "is random, or kept"),
        (
            "def mine(x):\n    x -= x.dim() - 2  # of the first input nothing\n    return x.softmax(-1)",
            "is right, but your function writes into",
        ),
        ("def mine(x):\n    return torch.softmax(x)", "'torch' is not defined. Run the set-up cell"),
    ],
)
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
    exercise = function(without=("softmax", "matmul"))
    helpers = "def matmul(x):\n    return x\n\ndef helper(x):\n    return torch.softmax(x, -1)\n\n"
    answer = exercise.made_by(f"{helpers}def mine(x):\n    {body}")
    if words:
        assert words in reply(exercise, answer)
    else:
        assert exercise.verdict(answer).status == CORRECT


def test_after_a_check_calls_are_noted_no_longer():
    before = sys.getprofile()
    assert "calls softmax" in reply(function(without=["softmax"]), softmax)
    assert sys.getprofile() is before


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

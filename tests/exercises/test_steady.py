"""An answer that does not come to the same twice is told so, whatever it happens to look like at first."""

import itertools

import pytest
import torch
from exercise_rules import printed, status
from sample_exercises import COMMON, double, told

from mha_helpers.exercises import FunctionExercise, case, e04_scaling

DIFFER = "Two calls with the same input differ: what is random, or kept from call to call, in your function?"


def turn_by_turn(*answers):
    turns = itertools.cycle(answers)
    return lambda x: next(turns)(x)


def raises(x):
    raise ValueError("no")


@pytest.mark.parametrize(
    "answer",
    [
        turn_by_turn(*[lambda x: 2 * x] * 3, lambda x: 3 * x),  # right on all three inputs, once
        turn_by_turn(*[lambda x: 3 * x] * 3, lambda x: 2 * x),
        turn_by_turn(*[lambda x: 2 * x] * 4, raises, lambda x: 2 * x),
        lambda x: 2 * x + torch.rand(()),
    ],
)
def test_an_answer_that_changes_is_not_right(answer):
    assert told(double(), answer) == DIFFER


def test_what_stays_the_same_is_judged_by_what_it_is():
    assert status(double(), lambda x: x + x)[0] == "correct"
    assert told(double(), lambda x: 3 * x) != DIFFER
    assert told(double(), lambda x: x / 0 * 0) != DIFFER  # NaN twice is the same
    assert told(double(), lambda x: object()) != DIFFER
    assert "it raises ValueError: no" in told(double(), raises)


def test_it_is_asked_as_often_as_the_exercise_says():
    asked = []

    def answer(x):
        asked.append(x)
        return 2 * x

    for exercise, calls in ((double(), 2), (double(calls=5), 5)):
        asked.clear()
        assert status(exercise, answer)[0] == "correct"
        assert len(asked) == calls * len(exercise.cases())


def test_what_an_answer_prints_is_seen_once_for_each_input():
    def answer(x):
        print("here")
        return 2 * x

    exercise = double(calls=4, without=["torch.softmax"])
    assert printed(exercise, answer) == "here\n" * len(exercise.cases()) + "Exercise 7.1: correct. Yes.\n"


def test_an_exercise_may_have_words_of_its_own():
    exercise = double(unsteady=lambda inputs: f"Now this, now that, with {tuple(inputs.args[0].shape)}.")
    answers = [lambda x: 2 * x] * 4 + [lambda x: x]
    assert told(exercise, turn_by_turn(*answers)) == "Now this, now that, with (3, 4)."


def test_a_test_with_too_few_scores_is_told_that():
    def test(scale):
        q, k = torch.randn(4, 64), torch.randn(4, 64)
        return bool(0.8 < scale(q @ k.mT, 64).std() < 1.25)

    torch.manual_seed(0)
    assert told(e04_scaling.scale_test, test).startswith("Your test says True and False of the right scale")


def test_a_wrong_scale_at_a_limit_is_named():
    def test(scale):
        q, k = torch.randn(400, 100), torch.randn(400, 100)
        return bool(0.8 < scale(q @ k.mT, 100).std() < 1.25)

    torch.manual_seed(0)
    assert told(e04_scaling.scale_test, test).startswith(
        "Your test says True and False of “÷8, whatever d_k is”"
    )


def test_the_form_is_looked_at_before_the_numbers_change():
    assert told(e04_scaling.scale_test, lambda scale: torch.rand(())) == "The result must be True or False."


def test_the_scale_that_keeps_its_first_d_k_starts_afresh_in_every_call():
    cases = e04_scaling.scale_test.cases()
    kept = next(one for one in cases if "first call" in repr(one.args[0]))
    eight, seen = torch.tensor(8.0), []

    def answer(scale):
        seen.append((float(scale(eight, 16)), float(scale(eight, 4))))
        return seen[-1][1]

    exercise = FunctionExercise(
        "7.1",
        "A scale",
        reference=lambda scale: 2.0,
        cases=lambda: [kept, case(*kept.args)],
        **COMMON,
    )
    assert status(exercise, answer)[0] == "correct"
    assert set(seen) == {(2.0, 2.0)}

"""Manners of every exercise: its one line, Ctrl-C, random numbers, hints, progress."""

import pytest
import torch
from exercise_rules import printed
from sample_exercises import COMMON, attention_exercise, double, told, value

from mha_helpers import MultiHeadAttention
from mha_helpers.exercises import ValueExercise, framework, progress

pytestmark = pytest.mark.usefixtures("only_these_exercises")


def test_ctrl_c_gets_through():
    def interrupted(x):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        double().check(interrupted)


def test_two_answers_at_once_are_too_many():
    assert "one answer: check(answer)" in printed(value(1), 1, 1)


def test_a_check_leaves_random_numbers_as_they_were():
    torch.manual_seed(3)
    expected = torch.rand(2)
    torch.manual_seed(3)
    printed(attention_exercise(), MultiHeadAttention)
    printed(double(), lambda x: torch.rand_like(x))
    assert torch.equal(torch.rand(2), expected)


def test_hints_come_one_at_a_time_and_the_solution_is_code(capsys):
    exercise = value(1)
    for _ in range(3):
        exercise.hint()
    exercise.solution()
    assert capsys.readouterr().out.splitlines() == [
        "Exercise 7.1, hint 1 of 2: Look.",
        "Exercise 7.1, hint 2 of 2: Look again.",
        "Exercise 7.1: there are no more hints. .solution() shows the code.",
        "Exercise 7.1, hint 1 of 2: Look.",
        "Exercise 7.1, hint 2 of 2: Look again.",
        "answer = 1",
    ]


def test_progress_counts_what_is_done(capsys):
    def said():
        capsys.readouterr()
        progress()
        return capsys.readouterr().out

    assert said() == "No exercises opened yet. Each notebook has some, near its end.\n"
    hard = {**COMMON, "stars": 2, "minutes": 1}
    exercises = {
        "7.10": ValueExercise("7.10", "Later", answer=2, **{**COMMON, "minutes": 1}),
        "10.1": ValueExercise("10.1", "Much later", answer=2, **hard),
        "7.2": ValueExercise("7.2", "Hard", answer=2, **hard),
        "7.1": value(1),
    }
    assert said() == "4 exercises wait for you. A good first one: Exercise 7.10 ★ · 1 min · Later\n"
    exercises["7.1"].check(0)
    exercises["7.1"].check(1)
    exercises["7.1"].check(0)  # done stays done
    exercises["7.10"].check(2)
    assert said() == "Well on the way, 2 of 4 done: 7.1, 7.10. Open: 7.2 (1 min), 10.1 (1 min).\n"
    exercises["7.2"].check(2)
    exercises["10.1"].check(2)
    assert said() == (
        "All 4 exercises done: 7.1, 7.2, 7.10, 10.1. Now explain these steps to somebody else.\n"
    )


def test_progress_says_one_exercise_waits(capsys):
    value(1)
    progress()
    expected = "1 exercise waits for you. A good first one: Exercise 7.1 ★ · 2 min · A value\n"
    assert capsys.readouterr().out == expected


def test_an_exercise_shows_its_heading_and_what_it_can_do():
    exercise = ValueExercise("7.1", "A value", answer=1, **{**COMMON, "stars": 3})
    assert exercise.heading == "Exercise 7.1 ★★★ · 2 min · A value"
    assert repr(exercise) == "<Exercise 7.1 ★★★ · 2 min · A value: .check(…), .hint(), .solution()>"


def test_a_check_prints_one_line():
    exercise = value(1)
    assert exercise.done is False and exercise.given == ""
    assert double().heading == "Exercise 7.1 ★ · 2 min · Double"
    assert printed(exercise) == (
        "Exercise 7.1: not attempted yet. Replace the `...` by your answer, then run the cell again.\n"
    )
    assert printed(exercise, 1) == "Exercise 7.1: correct. Yes.\n"
    assert printed(exercise, 1, 2) == "Exercise 7.1: not yet. Hand over one answer: check(answer).\n"
    assert printed(double(), ...) == (
        "Exercise 7.1: not attempted yet. Write the body in place of the `...`, then run the cell again.\n"
    )
    assert printed(attention_exercise(), None) == (
        "Exercise 7.1: not attempted yet. Write the class in place of the `...`, then run the cell again.\n"
    )


def test_an_answer_whose_own_methods_raise_is_named():
    class Refusing:
        @property
        def __class__(self):
            raise SystemExit

    assert told(value(1), Refusing()) == (
        "Your answer could not be read: it is of type Refusing, and using it raised SystemExit."
    )


@pytest.mark.parametrize("stub", [..., None, [...], (..., ...), {"a": ...}, {"a": ..., "b": ...}])
def test_a_stub_is_untouched(stub):
    assert framework.untouched(stub)


@pytest.mark.parametrize("begun", [0, False, "", [], (), {}, [..., 1], (1, ...), {"a": ..., "b": 1}, {...}])
def test_what_was_begun_is_not_untouched(begun):
    assert not framework.untouched(begun)


def test_one_line_is_short_and_the_same_in_every_run():
    assert framework.one_line("a\n  b\t<x at 0x7fF09a> c") == "a b <x> c"
    assert framework.one_line("a" * 520) == "a" * 520
    assert framework.one_line("a" * 521) == "a" * 519 + "…"
    assert framework.one_line("a" * 9, longest=8) == "a" * 7 + "…"
    assert framework.one_line("a" * 8, longest=8) == "a" * 8

"""What the engine promises to learners, whatever the exercise, and of tests that they write."""

import random
import re

import pytest
import torch
from IPython.core.formatters import DisplayFormatter
from samples import WORDS, function, reply, value

import __main__
from mha_course.exercises import TestExercise
from mha_course.exercises.engine import CORRECT


@pytest.fixture
def find_the_doubler():
    right = {"2x": (lambda x: 2 * x, "it doubles."), "x + x": (lambda x: x + x, "it doubles, too.")}
    wrong = {"x²": (lambda x: x * x, "it is right at 2."), "x + 2": (lambda x: x + 2, "it is right at 2.")}
    always = (lambda double: True, "It says True of all, whatever it tries.")
    small = (lambda double: double(2) == 4 and double(3) < 9, "Try another number.")
    rest = WORDS | {"stub": "def my_test(double):\n    ...", "mistakes": [always, small]}
    return TestExercise("5.3 ★ · 1 min · A test", right=right, wrong=wrong, **rest)


@pytest.mark.parametrize(
    ("test", "words"),
    [
        (lambda double: True, "Your test never calls the function it is handed."),
        (lambda double: double(0) == 0 or True, "says True of all 4. “x²” is wrong, but passes: it is right"),
        (lambda double: double(0) is None, "says False of all 4. “2x” is right, but does not pass: it"),
        (lambda double: double() == 14, "your test raises TypeError: find_the_doubler.<locals>.<lambda>()"),
        (lambda double: double(3) != 6, "upside down"),
        (lambda double: double(2) == 4 and double(3) < 9, "Try another number."),
        (lambda double: (double(0), double(2)) == (0, 4), "3 of 4 are judged rightly. “x²” is wrong"),
        (lambda double: int(double(torch.tensor(True))) == 2, "“x + x” is right, but does not pass"),
        (lambda double: random.random() < double(0) + 0.5, "now True, now False of “2x”, which is right"),
        (lambda double: double(3) == 6 or random.random() < 0.5, "is wrong: what lets it pass by chance?"),
        (lambda double: double(3), "Handed “2x”, which is right, your test returns a number; True or False"),
        (lambda double: double("a" / 2), "Handed “2x”, which is right, your test raises TypeError"),
        (lambda: True, "Compare the arguments"),
        (True, "hand over your test: check(my_test)"),
    ],
)
def test_a_test_is_told_what_it_misjudges(find_the_doubler, test, words):
    random.seed(1)
    assert words in reply(find_the_doubler, test)


def test_a_test_may_name_the_arguments(find_the_doubler):
    assert find_the_doubler.verdict(lambda double: double(x=3) == 6).status == CORRECT


def test_check_prints_one_line_that_begins_with_the_verdict(capsys):
    exercise = value(4)
    for answer in (..., 5, 4):
        exercise.check(answer)
    assert capsys.readouterr().out.splitlines() == [
        "Exercise 1.1: not attempted yet. Write yours in place of the `...`, then run the cell again.",
        "Exercise 1.1: not yet. Your answer, 5, is too large.",
        "Exercise 1.1: correct. Good.",
    ]


def test_hints_come_one_by_one_then_all_and_the_solution_at_any_time(capsys):
    exercise = value(4)
    for _ in range(3):
        exercise.hint()
    exercise.solution()
    assert capsys.readouterr().out.splitlines() == [
        "Exercise 1.1, hint 1 of 2: One.",
        "Exercise 1.1, hint 2 of 2: Two.",
        "Exercise 1.1: there are no more hints. .solution() shows the code.",
        "Exercise 1.1, hint 1 of 2: One.",
        "Exercise 1.1, hint 2 of 2: Two.",
        *WORDS["solution"].splitlines(),
    ]


def test_a_check_leaves_the_learners_random_numbers_as_they_were():
    torch.manual_seed(7)
    expected = torch.rand(1)
    torch.manual_seed(7)
    function().check(lambda x: torch.rand_like(x))
    assert torch.equal(torch.rand(1), expected)


def test_check_returns_its_verdict_to_graders_and_a_cell_that_ends_in_it_shows_one_line():
    exercise = value(4)
    assert exercise.check(4) and not exercise.check(5) and not exercise.check(...)
    exercise.check(4).require()
    for answer, words in [(5, "not yet: Your answer, 5, is too large."), (..., "not attempted yet: Write")]:
        with pytest.raises(AssertionError, match=re.escape(words)):
            exercise.verdict(answer).require()
    sent = DisplayFormatter().format(exercise.check(4))  # what a kernel sends of a cell's last line
    assert sent == ({}, {})


@pytest.mark.parametrize("cell", [{"answer": 4}, {"answer": 5}, {}], ids=str)
def test_a_page_goes_on_with_a_right_answer_and_else_with_the_solution(monkeypatch, capsys, cell):
    """Also where the learner's cell stopped at a slip, so that there is no answer."""
    exercise = value(4)
    exercise.solution_code = "answer = 4"
    for name, answer in cell.items():
        monkeypatch.setattr(__main__, name, answer, raising=False)
    assert exercise.or_ours() == 4
    assert ("goes on with yours" in capsys.readouterr().out) == (cell == {"answer": 4})


def test_the_learners_random_numbers_do_not_change_a_verdict(find_the_doubler):
    verdicts = set()
    for seed in range(9):
        torch.manual_seed(seed)
        verdicts.add(find_the_doubler.verdict(lambda double: bool(double(3) == 6 or torch.rand(()) < 0.1)))
    assert len(verdicts) == 1


def test_only_the_interrupt_gets_through():
    class Odd:
        def __getattribute__(self, name):
            raise SystemExit

    def interrupted(x):
        raise KeyboardInterrupt

    assert "could not be read" in reply(value(4), Odd())
    with pytest.raises(KeyboardInterrupt):
        function().verdict(interrupted)

"""What a check says whatever the exercise, where no kept answer of `answers/` says it."""

import itertools
import random
import re
import sys
from fractions import Fraction

import numpy as np
import pytest
import torch
from IPython.core.formatters import DisplayFormatter

import __main__
from mha_course.exercises import FunctionExercise, TestExercise, ValueExercise, case, numbers
from mha_course.exercises.compare import difference, same
from mha_course.exercises.relations import Asked
from mha_course.exercises.showing import CORRECT, NOT_YET

BATCH = numbers(2, 3, 3)
TABLE = torch.tensor([[0.7, 0.2, 0.1], [0.1, 0.3, 0.6], [0.25, 0.5, 0.25]])
SOLUTION = "def mine(x):\n    # x -> weights\n    return torch.softmax(x, dim=-1)"
WORDS = {"task": "…", "praise": "Good.", "hints": ["One.", "Two."], "solution": SOLUTION}


def value(right, **rest):
    return ValueExercise("1.1 ★ · 1 min · A value", right=right, stub="answer = ...", **WORDS, **rest)


def function(**rest):
    rest = {"cases": lambda: [case(numbers(2, 3)), case(numbers(3, 4, 5, seed=1))], **rest}
    return FunctionExercise("1.2 ★ · 1 min · A function", **WORDS | rest)


def reply(exercise, answer):
    verdict = exercise.verdict(answer)
    return verdict.sentence if verdict.status == NOT_YET else verdict.status


@pytest.mark.parametrize(
    ("right", "answer", "words"),
    [
        (BATCH, BATCH.permute(1, 2, 0), "order of its axes"),
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


def test_any_way_to_write_what_is_asked_for_is_right_and_what_is_right_is_never_printed():
    for right, answers in (
        (TABLE, [TABLE.tolist(), TABLE.numpy(), tuple(TABLE), TABLE.double(), np.float32(TABLE.tolist())]),
        ([1, 2, 3, 4], [[[1, 2, 3, 4]]]),
        (524288, [524288.0, Fraction(524288)]),
        ("flatter", [" 'Flatter'. "]),
        ({"A", "C"}, [{"c", "a"}, ["A", "C"], "A, C"]),
    ):
        assert [reply(value(right), answer) for answer in answers] == [CORRECT] * len(answers)
    for wrong in (1.5, [1, 2], "no", None, {"a": 1}, torch.zeros(3)):
        assert "7.125" not in value(7.125).verdict(wrong).sentence


def test_what_torch_can_read_counts_as_the_tensor_it_means_unless_the_task_asks_for_a_tensor():
    forms = [torch.Tensor.numpy, torch.Tensor.tolist, list, lambda x: [list(row) for row in x]]
    for form in forms:
        assert reply(function(), lambda x, form=form: form(torch.softmax(x, dim=-1))) == CORRECT
        assert "1.5 times the right one" in reply(function(), lambda x, form=form: form(1.5 * x.softmax(-1)))
        words = reply(function(task="Return a tensor."), lambda x, form=form: form(x.softmax(-1)))
        assert words.endswith("a tensor is asked for: torch's next steps and gradients need one.")
        is_seen = function(solution="def mine(x):\n    # x -> a mask\n    return x > 0")
        assert reply(is_seen, lambda x, form=form: form(x > 0)) == CORRECT
        assert "but as" in reply(is_seen, lambda x, form=form: form((x > 0).int()))
    assert reply(value(True), np.True_) == reply(value(2), np.array(2)) == CORRECT
    assert reply(value(1), np.True_) != CORRECT


def test_a_number_is_right_that_rounds_to_the_decimals_asked_for_and_a_hair_of_float32_beside_them():
    two_decimals = value(0.5, decimals=2)
    assert [reply(two_decimals, 0.5 + off) for off in (-0.0052, 0.0052)] == [CORRECT] * 2
    for cut in ((0.86, 1.29), (0.87, 1.29)):
        assert "cut, not rounded" in reply(value([0.868, 1.296], decimals=2), cut)
    assert all(reply(two_decimals, 0.5 + off) != CORRECT for off in (-0.0055, 0.0055, 0.0058))
    assert reply(value([0.5, 0.0, 0.5], decimals=2), [0.5, 0.004, 0.5]) != CORRECT  # a hidden word gets 0


def test_the_quick_comparison_of_two_results_is_that_of_the_sentences():
    results = [BATCH, BATCH.double(), BATCH.mT, BATCH[0], BATCH > 0, (BATCH > 0).float(), BATCH + 1e-7]
    results += [(BATCH, BATCH[0]), [BATCH, BATCH[0]], (BATCH, BATCH[1]), (BATCH,), BATCH / 0]
    results += [torch.tensor(1.0), 1, "a", None]
    for got, right in itertools.product(results, repeat=2):
        assert same(got, right) == (difference(got, right, Asked(of_function=True)) is None), (got, right)


def test_the_mistakes_of_an_input_are_tried_before_those_of_the_exercise():
    small = case(numbers(2, 3), mistakes=[(torch.exp, "Here.")])
    exercise = function(cases=lambda: [small], mistakes=[(torch.exp, "Anywhere.")])
    assert reply(exercise, torch.exp) == "Here."


def test_a_function_writes_into_no_input_not_even_where_that_changes_nothing():
    def mine(x):
        x -= len(x) - 2  # of the first input nothing
        return torch.softmax(x, dim=-1)

    assert "but your function writes into" in reply(function(), mine)


def test_a_result_that_grows_with_each_call_is_told_also_where_it_is_one_tensor_all_the_time():
    kept = torch.zeros(2, 3)
    assert "Two calls with the same input differ" in reply(function(), lambda x: kept.add_(1))


@pytest.mark.parametrize("matmul", [torch.matmul, torch.Tensor.__matmul__, lambda a, b: a @ b])
def test_a_call_is_seen_however_it_is_written(matmul):
    exercise, before = function(without=["matmul"]), sys.getprofile()
    answer = lambda x: matmul(torch.softmax(x, dim=-1), torch.eye(x.shape[-1]))  # noqa: E731
    assert "your code uses matmul" in reply(exercise, answer)
    assert sys.getprofile() is before  # after a check calls are noted no longer


def test_a_mistake_is_named_only_where_it_explains_what_is_right():
    """One too many for n = 1: not where another is right, and not where most are wrong in another way."""
    exercise = function(
        solution="def mine(n):\n    # n -> n numbers\n    return torch.full((n,), n)",
        cases=lambda: [case(1), case(2), case(3)],
        mistakes=[(lambda n: torch.full((n,), n + 1), "One too many.")],
    )
    assert reply(exercise, lambda n: torch.full((n,), n + 1)) == "One too many."
    for values in ((2, 2, 4), (2, 9, 9)):
        answer = lambda n, values=values: torch.full((n,), values[n - 1])  # noqa: E731
        assert "One too many" not in reply(exercise, answer)


@pytest.fixture
def find_the_doubler():
    right = {"2x": (lambda x: 2 * x, "it doubles."), "x + x": (lambda x: x + x, "it doubles, too.")}
    wrong = {"x²": (lambda x: x * x, "it is right at 2."), "x + 2": (lambda x: x + 2, "it is right at 2.")}
    always = (lambda double: True, "It says True of all, whatever it tries.")
    rest = WORDS | {"stub": "def my_test(double):\n    ...", "mistakes": [always]}
    return TestExercise("5.3 ★ · 1 min · A test", right=right, wrong=wrong, **rest)


@pytest.mark.parametrize(
    ("test", "words"),
    [
        (lambda double: double(3) != 6, "upside down"),
        (lambda double: random.random() < double(0) + 0.5, "now True, now False of “2x”, which is right"),
        (lambda double: double(3) == 6 or random.random() < 0.5, "is wrong: what lets it pass by chance?"),
    ],
)
def test_a_test_is_told_what_it_misjudges(find_the_doubler, test, words):
    random.seed(1)
    assert words in reply(find_the_doubler, test)


def test_a_check_prints_one_line_and_hints_come_one_by_one_then_all(capsys):
    exercise = value(4)
    for answer in (..., 5, 4):
        exercise.check(answer)
    for _ in range(3):
        exercise.hint()
    exercise.solution()
    assert capsys.readouterr().out.splitlines() == [
        "Exercise 1.1: not attempted yet. Write yours in place of the `...`, then run the cell again.",
        "Exercise 1.1: not yet. Your answer, 5, is too large.",
        "Exercise 1.1: correct. Good.",
        "Exercise 1.1, hint 1 of 2: One.",
        "Exercise 1.1, hint 2 of 2: Two.",
        "Exercise 1.1: there are no more hints. .solution() shows the code.",
        "Exercise 1.1, hint 1 of 2: One.",
        "Exercise 1.1, hint 2 of 2: Two.",
        *WORDS["solution"].splitlines(),
    ]


def test_in_voila_a_check_says_where_the_exercise_can_be_done(capsys, monkeypatch):
    monkeypatch.setenv("SERVER_SOFTWARE", "voila/0.5.12")
    value(4).check(...)
    assert "not attempted yet. Here there is no cell to write in: open this page" in capsys.readouterr().out


def test_check_returns_its_verdict_to_graders_and_a_cell_that_ends_in_it_shows_one_line():
    exercise = value(4)
    assert exercise.check(4) and not exercise.check(5) and not exercise.check(...)
    exercise.check(4).require()
    for answer, words in [(5, "not yet: Your answer, 5, is too large."), (..., "not attempted yet: Write")]:
        with pytest.raises(AssertionError, match=re.escape(words)):
            exercise.verdict(answer).require()
    assert DisplayFormatter().format(exercise.check(4)) == ({}, {})  # what a kernel sends of a last line
    assert exercise.check(4)._mime_() == ("text/html", "")  # what marimo shows of it


@pytest.mark.parametrize("checked, named", [(None, 4), (None, 5), (None, None), (4, None), (4, 5), (5, 4)])
def test_a_page_goes_on_with_a_right_answer_and_else_with_the_solution(monkeypatch, capsys, checked, named):
    """What was checked counts: there is no answer where the learner's cell stopped at a slip or marimo renamed
    it, and once the page has gone on with ours, ours has its name.
    """
    exercise = value(4)
    exercise.solution_code = "answer = 4"
    if checked:
        exercise.check(checked)
    if named:
        monkeypatch.setattr(__main__, "answer", named, raising=False)
    assert exercise.or_ours() == 4
    assert ("goes on with yours" in capsys.readouterr().out) == ((checked or named) == 4)


def test_the_learners_random_numbers_stay_as_they_were_and_do_not_change_a_verdict(find_the_doubler):
    verdicts = set()
    for seed in range(9):
        before = torch.manual_seed(seed).get_state()
        verdicts.add(find_the_doubler.verdict(lambda double: bool(double(3) == 6 or torch.rand(()) < 0.1)))
        assert torch.equal(torch.get_rng_state(), before)
    assert len(verdicts) == 1


def test_an_answer_runs_in_one_thread_and_afterwards_the_learners_are_back():
    torch.set_num_threads(2)
    assert reply(function(), lambda x: torch.softmax(x * torch.get_num_threads(), dim=-1)) == CORRECT
    assert torch.get_num_threads() == 2
    torch.set_num_threads(1)


def test_only_the_interrupt_gets_through():
    class Odd:
        def __getattribute__(self, name):
            raise SystemExit

    def interrupted(x):
        raise KeyboardInterrupt

    assert "could not be read" in reply(value(4), Odd())
    with pytest.raises(KeyboardInterrupt):
        function().verdict(interrupted)

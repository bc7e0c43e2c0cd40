"""Every exercise of every page takes its right answers, names its mistakes and refuses nonsense.

python -m pytest tests/exercises -k p03
"""

import linecache
import math
import pkgutil
import re
from importlib import import_module

import pytest
import torch
from right_answers import RIGHT_OTHERWISE
from torch import nn
from torch.nn import functional as F
from wrong_answers import WRONG_ANSWERS

import mha_helpers
from mha_helpers import pages as package
from mha_helpers.exercises import exercises_of
from mha_helpers.exercises.engine import CORRECT, NOT_ATTEMPTED, NOT_YET

MODULES = [name for _, name, _ in pkgutil.iter_modules(package.__path__)]
EXERCISES = [
    pytest.param(exercise, id=f"{module}-{name}")
    for module in MODULES
    for name, exercise in exercises_of(import_module(f"mha_helpers.pages.{module}.exercises")).items()
]
every_exercise = pytest.mark.parametrize("exercise", EXERCISES)

NONSENSE = (
    [],
    {},
    "abc",
    -12345.678,
    float("nan"),
    torch.zeros(2, 3),
    torch.zeros(0),
    object(),
    int,
    nn.Linear(2, 2),
    lambda: None,
    lambda *everything: torch.zeros(2, 2),
    lambda *everything: 1 / 0,
    lambda first, *others: first,
)


def made_by(exercise, code):
    """Run code, or the solution with changes, as a cell of the page would run: return the answer that it makes."""
    if isinstance(code, dict):
        code, changes = exercise.solution_code, code
        for old, new in changes.items():
            assert old in code, f"the solution of {exercise.number} has no {old}"
            code = code.replace(old, new)
    names = {name: getattr(mha_helpers, name) for name in mha_helpers.__all__}
    names |= {"torch": torch, "math": math, "nn": nn, "F": F, "__name__": "__main__"}
    for number, cell in enumerate((exercise.given, code)):
        name = f"<{exercise.number} {number} {hash(cell)}>"
        linecache.cache[name] = (len(cell), None, cell.splitlines(keepends=True), name)
        exec(compile(cell, name, "exec"), names)
    return names[exercise.variable]


@every_exercise
def test_the_solution_is_right_and_the_stub_not_attempted(exercise):
    assert exercise.verdict(made_by(exercise, exercise.solution_code)).status == CORRECT
    assert exercise.verdict(made_by(exercise, exercise.stub)).status == NOT_ATTEMPTED
    assert exercise.verdict().status == NOT_ATTEMPTED


@every_exercise
def test_a_right_answer_written_otherwise_is_right(exercise):
    answers = [code for key, code in RIGHT_OTHERWISE.items() if key.split()[0] == exercise.number]
    assert answers, f"right_answers.py has none for {exercise.number}"
    for code in answers:
        verdict = exercise.verdict(made_by(exercise, code))
        assert verdict.status == CORRECT, f"{code}\n{verdict.sentence}"


@pytest.mark.parametrize(("number", "words"), WRONG_ANSWERS)
def test_a_wrong_answer_is_told_what_is_wrong(number, words):
    exercise = next(each.values[0] for each in EXERCISES if each.values[0].number == number)
    verdict = exercise.verdict(made_by(exercise, WRONG_ANSWERS[number, words]))
    assert verdict.status == NOT_YET
    assert words in verdict.sentence


def as_an_answer(wrong, right):
    """Fill a mistake up: a dict with the right entries, a single choice with the others (or take it away)."""
    right = right() if isinstance(wrong, dict) and callable(right) else right
    if isinstance(wrong, dict):
        return right | {name: as_an_answer(part, right[name]) for name, part in wrong.items()}
    return right ^ {wrong} if isinstance(right, set) and not isinstance(wrong, set) else wrong


@every_exercise
def test_each_listed_mistake_gets_its_own_sentence(exercise):
    cases = exercise.cases() if hasattr(exercise, "cases") else []
    listed = [*exercise.mistakes, *(mistake for case in cases for mistake in case.mistakes)]
    assert len(exercise.mistakes) <= 12
    for wrong, sentence in listed:
        verdict = exercise.verdict(as_an_answer(wrong, getattr(exercise, "right", None)))
        assert verdict.status == NOT_YET, sentence
        assert verdict.sentence.endswith(sentence), f"{sentence}\n{verdict.sentence}"


@every_exercise
def test_nonsense_is_neither_accepted_nor_raises(exercise):
    for answer in NONSENSE:
        assert exercise.verdict(answer).status != CORRECT, answer


@every_exercise
def test_it_says_what_a_page_needs(exercise):
    assert re.fullmatch(r"Exercise D?\d+\.\d+ ★{1,3} · \d+ min · \S.+", exercise.heading)
    assert exercise.praise.endswith(".")
    assert 2 <= len(exercise.hints) <= 4
    assert len(exercise.task.split()) > 10


@pytest.mark.parametrize("page", sorted({module[:3] for module in MODULES}))
def test_the_exercises_of_a_page_are_counted_from_1(page):
    """Those of the folder deeper/, d09_…, have a D in front, and pages that lead on from one page count on."""
    exercises = [parameter.values[0] for parameter in EXERCISES if parameter.id.startswith(page)]
    name = page.replace("p", "").replace("d0", "D").replace("d", "D").lstrip("0") or "0"
    numbers = [f"{name}.{n + 1}" for n in range(len(exercises))]
    assert sorted(exercise.number for exercise in exercises) == numbers

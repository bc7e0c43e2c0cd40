"""Every exercise of every page takes its right answers, names its mistakes and refuses nonsense.

python -m pytest tests/exercises -k e03
"""

import importlib
import linecache
import math
import pkgutil

import pytest
import torch
from right_otherwise import RIGHT_OTHERWISE
from torch import nn
from torch.nn import functional as F

import mha_helpers
from mha_helpers import exercises as package
from mha_helpers.exercises import exercises_of
from mha_helpers.exercises.engine import CORRECT, NOT_ATTEMPTED, NOT_YET

MODULES = [
    name
    for _, name, _ in pkgutil.iter_modules(package.__path__)
    if name.startswith("e") and name[1:3].isdigit()
]
EXERCISES = [
    pytest.param(exercise, id=f"{module}-{name}")
    for module in MODULES
    for name, exercise in exercises_of(importlib.import_module(f"mha_helpers.exercises.{module}")).items()
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
    """Run code as a cell of the page would run, and return the answer that it makes."""
    names = {name: getattr(mha_helpers, name) for name in mha_helpers.__all__}
    names |= {"torch": torch, "math": math, "nn": nn, "F": F, "__name__": "__main__"}
    for number, cell in enumerate((exercise.given, code)):
        place = f"<{exercise.number} {number} {hash(cell)}>"
        linecache.cache[place] = (len(cell), None, cell.splitlines(keepends=True), place)
        exec(compile(cell, place, "exec"), names)
    return names[exercise.variable]


@every_exercise
def test_the_solution_is_right_and_the_stub_not_attempted(exercise):
    assert exercise.verdict(made_by(exercise, exercise.solution_code)).status == CORRECT
    assert exercise.verdict(made_by(exercise, exercise.stub)).status == NOT_ATTEMPTED
    assert exercise.verdict().status == NOT_ATTEMPTED


@every_exercise
def test_two_right_answers_written_otherwise_are_right(exercise):
    answers = RIGHT_OTHERWISE[exercise.number]
    assert len(answers) >= 2
    for code in answers:
        verdict = exercise.verdict(made_by(exercise, code))
        assert verdict.status == CORRECT, f"{code}\n{verdict.sentence}"


@every_exercise
def test_each_listed_mistake_gets_its_own_sentence(exercise):
    cases = exercise.cases() if hasattr(exercise, "cases") else []
    listed = [*exercise.mistakes, *(mistake for case in cases for mistake in case.mistakes)]
    assert len(exercise.mistakes) <= 12
    for wrong, sentence in listed:
        if isinstance(wrong, dict):  # some entries of a dict: the others are right
            wrong = (exercise.right() if callable(exercise.right) else exercise.right) | wrong
        verdict = exercise.verdict(wrong)
        assert verdict.status == NOT_YET, sentence
        assert verdict.sentence.endswith(sentence), f"{sentence}\n{verdict.sentence}"


@every_exercise
def test_nonsense_is_neither_accepted_nor_raises(exercise):
    for answer in NONSENSE:
        assert exercise.verdict(answer).status != CORRECT, answer


@every_exercise
def test_it_says_what_a_page_needs(exercise):
    assert exercise.stars in (1, 2, 3)
    assert exercise.praise.endswith(".")
    assert 2 <= len(exercise.hints) <= 4
    assert len(exercise.task.split()) > 10


@pytest.mark.parametrize("module", MODULES)
def test_a_page_has_at_most_three_exercises_one_of_them_hard(module):
    exercises = list(exercises_of(importlib.import_module(f"mha_helpers.exercises.{module}")).values())
    page = int(module[1:3])
    assert [exercise.number for exercise in exercises] == [f"{page}.{n + 1}" for n in range(len(exercises))]
    assert 1 <= len(exercises) <= (6 if page == 12 else 3)  # the museum asks in each room
    assert sum(exercise.stars == 3 for exercise in exercises) <= 1

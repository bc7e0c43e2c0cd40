"""Every exercise of every notebook keeps every rule, and every rule notices a spoilt exercise.

python -m pytest tests/exercises -k 03_qk_scores
"""

import pytest
import torch
from exercise_rules import (
    RULES,
    accepts_its_solution,
    diagnoses_the_form,
    exercises_of,
    helps_step_by_step,
    is_described,
    keeps_the_answer_to_itself,
    knows_the_stub,
    modules,
    names_each_mistake,
    refuses_a_wrong_call,
    sees_through_copied_numbers,
    speaks_plainly,
    survives_nonsense,
)

from mha_helpers import attention_scores, scale_scores
from mha_helpers.exercises import FunctionExercise, Mistake, case, framework, numbers
from mha_helpers.exercises.framework import CORRECT, Verdict
from mha_helpers.exercises.mistakes import SCORES, pick


def _cases():
    for module in modules():
        try:
            found = exercises_of(module)
        except Exception as error:
            yield pytest.param(None, error, id=module)
            continue
        for name, exercise in found.items():
            for rule in RULES:
                yield pytest.param(exercise, rule, id=f"{module}-{name}-{rule.__name__}")


@pytest.mark.parametrize(("exercise", "rule"), list(_cases()))
def test_exercise_keeps_the_rule(exercise, rule):
    if exercise is None:
        raise rule
    faults = rule(exercise)
    assert not faults, f"{exercise.heading}\n  " + "\n  ".join(faults)


@pytest.mark.parametrize("module", modules())
def test_exercises_are_numbered_in_order_and_there_are_three(module):
    numbered = [exercise.number for exercise in exercises_of(module).values()]
    notebook = str(int(module[1:3]))
    assert numbered == [f"{notebook}.{place}" for place in range(1, len(numbered) + 1)]
    assert numbered
    if module != "e00_start_here":
        assert len(numbered) >= 3
        assert len({exercise.stars for exercise in exercises_of(module).values()}) >= 2, "all equally hard"


# Each rule notices the fault it is there for


def _score_cases():
    return [case(numbers(n, 2, name="q"), numbers(n + 1, 2, name="k")) for n in (2, 3, 4)]


@pytest.fixture
def spoilt():
    """Return a function that builds a sound exercise, some parts of it replaced by bad ones."""

    def build(kind=FunctionExercise, **parts):
        sound = {
            "title": "Scores",
            "stars": 1,
            "minutes": 3,
            "variable": "my_scores",
            "reference": lambda q, k: attention_scores(q, k),
            "cases": _score_cases,
            "mistakes": pick(SCORES, "transposed picture", "scaled already"),
            "praise": "That is it.",
            "hints": ["Look at the shapes.", "Move two axes."],
            "solution": "def my_scores(q, k):\n    return q @ k.transpose(-2, -1)",
        }
        return kind("0.0", **(sound | parts))

    yield build
    framework._registry.pop("0.0", None)


def test_a_sound_exercise_has_no_fault(spoilt):
    assert [rule.__name__ for rule in RULES if rule(spoilt())] == []


class AcceptsAll(FunctionExercise):
    def _judge(self, answer):
        return Verdict(CORRECT, self.praise)


class AcceptsShapes(FunctionExercise):
    """Compares shapes alone."""

    def _difference(self, outcome, right):
        alike = isinstance(outcome.value, torch.Tensor) and outcome.value.shape == right.shape
        return None if alike else super()._difference(outcome, right)


class TriesTheExampleAlone(FunctionExercise):
    def __init__(self, *args, cases, **rest):
        super().__init__(*args, cases=lambda: cases()[:1], **rest)


class Crashes(FunctionExercise):
    def verdict(self, answer=..., *more):
        return super().verdict(answer, *more) if answer == answer else None


_ONES = [case(torch.ones(2, 2), torch.ones(2, 2))] * 3
SPOILT = {
    "accepts every answer": (names_each_mistake, {"kind": AcceptsAll}),
    "accepts nonsense": (survives_nonsense, {"kind": AcceptsAll}),
    "accepts the stub": (knows_the_stub, {"kind": AcceptsAll}),
    "accepts wrong values": (diagnoses_the_form, {"kind": AcceptsShapes}),
    "accepts copied numbers": (sees_through_copied_numbers, {"kind": TriesTheExampleAlone}),
    "accepts a wrong call": (refuses_a_wrong_call, {"kind": AcceptsAll}),
    "uses the answer's own ==": (survives_nonsense, {"kind": Crashes}),
    "inputs that do not tell apart": (names_each_mistake, {"cases": lambda: _ONES}),
    "a mistake that is none": (
        names_each_mistake,
        {"mistakes": [Mistake("right", attention_scores, "You are wrong.")]},
    ),
    "two mistakes alike": (
        names_each_mistake,
        {
            "mistakes": [
                Mistake("scaled", lambda q, k: scale_scores(q @ k.T, 2), "This is scaled."),
                Mistake("halved", lambda q, k: (q @ k.T) / 2**0.5, "This is halved."),
            ]
        },
    ),
    "one sentence for two": (
        names_each_mistake,
        {"mistakes": [Mistake(m.name, m.wrong, "No.") for m in pick(SCORES, "keys with keys", "weights")]},
    ),
    "no mistake": (names_each_mistake, {"mistakes": []}),
    "a wrong solution": (accepts_its_solution, {"solution": "def my_scores(q, k):\n    return k @ q.T"}),
    "a wrong reference": (accepts_its_solution, {"reference": lambda q, k: 2 * attention_scores(q, k)}),
    "the answer in a sentence": (
        keeps_the_answer_to_itself,
        {"mistakes": [Mistake("x", lambda q, k: k @ q.T, "Write q @ k.transpose(-2, -1).")]},
    ),
    "a banned word": (speaks_plainly, {"praise": "You just did it."}),
    "many lines": (speaks_plainly, {"hints": ["Look\nhere.", "And there."]}),
    "machine's digits": (speaks_plainly, {"praise": "The mean is 0.123456."}),
    "one hint": (is_described, {"hints": ["Look."]}),
    "four stars": (is_described, {"stars": 4}),
    "a wide solution": (is_described, {"solution": f"total = {' + '.join(['1'] * 25)}"}),
    "hints of two lines": (helps_step_by_step, {"hints": ["Look\nhere.", "And there."]}),
}


@pytest.mark.parametrize(("rule", "parts"), SPOILT.values(), ids=SPOILT)
def test_a_spoilt_exercise_is_noticed(spoilt, rule, parts):
    assert rule(spoilt(**parts))

"""Small exercises to try the engine on, and what it replies to an answer."""

import torch

from mha_course.exercises import FunctionExercise, ValueExercise, case, numbers
from mha_course.exercises.engine import NOT_YET

TABLE = torch.tensor([[0.7, 0.2, 0.1], [0.1, 0.3, 0.6], [0.25, 0.5, 0.25]])
SOLUTION = "def mine(x):\n    # x -> weights\n    return torch.softmax(x, dim=-1)"
WORDS = {"task": "…", "praise": "Good.", "hints": ["One.", "Two."], "solution": SOLUTION}


def value(right, **rest):
    return ValueExercise("1.1 ★ · 1 min · A value", right=right, stub="answer = ...", **WORDS, **rest)


def softmax(x):
    return torch.softmax(x, dim=-1)


def function(reference=softmax, cases=None, **rest):
    cases = cases or (lambda: [case(numbers(2, 3)), case(numbers(3, 4, 5, seed=1))])
    exercise = FunctionExercise("1.2 ★ · 1 min · A function", cases=cases, **WORDS, **rest)
    exercise.reference = reference
    return exercise


def reply(exercise, answer):
    verdict = exercise.verdict(answer)
    assert verdict.status == NOT_YET, verdict
    return verdict.sentence

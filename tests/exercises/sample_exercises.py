"""An exercise that belongs to no notebook, for the tests of how exercises behave."""

from mha_helpers.exercises import ValueExercise

COMMON = {
    "stars": 1,
    "minutes": 2,
    "variable": "answer",
    "praise": "Yes.",
    "hints": ["Look.", "Look again."],
    "solution": "answer = 1",
}


def value(answer, **parts):
    return ValueExercise("7.1", "A value", answer=answer, **COMMON, **parts)

"""The exercises of the course: ``check`` says what went wrong, ``hint`` helps, ``solution`` shows.

Each page has its own file: ``from mha_helpers.exercises import e03_qk_scores as exercises``.
``engine.py`` opens with a guide for authors.
"""

from mha_helpers.exercises.engine import Exercise, exercises_of, progress
from mha_helpers.exercises.kinds import FunctionExercise, ModuleExercise, TestExercise, ValueExercise
from mha_helpers.exercises.running import case, numbers

__all__ = [
    "Exercise",
    "FunctionExercise",
    "ModuleExercise",
    "TestExercise",
    "ValueExercise",
    "case",
    "exercises_of",
    "numbers",
    "progress",
]

"""The exercises of the course: ``check`` says what went wrong, ``hint`` helps, ``solution`` shows.

Each notebook has its own file: ``from mha_helpers.exercises import e03_qk_scores as exercises``.
``framework.py`` opens with a guide for authors.
"""

from mha_helpers.exercises.classes import ModuleExercise
from mha_helpers.exercises.framework import Exercise, Mistake, progress
from mha_helpers.exercises.functions import FunctionExercise
from mha_helpers.exercises.running import case, numbers
from mha_helpers.exercises.values import ChoiceExercise, ValueExercise

__all__ = [
    "ChoiceExercise",
    "Exercise",
    "FunctionExercise",
    "Mistake",
    "ModuleExercise",
    "ValueExercise",
    "case",
    "numbers",
    "progress",
]

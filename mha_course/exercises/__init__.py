"""The exercises of the course: ``check`` says what went wrong, ``hint`` helps, ``solution`` shows.

Those of a page are in its folder: ``from mha_course.p03_qk_scores import exercises``.
``engine.py`` opens with a guide for authors.
"""

from mha_course.exercises.engine import candidates, changes
from mha_course.exercises.kinds import FunctionExercise, TestExercise, ValueExercise
from mha_course.exercises.running import case, numbers

__all__ = ["FunctionExercise", "TestExercise", "ValueExercise", "candidates", "case", "changes", "numbers"]

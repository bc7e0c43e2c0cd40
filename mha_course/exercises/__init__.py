"""The exercises of the course: ``check`` says what went wrong, ``hint`` helps, ``solution`` shows.

Those of a page are in its folder: ``from mha_course.p03_qk_scores import exercises``.
``engine.py`` opens with a guide for authors.
"""

from mha_course.exercises.compare import as_python, kind_of
from mha_course.exercises.engine import CORRECT, Verdict, changes, run_code
from mha_course.exercises.kinds import FunctionExercise, TestExercise, ValueExercise, hand_over
from mha_course.exercises.running import AnswerError, Calls, Outcome, agree, case, is_stub, numbers, run

__all__ = [
    "CORRECT", "AnswerError", "Calls", "FunctionExercise", "Outcome", "TestExercise", "ValueExercise",
    "Verdict", "agree", "as_python", "case", "changes", "hand_over", "is_stub", "kind_of",
    "numbers", "run", "run_code",
]  # fmt: skip

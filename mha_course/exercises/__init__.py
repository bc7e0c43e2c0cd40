"""The exercises of the course: ``check`` says what went wrong, ``hint`` helps, ``solution`` shows.

Those of a page are in its folder: ``from mha_course.p03_qk_scores import exercises``.
``engine.py`` opens with what an author writes.
"""

from mha_course.exercises.compare import as_python, called
from mha_course.exercises.engine import changes, run_code
from mha_course.exercises.kinds import FunctionExercise, TestExercise, ValueExercise, another_kind
from mha_course.exercises.running import AnswerError, Calls, Outcome, case, numbers, run, same_outcome
from mha_course.exercises.showing import CORRECT, Verdict

"""The exercises of the course: ``check`` says what went wrong, ``hint`` helps, ``solution`` shows.

Each notebook has its own file: ``from mha_helpers.exercises import e03_qk_scores as exercises``.
``framework.py`` opens with a guide for authors. Each name is imported when it is first asked for, so that a
page carries no kind of exercise that it does not have.
"""

from mha_helpers.lazy import lazy_names

_MODULES = {
    "ChoiceExercise": "values",
    "Exercise": "framework",
    "FunctionExercise": "functions",
    "Mistake": "framework",
    "ModuleExercise": "classes",
    "ValueExercise": "values",
    "case": "running",
    "numbers": "running",
    "progress": "framework",
}

__all__ = list(_MODULES)

__getattr__, __dir__ = lazy_names(__name__, _MODULES, __all__)

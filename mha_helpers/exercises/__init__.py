"""The exercises of the course: ``check`` says what went wrong, ``hint`` helps, ``solution`` shows.

Each notebook has its own file: ``from mha_helpers.exercises import e03_qk_scores as exercises``.
``framework.py`` opens with a guide for authors. Each name is imported when it is first asked for, so that a
page carries no kind of exercise that it does not have.
"""

from importlib import import_module

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


def __getattr__(name):
    if name in _MODULES:
        return getattr(import_module(f"mha_helpers.exercises.{_MODULES[name]}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__():
    return sorted(__all__)

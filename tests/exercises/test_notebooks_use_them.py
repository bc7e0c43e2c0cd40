"""Notebooks and exercises fit together: headings, names, stubs, stored outputs, and solutions that run there."""

import ast
import contextlib
import io
import re
from pathlib import Path

import matplotlib
import nbformat
import pytest
from exercise_rules import exercises_of, modules, printed

from mha_helpers.exercises import FunctionExercise

matplotlib.use("Agg")

FOLDER = Path(__file__).resolve().parents[2] / "notebooks"
CHECK = re.compile(r"^exercises\.(\w+)\.check\((\w+)\)$", re.MULTILINE)
IMPORT = "from mha_helpers.exercises import {} as exercises"
PAGES = [name for name in modules() if (FOLDER / f"{name[1:]}.ipynb").exists()]


def cells_of(module):
    return nbformat.read(FOLDER / f"{module[1:]}.ipynb", as_version=4).cells


def checks_in(cell):
    return CHECK.findall(cell.source) if cell.cell_type == "code" else []


@pytest.mark.parametrize("module", PAGES)
def test_notebook_asks_each_exercise_once_and_no_other(module):
    used = [found for cell in cells_of(module) for found in checks_in(cell)]
    code = "\n".join(cell.source for cell in cells_of(module) if cell.cell_type == "code")
    assert IMPORT.format(module) in code
    assert used == [(name, exercise.variable) for name, exercise in exercises_of(module).items()]


@pytest.mark.parametrize("module", PAGES)
def test_notebook_has_the_headings_of_the_exercises(module):
    text = "\n".join(cell.source for cell in cells_of(module) if cell.cell_type == "markdown")
    missing = [e.heading for e in exercises_of(module).values() if f"### {e.heading}\n" not in f"{text}\n"]
    assert not missing


@pytest.mark.parametrize("module", PAGES)
def test_stored_stubs_are_not_attempted(module):
    exercises = exercises_of(module)
    for cell in cells_of(module):
        for name, _ in checks_in(cell):
            said = "".join(output.get("text", "") for output in cell.outputs)
            assert said.endswith(printed(exercises[name], ...)), (
                f"{name}: the stub's stored output is {said!r}"
            )


@pytest.mark.parametrize("module", PAGES)
def test_solution_and_stub_run_where_the_learner_stands(module, monkeypatch):
    """Run the page's code; in place of each stub, and after it, the solution: it must find its names."""
    monkeypatch.chdir(FOLDER)
    exercises, names = exercises_of(module), {"__name__": "__main__", "display": lambda *shown: None}
    for cell in cells_of(module):
        if cell.cell_type != "code":
            continue
        with contextlib.redirect_stdout(io.StringIO()):
            try:
                exec(cell.source, names)
            except Exception:
                if "raises-exception" not in cell.metadata.get("tags", []):
                    raise
        for name, variable in checks_in(cell):
            assert "not attempted yet." in printed(exercises[name], names[variable]), name
            exec(exercises[name].solution_code, names)
            assert "correct." in printed(exercises[name], names[variable]), name


def arguments_of(code):
    """Return ``{name of a function: names of its arguments}`` of a piece of code."""
    functions = [node for node in ast.parse(code).body if isinstance(node, ast.FunctionDef)]
    return {one.name: [argument.arg for argument in one.args.args] for one in functions}


@pytest.mark.parametrize("module", PAGES)
def test_messages_name_the_arguments_of_the_stub(module):
    for cell in cells_of(module):
        for name, variable in checks_in(cell):
            exercise, stub = exercises_of(module)[name], arguments_of(cell.source)
            if isinstance(exercise, FunctionExercise) and variable in stub:
                assert exercise.arguments == stub[variable], name
                assert arguments_of(exercise.solution_code)[variable] == stub[variable], name

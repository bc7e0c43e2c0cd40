"""Make the teacher edition: the pages with every exercise solved, every check passed, and notes.

    python tools/make_teacher_edition.py                                   # all, into dist/teacher
    python tools/make_teacher_edition.py notebooks/03_qk_scores.ipynb

Page 11 needs transformers and a model's weights, so it is made only where it is named:

    .venv-real-model/bin/python tools/make_teacher_edition.py notebooks/real_model/11_a_real_model.ipynb

It is made from the notebooks and the exercises, and never edited by hand:

* in place of each stub stands the solution, and the check below it says "correct";
* the cell with hint and solution becomes a note: the hints, and the wrong answers the check knows;
* the answer of *Predict* stands open, as the answer to expect;
* at the top stands what TEACHING.md says of the page.

Every page is run, and fails here when a check does not say "correct".
"""

from __future__ import annotations

import argparse
import ast
import importlib
import os
import re
import sys
from pathlib import Path

import nbformat
from course_notebooks import as_python, course_notebooks, read_notebook
from nbformat.notebooknode import NotebookNode
from refresh_notebooks import as_text, execute, normalise

ROOT = Path(__file__).resolve().parent.parent
if str(ROOT) not in sys.path:
    sys.path.insert(0, str(ROOT))

import mha_helpers  # noqa: E402

REAL_MODEL = ROOT / "notebooks" / "real_model"
USUAL = {
    "math": "import math",
    "nn": "from torch import nn",
    "F": "from torch.nn import functional as F",
}
CHECK = re.compile(r"^exercises\.(\w+)\.check\((.*)\)$", re.MULTILINE)
HELP = re.compile(r"^# exercises\.(\w+)\.hint\(\)", re.MULTILINE)
MODULE = re.compile(r"^from mha_helpers\.exercises import (\w+) as exercises$", re.MULTILINE)
DETAILS = re.compile(r"<details>\s*<summary>.*?</summary>\s*(.*?)\s*</details>", re.DOTALL)
NOTE = "> **For the teacher.** "


def quoted(text: str) -> str:
    """Markdown as one block quote, so that a note cannot be taken for the page."""
    return "\n".join(f"> {line}".rstrip() for line in text.splitlines())


def bound_names(source: str) -> set[str]:
    """The names that a cell defines: imports, functions, classes, variables."""
    names = set()
    for node in ast.walk(ast.parse(as_python(source))):
        if isinstance(node, ast.alias):
            names.add((node.asname or node.name).split(".")[0])
        elif isinstance(node, ast.FunctionDef | ast.ClassDef):
            names.add(node.name)
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            names.add(node.id)
    return names


def missing_imports(solution: str, known: set[str]) -> str:
    """Imports for what a solution takes from PyTorch and the helpers, and the page has not imported."""
    used = {node.id for node in ast.walk(ast.parse(solution)) if isinstance(node, ast.Name)}
    missing = used - known - bound_names(solution)
    lines = [line for name, line in USUAL.items() if name in missing]
    helpers = sorted(missing & set(mha_helpers.__all__))
    return "\n".join([*lines, f"from mha_helpers import {', '.join(helpers)}"] if helpers else lines)


def solved(source: str, exercises, known: set[str]) -> str:
    """The cell of an exercise with its solution in place of the stub. What follows the check stays.

    `known` are the names that the page has defined above.
    """
    found = CHECK.search(source)
    exercise = getattr(exercises, found.group(1))
    before = source[: found.start()]
    # Lines of the page that the stub does not own: data it is about, printed before the answer.
    stub = re.search(
        rf"^(?:def {exercise.variable}\b|class {exercise.variable}\b|{exercise.variable} *=)", before, re.M
    )
    kept = before[: stub.start()].strip() if stub else ""
    imports = missing_imports(exercise.solution_code, known | bound_names(kept))
    parts = [
        imports,
        kept,
        exercise.solution_code,
        source[found.start() :].replace(found.group(2), exercise.variable),
    ]
    return "\n\n\n".join(part for part in parts if part)


def wrong_answer(mistake) -> str:
    """The name of a mistake; a set of letters in one order, which Python itself does not promise."""
    if isinstance(mistake.wrong, frozenset):
        return "chose " + (", ".join(sorted(map(str, mistake.wrong))) or "none")
    return mistake.name


def note_on(exercise) -> str:
    """What a teacher wants to know of an exercise: its hints, and the wrong answers that the check names."""
    lines = [
        f"{NOTE.removeprefix('> ')}Exercise {exercise.number}, {exercise.minutes} min. Hints, one by one:",
        "",
    ]
    lines += [f"{i}. {hint}" for i, hint in enumerate(exercise.hints, start=1)]
    if exercise.mistakes:
        lines += ["", "Wrong answers, and what the check says of them:", ""]
        lines += [f"- *{answers}*: {sentence}" for sentence, answers in said_of_answers(exercise).items()]
    return quoted("\n".join(lines))


def said_of_answers(exercise) -> dict[str, str]:
    """Sentence of the check -> the wrong answers that get it; of many the first, and how many more."""
    answers: dict[str, list[str]] = {}
    for mistake in exercise.mistakes:
        answers.setdefault(mistake.sentence, []).append(wrong_answer(mistake))
    return {
        sentence: ", ".join(names) if len(names) <= 3 else f"{names[0]}, and {len(names) - 1} more like it"
        for sentence, names in answers.items()
    }


def speaker_notes(number: str) -> str:
    """What TEACHING.md says of the page, as a note; empty where it says nothing."""
    text = (ROOT / "TEACHING.md").read_text(encoding="utf-8")
    found = re.search(rf"^### Page {number}\n(.*?)(?=^##)", text, re.MULTILINE | re.DOTALL)
    if not found:
        return ""
    notes = re.sub(r"\[([^\]]+)\]\(#[^)]*\)", r"\1", found.group(1).strip())
    return (
        NOTE
        + "What to project, ask and move; the numbers are the stumbling blocks of TEACHING.md.\n>\n"
        + quoted(notes)
    )


def teacher_edition(notebook: NotebookNode, number: str) -> NotebookNode:
    """The notebook with solutions and notes, not yet run."""
    cells, exercises, known = [], None, set()
    for cell in notebook.cells:
        found = MODULE.search(cell.source) if cell.cell_type == "code" else None
        if found:
            exercises = importlib.import_module(f"mha_helpers.exercises.{found.group(1)}")
        if cell.cell_type == "markdown":
            cell.source = DETAILS.sub(
                lambda one: quoted("**Answer to expect.** " + one.group(1)), cell.source
            )
        elif helped := HELP.search(cell.source):
            cell = nbformat.v4.new_markdown_cell(note_on(getattr(exercises, helped.group(1))))
        elif CHECK.search(cell.source):
            cell.source = solved(cell.source, exercises, known)
        if cell.cell_type == "code":
            known |= bound_names(cell.source)
        cells.append(cell)
        if len(cells) == 1 and (notes := speaker_notes(number)):
            cells.append(nbformat.v4.new_markdown_cell(notes))
    notebook.cells = cells
    return notebook


def mend_links(notebook: NotebookNode, path: Path, folder: Path) -> None:
    """Make the links fit one folder for all pages. Page 11 may be missing there: link the learners' page."""
    for cell in notebook.cells:
        if cell.cell_type != "markdown":
            continue
        if path.parent.name == REAL_MODEL.name:
            cell.source = cell.source.replace("](../", "](")
        else:
            elsewhere = Path(os.path.relpath(REAL_MODEL, folder)).as_posix()
            cell.source = cell.source.replace(f"]({REAL_MODEL.name}/", f"]({elsewhere}/")


def unsolved(notebook: NotebookNode) -> list[str]:
    """What the checks of an executed edition say, where it is not "correct"."""
    said = [o.text for cell in notebook.cells for o in cell.get("outputs", []) if o.output_type == "stream"]
    lines = [line for text in said for line in text.splitlines() if re.match(r"Exercise \d+\.\d+: ", line)]
    checks = sum(bool(CHECK.search(cell.source)) for cell in notebook.cells if cell.cell_type == "code")
    faults = [line for line in lines if ": correct." not in line]
    if len(lines) != checks:
        faults.append(f"{checks} checks, and {len(lines)} answers")
    return faults


def make(path: Path, folder: Path) -> list[str]:
    """Write the teacher edition of one notebook; return its faults."""
    notebook = teacher_edition(read_notebook(path), path.name[:2])
    mend_links(notebook, path, folder)
    for cell in notebook.cells:
        if cell.cell_type == "code":
            cell.outputs, cell.execution_count = [], None
    execute(notebook, path.parent)
    normalise(notebook, path.stem)
    nbformat.validate(notebook)
    folder.mkdir(parents=True, exist_ok=True)
    (folder / path.name).write_bytes(as_text(notebook).encode("utf-8"))
    return unsolved(notebook)


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("notebooks", nargs="*", type=Path, help="files (default: all but page 11)")
    parser.add_argument("--to", type=Path, default=ROOT / "dist" / "teacher", help="default: dist/teacher")
    options = parser.parse_args(arguments)
    faults = 0
    for path in options.notebooks or course_notebooks(real_model=False):
        try:
            wrong = make(path.resolve(), options.to)
        except (OSError, ValueError) as error:
            wrong = [str(error)]
        faults += len(wrong)
        print(f"{path.name}: {'every check says correct' if not wrong else 'NOT SOLVED'}", flush=True)
        for line in wrong:
            print(f"    {line}", file=sys.stderr)
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())

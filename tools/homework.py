"""Read returned notebooks and list which exercises are done. Nobody's code is run.

    python tools/homework.py FOLDER                       # a table on the screen
    python tools/homework.py FOLDER --csv results.csv     # and as a file

What counts is what the checks printed when the learner ran the page and saved it. The name of a learner is
the name of the file.
"""

from __future__ import annotations

import argparse
import csv
import functools
import re
import sys
from pathlib import Path

import nbformat
from course_notebooks import course_notebooks, read_notebook
from in_a_sentence import in_a_sentence

HEADING = re.compile(r"^### Exercise (\d+\.\d+) ★", re.MULTILINE)
VERDICT = re.compile(r"^Exercise (\d+\.\d+): (not attempted yet|not yet|correct)\. ?(.*)$", re.MULTILINE)

NO_ANSWER, WITHOUT_VERDICT = "no answer", "its cell was not run, or stopped with an error"
NOT_THERE = "it is not in the notebook"


def verdicts(path: Path) -> list[tuple[str, str, str]]:
    """(exercise, status, reason) of one notebook, in its order; of a check run twice, the last.

    An exercise that stands in the notebook and has no verdict was not run, or its cell stopped with an error:
    it counts, as "no answer". So does one of the same page that is not in the notebook. Empty where no check
    was run at all.
    """
    cells = nbformat.read(path, as_version=4).cells
    there = exercises_in(cells)
    checked = [
        number
        for cell in cells
        for output in cell.get("outputs", [])
        for number, *_ in VERDICT.findall(output.get("text", ""))
    ]
    of_this_course = any("mha_helpers" in cell.source for cell in cells)
    posed = [number for page in _pages(there or checked) for number in posed_on(page) if of_this_course]
    found = {
        number: (number, NO_ANSWER, WITHOUT_VERDICT if number in there else NOT_THERE)
        for number in dict.fromkeys(posed + there)
    }
    for cell in cells:
        for output in cell.get("outputs", []):
            for number, status, reason in VERDICT.findall(output.get("text", "")):
                found[number] = (number, status, reason)
    rows = list(found.values())
    return rows if any(status != NO_ANSWER for _, status, _ in rows) else []


def exercises_in(cells: list) -> list[str]:
    """The numbers of the exercises whose heading stands in the cells."""
    return [
        number for cell in cells if cell.cell_type == "markdown" for number in HEADING.findall(cell.source)
    ]


def _pages(numbers: list[str]) -> list[str]:
    return list(dict.fromkeys(number.partition(".")[0] for number in numbers))


@functools.cache
def posed_on(page: str) -> tuple[str, ...]:
    """The exercises that the course poses on a page: "3" for page 03. Empty if it has no such page."""
    return tuple(
        number
        for path in course_notebooks()
        if path.name.startswith(f"{int(page):02}_")
        for number in exercises_in(read_notebook(path).cells)
    )


@in_a_sentence
def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path, help="where the returned notebooks lie, also in folders inside")
    parser.add_argument("--csv", type=Path, help="write the table here, too")
    options = parser.parse_args(arguments)
    if not options.folder.is_dir():
        print(f"{options.folder} is no folder: name the one in which the notebooks lie.", file=sys.stderr)
        return 1
    files = [
        path
        for path in sorted(options.folder.rglob("*"))
        if path.is_file() and not any(part.startswith(".") for part in path.relative_to(options.folder).parts)
    ]
    paths = [path for path in files if path.suffix.lower() == ".ipynb"]
    for path in files:
        if path not in paths and not (options.csv and path.resolve() == options.csv.resolve()):
            print(
                f"{path.relative_to(options.folder)}: not read, its name does not end in .ipynb",
                file=sys.stderr,
            )
    if not paths:
        print(f"There is no notebook in {options.folder}.", file=sys.stderr)
        return 1
    table = []
    for path in paths:
        name = path.relative_to(options.folder).with_suffix("").as_posix()
        try:
            rows = verdicts(path)
        except Exception as error:  # a damaged file must not hide the others
            print(f"{name}: cannot be read as a notebook ({type(error).__name__})", file=sys.stderr)
            continue
        done = sum(status == "correct" for _, status, _ in rows)
        print(f"{name}: {done} of {len(rows)} correct" if rows else f"{name}: no check was run")
        for number, status, reason in rows:
            table.append((name, number, status, reason))
            if status != "correct":
                print(f"    {number} {status}" + (f": {reason}" if status in ("not yet", NO_ANSWER) else ""))
    if options.csv:
        # With its mark, or a spreadsheet takes the file for cp1252.
        with options.csv.open("w", encoding="utf-8-sig", newline="") as file:
            csv.writer(file).writerows([("learner", "exercise", "status", "reason"), *table])
    return 0


if __name__ == "__main__":
    sys.exit(main())

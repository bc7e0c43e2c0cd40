"""Read returned notebooks and list which exercises are done. Nobody's code is run.

    python tools/homework.py FOLDER                       # a table on the screen
    python tools/homework.py FOLDER --csv results.csv     # and as a file

What counts is what the checks printed when the learner ran the page and saved it. The name of a learner is
the name of the file.
"""

from __future__ import annotations

import argparse
import csv
import re
import sys
from pathlib import Path

import nbformat
from in_a_sentence import in_a_sentence

HEADING = re.compile(r"^### Exercise (\d+\.\d+) ★", re.MULTILINE)
VERDICT = re.compile(r"^Exercise (\d+\.\d+): (not attempted yet|not yet|correct)\. ?(.*)$", re.MULTILINE)

NO_ANSWER, WITHOUT_VERDICT = "no answer", "its cell was not run, or stopped with an error"


def verdicts(path: Path) -> list[tuple[str, str, str]]:
    """(exercise, status, reason) of one notebook, in its order; of a check run twice, the last.

    An exercise that stands in the notebook and has no verdict was not run, or its cell stopped with an error:
    it counts, as "no answer". Empty where no check was run at all.
    """
    cells = nbformat.read(path, as_version=4).cells
    headings = [
        number for cell in cells if cell.cell_type == "markdown" for number in HEADING.findall(cell.source)
    ]
    found = {number: (number, NO_ANSWER, WITHOUT_VERDICT) for number in headings}
    for cell in cells:
        for output in cell.get("outputs", []):
            for number, status, reason in VERDICT.findall(output.get("text", "")):
                found[number] = (number, status, reason)
    rows = list(found.values())
    return rows if any(status != NO_ANSWER for _, status, _ in rows) else []


@in_a_sentence
def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path, help="where the returned notebooks lie, also in folders inside")
    parser.add_argument("--csv", type=Path, help="write the table here, too")
    options = parser.parse_args(arguments)
    if not options.folder.is_dir():
        print(f"{options.folder} is no folder: name the one in which the notebooks lie.", file=sys.stderr)
        return 1
    paths = [
        path for path in sorted(options.folder.rglob("*.ipynb")) if ".ipynb_checkpoints" not in path.parts
    ]
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

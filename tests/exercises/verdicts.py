"""What the checks say to answers of learners, so that no sentence changes unseen.

`tests/exercises/answers/` has a file for each page. An answer is

    @ 5.2 the number of its exercise, and what the learner may have thought
    code that makes it, as in the cell of the page, or lines `old => new`: what differs from the solution
    > not yet. What the check says: `python -m tests.kept` writes it
"""

import functools
import importlib

from tests.entries import alike, entries
from tools.notebook import ROOT, exercises_of, page_folders


@functools.cache
def all_exercises():
    """Every exercise of the course, by its page and name: "p03_qk_scores-products"."""
    exercises = {}
    for page in page_folders():
        of_page = exercises_of(importlib.import_module(f"mha_course.{page}.exercises"))
        exercises |= {f"{page}-{name}": exercise for name, exercise in of_page.items()}
    return exercises


def files():
    return sorted((ROOT / "tests" / "exercises" / "answers").glob("*.txt"))


def today(file):
    by_number = {exercise.number: exercise for exercise in all_exercises().values()}
    said = {}
    for name in entries(file):
        title, _, code = name.partition("\n")
        exercise, lines = by_number[title.split()[0]], code.splitlines()
        answer = dict(line.split(" => ") for line in lines) if all(" => " in line for line in lines) else code
        said[name] = "{0.status}. {0.sentence}".format(exercise.verdict(exercise.made_by(answer)))
    return said


def difference(name, before, now):
    """Say both, unless they differ by what another machine rounds otherwise."""
    return "" if alike(before, now, rel_tol=2e-3) else f"\n  was: {before}\n  now: {now}"

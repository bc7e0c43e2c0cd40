"""What the checks say to answers of learners, so that no sentence changes unseen.

`tests/exercises/answers/` has a file for each page. An answer is

    @ 5.2 the number of its exercise, and what the learner may have thought
    code that makes it, as in the cell of the page, or lines `old => new`: what differs from the solution
    > not yet. What the check says.

    python -m tests.exercises.verdicts [p05_causal_mask]    # writes today's sentences: read what it says has changed
"""

import importlib
import re
import sys
from collections import namedtuple

from tests.pages.drawings import alike
from tools.notebook import ROOT, exercises_of, page_folders

ANSWERS = ROOT / "tests" / "exercises" / "answers"
WORDS = ANSWERS.with_name("words.txt")
Answer = namedtuple("Answer", "number thought code said")


def all_exercises():
    """Every exercise of the course, by its page and name: "p03_qk_scores-products"."""
    exercises = {}
    for page in page_folders():
        of_page = exercises_of(importlib.import_module(f"mha_course.{page}.exercises"))
        exercises |= {f"{page}-{name}": exercise for name, exercise in of_page.items()}
    return exercises


def answers_in(path):
    parts = re.split(r"^@ ", path.read_text(encoding="utf-8"), flags=re.MULTILINE)[1:]
    form = re.compile(r"(\S+)(.*?)\n(.*?)\n(?:> (.*?))?\s*", re.DOTALL)
    return [Answer(*form.fullmatch(part).groups("")) for part in parts]


def keep(path, exercises):
    """Write what the checks say today to a file of answers; name each answer of which it is something new."""
    text = []
    for answer in answers_in(path):
        exercise, lines = exercises[answer.number], answer.code.splitlines()
        are_changes = all(" => " in line for line in lines)
        code = dict(line.split(" => ") for line in lines) if are_changes else answer.code
        said = "{}. {}".format(*exercise.verdict(exercise.made_by(code)))
        if not alike(answer.said, said, rel_tol=2e-3):  # what another machine rounds otherwise
            print(f"{path.name}: {answer.number}{answer.thought}\n  was: {answer.said}\n  now: {said}")
        text.append(f"@ {answer.number}{answer.thought}\n{answer.code}\n> {said}\n")
    path.write_text("\n".join(text), encoding="utf-8")


def words_of(exercise):
    """Return what an exercise says by itself: its task, hints, praise, and the comments of its solution."""
    comments = [line.partition("# ")[2] for line in exercise.solution_code.splitlines() if "# " in line]
    return "\n".join([f"@ {exercise.number}", exercise.task, *exercise.hints, exercise.praise, *comments, ""])


if __name__ == "__main__":
    by_number = {exercise.number: exercise for exercise in all_exercises().values()}
    WORDS.write_text("\n".join(map(words_of, by_number.values())), encoding="utf-8")
    for name in sys.argv[1:] or ["*"]:
        for path in sorted(ANSWERS.glob(f"{name}.txt")):
            keep(path, by_number)

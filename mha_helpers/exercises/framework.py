"""Exercises that say what went wrong: check, hint, solution. This page is the guide for authors.

**Where.** One file for each notebook, ``e03_qk_scores.py`` for ``03_qk_scores``. Each exercise is a
module-level name of it. The notebook imports the module, hands the learner a stub, and calls::

    from mha_helpers.exercises import e03_qk_scores as exercises

    def my_scores(q, k):
        ...

    exercises.all_scores.check(my_scores)

The next cell holds ``# exercises.all_scores.hint()`` and ``# exercises.all_scores.solution()``. Above
both stands the heading ``### `` + ``all_scores.heading``.

**Which kind.** ``FunctionExercise``: a function, tried on several inputs. ``ValueExercise``: a tensor,
number, bool, shape, or a tuple or dict of them. ``ChoiceExercise``: a letter, word, number,
(row, column) or set of them. ``ModuleExercise``: a class, an ``nn.Module``. See ``functions.py``,
``values.py`` and ``classes.py``.

**What all take.**

- ``number`` "3.1", ``title``, ``stars`` 1 to 3, ``minutes``.
- ``variable``: the name that stub and solution give to the answer ("my_scores").
- ``mistakes``: ``Mistake(name, wrong, sentence)`` in the order in which they are tried. ``wrong``
  computes what the mistake computes. Many stand ready: ``mistakes.py`` for single steps,
  ``whole_mistakes.py`` for whole attention, heads and classes with planted bugs. A mistake made in two ways
  is two of them, "mask polarity" and "mask polarity, plain softmax", with one sentence. A
  ``ChoiceExercise`` takes ``wrong={choice: sentence}`` instead.
- ``praise``: what the learner has shown, one sentence after "correct.".
- ``hints``: two to four, each a step on from the last; none is the answer.
- ``solution``: code, as a learner would write it. The tests run it and check it.
- ``without``, for functions and classes: what the task rules out, ``["torch.softmax"]``. A right answer that
  calls it is told to do without.
- ``given``: code that makes the names of the notebook which the solution uses. ``torch``, ``math``,
  ``nn``, ``F`` and everything public of ``mha_helpers`` are there already.

**What is done for you**, and need not be a ``Mistake``: an untouched stub (``...``, ``None``, a function
that returns either or raises ``NotImplementedError``), a ``...`` left over, a NumPy array, list or number
instead of a tensor, a wrong dtype, the right numbers in another shape or with axes swapped, NaN, how many
cells are right and where the first wrong one is, a wrong number of arguments or values, an exception,
a forgotten ``return``, an argument changed in place, numbers copied from the example, a class or a
result where a function is asked for.

**How to write a sentence.** It says which mistake it is and where to look, and leaves the repair to
the learner: "These are the scores before scaling: which step stands between score and softmax?". A whole
sentence, British spelling, no line break, no number that depends on the machine.

**How to choose inputs.** The first case is the example of the page, the others are for telling mistakes
apart: sizes that all differ (b ≠ h ≠ n_q ≠ n_k ≠ d_k ≠ d_v), with and without leading axes, a masked row,
large scores. ``numbers(2, 3, name="q")`` gives fixed numbers; two tensors need two names.

``tests/exercises`` finds every exercise by itself and hands it the solution, the stub, each mistake, and a
heap of nonsense; a mistake that the inputs do not tell from the right answer, or from another mistake, fails
there::

    python -m pytest tests/exercises -k 03_qk_scores
"""

import contextlib
import re
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch

NOT_ATTEMPTED, NOT_YET, CORRECT = "not attempted yet", "not yet", "correct"
_registry = {}


@dataclass(frozen=True)
class Verdict:
    """What ``check`` prints after the number: a status and a sentence."""

    status: str
    sentence: str


@dataclass(frozen=True)
class Mistake:
    """A usual wrong answer: its name, what computes it (or the answer itself), what to tell the learner."""

    name: str
    wrong: Callable | Any
    sentence: str


class Exercise:
    """One exercise. Its kinds say in ``_judge`` what is right."""

    stub_words = "Replace the `...` by your answer, then run the cell again."

    def __init__(
        self,
        number,
        title,
        *,
        stars,
        minutes,
        variable,
        praise,
        hints,
        solution,
        mistakes=(),
        given="",
    ):
        self.number, self.title, self.stars, self.minutes = number, title, stars, minutes
        self.variable, self.praise, self.hints = variable, praise, tuple(hints)
        self.solution_code, self.given, self.mistakes = solution.strip(), given, tuple(mistakes)
        self.done = False
        self._hints_given = 0
        _registry[number] = self

    @property
    def heading(self):
        """The heading in the notebook: "Exercise 3.1 ★ · 3 min · One score by hand"."""
        return f"Exercise {self.number} {'★' * self.stars} · {self.minutes} min · {self.title}"

    def __repr__(self):
        return f"<{self.heading}: .check(…), .hint(), .solution()>"

    def check(self, answer=..., *more):
        """Print one line: not attempted yet, correct, or not yet with the reason."""
        verdict = self.verdict(answer, *more)
        self.done = self.done or verdict.status == CORRECT
        print(f"Exercise {self.number}: {verdict.status}. {one_line(verdict.sentence)}")

    def verdict(self, answer=..., *more):
        """Return the ``Verdict`` on an answer, whatever it is; only Ctrl-C gets through."""
        try:
            with warnings.catch_warnings(), torch.random.fork_rng(devices=[]), _in_float32():
                warnings.simplefilter("ignore")  # what the learner's code warns of, the sentence says better
                if more:
                    return Verdict(NOT_YET, f"Hand over one answer: check({self.variable}).")
                if untouched(answer):
                    return Verdict(NOT_ATTEMPTED, self.stub_words)
                return self._judge(answer)
        except KeyboardInterrupt:
            raise
        except BaseException as error:  # an answer whose own methods raise, even SystemExit
            kind = f"{type(answer).__name__}, and using it raised {type(error).__name__}"
            return Verdict(NOT_YET, f"Your answer could not be read: it is of type {kind}.")

    def hint(self):
        """Print the next hint; after the last, all of them."""
        if self._hints_given == len(self.hints):
            print(f"Exercise {self.number}: there are no more hints. .solution() shows the code.")
            for place in range(len(self.hints)):
                print(self._hint(place))
            return
        print(self._hint(self._hints_given))
        self._hints_given += 1

    def _hint(self, place):
        return f"Exercise {self.number}, hint {place + 1} of {len(self.hints)}: {self.hints[place]}"

    def solution(self):
        """Print the code of one solution."""
        print(self.solution_code)

    def _judge(self, answer):
        raise NotImplementedError

    def _correct(self):
        return Verdict(CORRECT, self.praise)


def progress():
    """Print which of the exercises opened in this session are done, and what is left."""
    exercises = sorted(_registry.values(), key=lambda exercise: [int(n) for n in exercise.number.split(".")])
    done = [exercise.number for exercise in exercises if exercise.done]
    left = [exercise for exercise in exercises if not exercise.done]
    if not exercises:
        print("No exercises opened yet. Each notebook has some, near its end.")
    elif not left:
        print(f"All {len(done)} exercises done: {', '.join(done)}. Now explain these steps to somebody else.")
    elif not done:
        shortest = min(left, key=lambda exercise: (exercise.stars, exercise.minutes))
        waiting = "1 exercise waits" if len(left) == 1 else f"{len(left)} exercises wait"
        print(f"{waiting} for you. A good first one: {shortest.heading}")
    else:
        open_ones = ", ".join(f"{exercise.number} ({exercise.minutes} min)" for exercise in left)
        print(f"Well on the way, {len(done)} of {len(exercises)} done: {', '.join(done)}. Open: {open_ones}.")


@contextlib.contextmanager
def _in_float32():
    """Inputs and answers are float32, whatever kind of number the learner has made the usual one."""
    before = torch.get_default_dtype()
    torch.set_default_dtype(torch.float32)
    try:
        yield
    finally:
        torch.set_default_dtype(before)


def untouched(answer):
    """Tell whether an answer is what a stub holds: `...`, None, or a list, tuple or dict of `...` alone."""
    if answer is ... or answer is None:
        return True
    if type(answer) in (list, tuple):
        return len(answer) > 0 and all(item is ... for item in answer)
    return type(answer) is dict and len(answer) > 0 and all(item is ... for item in answer.values())


def one_line(text, longest=520):
    """Return the text in one line, without addresses of objects, which differ from run to run."""
    text = re.sub(r" at 0x[0-9a-fA-F]+", "", " ".join(str(text).split()))
    return text if len(text) <= longest else text[: longest - 1] + "…"

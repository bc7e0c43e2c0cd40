"""Exercises that say what went wrong. This page is the guide for authors; ``kinds.py`` has the three kinds.

**One source.** A page's exercises are the names of one module, ``mha_course/p03_qk_scores/exercises.py`` for
``03_qk_scores``; ``tools/refresh.py`` writes three cells of each into the page.

**What all kinds take.** ``heading``, "3.1 ★ · 3 min · A fourth word answers"; ``task``, Markdown; ``stub``,
the code handed out, whose last name at the left margin is checked, by default the solution as far as the
comment below its ``def``, or a `...` for each value; ``mistakes``, at most twelve pairs ``(wrong answer,
sentence)``: the sentence names the mistake and points at the place, without the repair; a wrong answer that
is code is best told as what differs from the solution, which ``changes`` reads from a text; ``hints``;
``solution``, code; ``praise``, what has been shown; ``given``, code of the page that stub and solution need
(torch, math, nn, F and the names of ``mha_helpers`` are there already); ``says``, a function of wrong numbers
and the right ones that returns what to say of them, "adds up to 0.9", or None. A mistake is named if the
answer does the same up to the first input that fails. A sentence says only what was seen.

**What needs no mistake**, because ``compare.py``, ``relations.py`` and ``running.py`` say it: type, holes,
entries, choices, shape, NaN, rounding, a factor, sums, the first wrong number, exceptions, a missing return.

**Inputs isolate a step.** Put the plainest case first: the first one that fails chooses which mistakes are
tried, its own and then the exercise's. No size twice in one input, and more than one of each size among them.
"""

import ast
import itertools
import linecache
import math
import re
import textwrap
from collections import namedtuple

import torch
from torch import nn

import __main__
import mha_helpers
from mha_course.exercises.running import is_stub

NOT_ATTEMPTED, NOT_YET, CORRECT = "not attempted yet", "not yet", "correct"


class Verdict(namedtuple("Verdict", "status sentence")):
    """What ``check`` prints after the number; it is true if the answer is correct."""

    def __bool__(self):
        return self.status == CORRECT

    def require(self):
        """Raise ``AssertionError`` with the sentence unless the answer is correct."""
        if not self:
            raise AssertionError(f"{self.status}: {self.sentence}")

    def _ipython_display_(self):
        """Show nothing where a cell ends in it, because ``check`` has printed the words."""


def changes(text):
    r"""Return mistakes told as changes of the solution: lines ``old => new``, then the sentence.

    ``old => new => newer`` tells two mistakes with one sentence.

    >>> changes("/ d_k**0.5 => / d_k\n You divide by d_k: how does the spread of the scores grow with it?")
    [({'/ d_k**0.5': '/ d_k'}, 'You divide by d_k: how does the spread of the scores grow with it?')]
    """
    mistakes, change = [], {}
    for line in text.strip().splitlines():
        old, *ways = re.split(r" => | =>$", line.strip())
        if ways:
            change[old] = ways
        else:
            several = itertools.product(*change.values())
            mistakes += [(dict(zip(change, news, strict=True)), old) for news in several]
            change = {}
    return mistakes


def run_code(name, code, changed, given="", of="exercise"):
    """Run code as a cell of a page would, some texts of it ``changed``; return what it calls ``name``."""
    for old, new in changed.items():
        assert old in code, f"There is no {old} in\n{code}"
        code = code.replace(old, new)
    names = {name: getattr(mha_helpers, name) for name in mha_helpers.__all__}
    names |= {"torch": torch, "math": math, "nn": nn, "F": nn.functional, "__name__": "__main__"}
    exec(given, names)
    cell = f"<{of} {hash(code)}>"
    linecache.cache[cell] = len(code), None, code.splitlines(keepends=True), cell  # for error messages
    exec(compile(code, cell, "exec"), names)
    assert name in names, f"There is no {name} in\n{code}"
    return names[name]


def candidates(code, text):
    """Return candidates by name, each with what is true of it: changes of a function, then "name: fact"."""
    function = re.search(r"^def (\w+)", code, re.MULTILINE)[1]
    told = ((changed, *words.split(": ", 1)) for changed, words in changes(text))
    return {name: (run_code(function, code, changed, of="candidate"), fact) for changed, name, fact in told}


class Exercise:
    """One exercise. ``_judge`` of its kind returns a sentence if the answer is wrong, else None."""

    def __init__(self, heading, *, task, praise, hints, solution, stub="", mistakes=(), given="", says=None):
        self.heading, (self.number, stars) = f"Exercise {heading}", heading.split()[:2]
        self.stars = len(stars)
        self.task, self.stub, self.given, self.solution_code = (
            textwrap.dedent(text).strip() for text in (task, stub, given, solution)
        )
        self.stub = self.stub or self._stub_of_solution()
        self.praise, self.hints, self.mistakes, self.says = praise, tuple(hints), tuple(mistakes), says
        self._hints_given = 0
        self.stub_words = "Write yours in place of the `...`, then run the cell again."

    def _stub_of_solution(self):
        """Return the first line of a function and the comment below it, which names the shapes."""
        return re.match(r"def .*\n(?:    #.*\n)+", self.solution_code)[0] + "    ..."

    @property
    def variable(self):
        """The name of the answer: the last one that the stub makes at its left margin."""
        last = ast.parse(self.stub).body[-1]
        return last.targets[0].id if isinstance(last, ast.Assign) else last.name

    def made_by(self, code):
        """Run code as a cell of the page would, or the solution with changes; return the answer."""
        changed, code = (code, self.solution_code) if isinstance(code, dict) else ({}, code)
        return run_code(self.variable, code, changed, self.given)

    def check(self, answer=...):
        """Print one line: correct, not yet with the reason, or not attempted yet; return the ``Verdict``."""
        verdict = self.verdict(answer)
        print(f"Exercise {self.number}: {verdict.status}. {verdict.sentence}")
        return verdict

    def or_ours(self):
        """Return the answer of the page if it is right, else the solution; say with which it goes on."""
        answer = getattr(__main__, self.variable, ...)  # none, where a slip of the pen stops its cell
        status = self.verdict(answer).status
        if status == CORRECT:
            print("The page goes on with yours.")
            return answer
        yours = "You have not written yours" if status == NOT_ATTEMPTED else "Yours is not right"
        print(yours, "yet, so the page goes on with ours; come back to it at any time.")
        return self.made_by(self.solution_code)

    def verdict(self, answer=...):
        """Return the ``Verdict`` on an answer, whatever it is; only Ctrl-C gets through."""
        threads = torch.get_num_threads()
        try:
            torch.set_num_threads(1)  # several wait for each other on a busy machine, as if a test were slow
            with torch.random.fork_rng(devices=[]):  # the learner's random numbers stay as they were
                torch.manual_seed(0)
                if self._untouched(answer):
                    return Verdict(NOT_ATTEMPTED, self.stub_words)
                sentence = self._judge(answer)
        except KeyboardInterrupt:
            raise
        except BaseException as error:  # an answer whose own methods raise, even SystemExit
            kind = f"{type(answer).__name__}, and using it raised {type(error).__name__}"
            sentence = f"Your answer could not be read: it is of type {kind}."
        finally:
            torch.set_num_threads(threads)
        return Verdict(NOT_YET, " ".join(sentence.split())) if sentence else Verdict(CORRECT, self.praise)

    def hint(self):
        """Print the next hint; after the last, all of them."""
        if self._hints_given == len(self.hints):
            print(f"Exercise {self.number}: there are no more hints. .solution() shows the code.")
        first = self._hints_given % len(self.hints)
        self._hints_given = min(self._hints_given + 1, len(self.hints))
        for index in range(first, self._hints_given):
            print(f"Exercise {self.number}, hint {index + 1} of {len(self.hints)}: {self.hints[index]}")

    def solution(self):
        """Print the code of one solution."""
        print(self.solution_code)

    def _untouched(self, answer):
        entries = list(answer.values()) if type(answer) is dict else answer
        if type(entries) in (list, tuple) and entries:
            return all(entry is ... for entry in entries)
        return answer is ... or answer is None or (callable(answer) and is_stub(answer))

"""Exercises that say what went wrong: a page's are names of a module, of the kinds in ``kinds.py``.

``heading`` "3.1 ★ · 3 min · A word answers", ``task`` in Markdown, ``hints``, ``solution``, ``praise``.
``stub``: code handed out, its last name is checked; by default the solution up to its first comment.
``page_code``: what stub and solution need of the page besides torch, math, nn, F and ``mha_helpers``.
``mistakes``: at most twelve pairs (wrong answer, sentence); code as what it ``changes`` in the solution.
One is named that does the same on the first input that fails and on all that come out right.
``describe``: a function of wrong numbers or choices and right ones that returns "adds up to 0.9", or None.
Nothing is needed for types, holes, entries, shapes, NaN, rounding, a factor, sums, errors, a missing return.
The plainest input first, no size twice in it, sizes of one last. Sentences say what was seen, no repair.
"""

import ast
import functools
import itertools
import linecache
import math
import re
import textwrap

import torch
from torch import nn

import mha_helpers
from mha_course.exercises.running import is_stub
from mha_course.exercises.showing import CORRECT, NOT_ATTEMPTED, NOT_YET, Shown, Verdict


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


def run_code(name, code, changed, page_code="", of="exercise"):
    """Run code as a cell of a page would, some texts of it ``changed``; return what it calls ``name``."""
    for old, new in changed.items():
        assert old in code, f"There is no {old} in\n{code}"
        code = code.replace(old, new)
    names = {own: getattr(mha_helpers, own) for own in mha_helpers.__all__ if own in code + page_code}
    names |= {"torch": torch, "math": math, "nn": nn, "F": nn.functional, "__name__": "__main__"}
    exec(_compiled(page_code, "page"), names)
    exec(_compiled(code, of), names)
    assert name in names, f"There is no {name} in\n{code}"
    return names[name]


@functools.cache
def _compiled(code, of):
    cell = f"<{of} {hash(code)}>"
    linecache.cache[cell] = len(code), None, code.splitlines(keepends=True), cell  # for error messages
    return compile(code, cell, "exec")


def candidates(code, text):
    """Return candidates by name, each with what is true of it: changes of a function, then "name: fact"."""
    function = re.search(r"^def (\w+)", code, re.MULTILINE)[1]
    listed = ((changed, *words.split(": ", 1)) for changed, words in changes(text))
    return {name: (run_code(function, code, changed, of="candidate"), fact) for changed, name, fact in listed}


class Exercise(Shown):
    """One exercise. ``_judge`` of its kind returns a sentence if the answer is wrong, else None."""

    def __init__(
        self, heading, *, task, praise, hints, solution, stub="", mistakes=(), page_code="", describe=None
    ):
        self.heading, (self.number, stars) = f"Exercise {heading}", heading.split()[:2]
        self.stars = len(stars)
        texts = (textwrap.dedent(text).strip() for text in (task, stub, page_code, solution))
        self.task, self.stub, self.page_code, self.solution_code = texts
        self.stub = self.stub or self._stub_of_solution()
        self.praise, self.describe = praise, describe
        self.hints, self.mistakes = tuple(hints), tuple(mistakes)
        self.stub_words = "Write yours in place of the `...`, then run the cell again."

    def _stub_of_solution(self):
        """Return the first line of a function and the comment below it, which names the shapes."""
        return re.match(r"def .*\n(?:    #.*\n)+", self.solution_code)[0] + "    ..."

    @functools.cached_property
    def variable(self):
        """The name of the answer: the last one that the stub makes at its left margin."""
        last = ast.parse(self.stub).body[-1]
        return last.targets[0].id if isinstance(last, ast.Assign) else last.name

    def made_by(self, code):
        """Run code as a cell of the page would, or the solution with changes; return the answer."""
        changed, code = (code, self.solution_code) if isinstance(code, dict) else ({}, code)
        return run_code(self.variable, code, changed, self.page_code)

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

    def _untouched(self, answer):
        entries = list(answer.values()) if type(answer) is dict else answer
        if type(entries) in (list, tuple) and entries:
            return all(entry is ... for entry in entries)
        return answer is ... or (callable(answer) and is_stub(answer))

"""Exercises whose answer is a value or a choice. ``framework.py`` is the guide."""

import inspect

import torch

from mha_helpers.exercises.compare import difference, plain_number
from mha_helpers.exercises.framework import NOT_YET, Exercise, Mistake, Verdict


class ValueExercise(Exercise):
    """The answer is a tensor, number, bool or shape, or a tuple or dict of them.

    ``answer``: the right one, or a function without arguments that computes it. A tuple of whole numbers
    is a shape. ``decimals``: how many the learner is asked for. ``names``: of the values of a tuple.
    """

    def __init__(self, number, title, *, answer, decimals=None, names=(), **rest):
        super().__init__(number, title, **rest)
        self.answer, self.decimals, self.names = answer, decimals, tuple(names)

    def _judge(self, answer):
        right = self.answer() if inspect.isfunction(self.answer) else self.answer
        found = difference(answer, right, names=self.names, decimals=self.decimals, any_dtype=True)
        if found is None:
            return self._correct()
        for mistake in self.mistakes:
            wrong = mistake.wrong() if inspect.isfunction(mistake.wrong) else mistake.wrong
            if difference(answer, wrong, decimals=self.decimals, any_dtype=True) is None:
                return Verdict(NOT_YET, mistake.sentence)
        return Verdict(NOT_YET, found.sentence)


class ChoiceExercise(Exercise):
    """The answer is a letter, word, whole number, bool, (row, column), or a set of choices.

    ``wrong``: each wrong choice with its own sentence. ``otherwise``: the sentence for every other wrong
    choice. ``also_right``: other ways to write the answer. Capitals and spaces do not matter.
    """

    def __init__(self, number, title, *, answer, wrong, otherwise=None, also_right=(), **rest):
        mistakes = [Mistake(f"chose {choice!r}", choice, sentence) for choice, sentence in wrong.items()]
        super().__init__(number, title, mistakes=mistakes, **rest)
        self.answer, self.also_right = answer, tuple(also_right)
        self.otherwise = otherwise or f"Choose one of {', '.join(sorted(map(repr, {answer, *wrong})))}."

    def _judge(self, answer):
        answer = _plain_choice(answer)
        form = f"Answer with {_form_of_choice(self.answer)}."
        if answer and answer[0] == "sequence" and answer[1] and _plain_choice(self.answer)[0] == "set":
            answer = ("set", frozenset(answer[1]))  # a list that a loop appended to: each counts once
        if answer is None:
            return Verdict(NOT_YET, form)
        if answer in [_plain_choice(right) for right in (self.answer, *self.also_right)]:
            return self._correct()
        for mistake in self.mistakes:
            if answer == _plain_choice(mistake.wrong):
                return Verdict(NOT_YET, mistake.sentence)
        if not _same_form(answer, _plain_choice(self.answer)) or _run_together(answer, self.answer):
            return Verdict(NOT_YET, form)
        return Verdict(NOT_YET, self.otherwise)


def _plain_choice(value):
    """Return (kind, value) in a form in which equal choices are equal, None for what is no choice."""
    if isinstance(value, str):  # NumPy's text, too; str.lower, because a class of its own could answer itself
        return "text", " ".join(str.lower(value).split()).strip("'\".()")
    number = plain_number(value)
    if number is not None:
        return ("bool" if isinstance(number, bool) else "number"), number
    if type(value) in (tuple, list, torch.Size, set, frozenset):
        parts = [_plain_choice(part) for part in value]
        if None not in parts:
            unordered = type(value) in (set, frozenset)
            return ("set", frozenset(parts)) if unordered else ("sequence", tuple(parts))
    return None


def _same_form(choice, right):
    """Tell whether both are of one kind, and sets of parts of one kind. A set may be empty."""
    kinds = [
        {part_kind for part_kind, _ in value} if kind == "set" else kind for kind, value in (choice, right)
    ]
    return kinds[0] == kinds[1] or (kinds[0] == set() and right[0] == "set")


def _run_together(choice, right):
    """Tell whether a set that should hold letters holds a longer text, as in {"ab"} or {"a, b"}."""
    kind, value = choice
    letters = isinstance(right, (set, frozenset)) and all(len(str(part)) == 1 for part in right)
    return (
        letters and kind == "set" and any(part_kind == "text" and len(part) > 1 for part_kind, part in value)
    )


def _form_of_choice(answer):
    kind, value = _plain_choice(answer)
    if kind == "set" and all(part_kind == "text" for part_kind, _ in value):
        return 'a set of texts, as in {"x", "y"}'
    if kind == "set" and all(part_kind == "number" for part_kind, _ in value):
        return "a set of numbers, as in {1, 2}"
    return {
        "text": 'text in quotes, as in "A", not in a set or list',
        "bool": "True or False",
        "number": "a number",
        "set": "a set, as in {1, 2}",
        "sequence": "a pair in brackets, as in (0, 1)",
    }[kind]

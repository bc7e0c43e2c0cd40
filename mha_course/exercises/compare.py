"""How an answer differs from the right one, in one sentence to the person who wrote it.

The right answer is an object of one of five classes: text, choices, a dict, several parts, numbers.
"""

import inspect
import itertools
import re
from dataclasses import replace
from numbers import Number

import torch

from mha_course.exercises.relations import Asked, close, counted, other_numbers, other_shape

_KINDS = {str: "text", bool: "True or False", int: "a number", float: "a number", type(None): "None"}
_KINDS |= {type(...): "`...`", list: "a list", tuple: "a tuple", dict: "a dict", set: "a set"}
AS_WRITTEN = Asked()


def difference(got, right, asked=AS_WRITTEN, subject="Your answer"):
    """Return None if ``got`` is right, else a sentence that opens with ``subject``.

    >>> difference([[1, 3, 0], [2, 4, 5], [6, 7, 8]], torch.tensor([[1.0, 2, 6], [3, 4, 7], [0, 5, 8]]))
    'Your answer is transposed, so that its rows stand where its columns belong.'
    >>> difference([0.6, 0.1, 0.3], [0.6, 0.2, 0.2])
    'Your answer has 0.1 as its second number, which is too small; all that stands before it is right.'
    """
    if got is ... and right is not ...:  # the second of two calls returns what the first did
        return f"{subject} is still `...`: put what you found in its place."
    return right_answer(right, asked).difference(got, subject)


def right_answer(right, asked=AS_WRITTEN):
    """Return the right answer as an object of its class."""
    if isinstance(right, set | frozenset) and all(isinstance(choice, str) for choice in right):
        return Choices(right, asked)
    for kind, types in ((Text, str), (Entries, dict)):
        if isinstance(right, types):
            return kind(right, asked)
    of_tensors = isinstance(right, tuple | list) and any(map(torch.is_tensor, right))
    several = of_tensors or (isinstance(right, tuple | list) and as_float64(right) is None)
    return (Parts if several else Numbers)(right, asked)


def same(got, right):
    """Tell quickly whether ``difference`` has nothing to say of two results of a function."""
    if torch.is_tensor(got) and torch.is_tensor(right) and right.dim() and not right.is_complex():
        kinds_differ = (got.dtype == torch.bool) != (right.dtype == torch.bool)
        if got.shape != right.shape or kinds_differ or got.is_complex():
            return False
        values, expected = as_float64(got), as_float64(right)
        return not _ends_far_off(values, expected) and bool(close(values, expected).all())
    if isinstance(got, tuple | list) and isinstance(right, tuple | list) and any(map(torch.is_tensor, right)):
        return len(got) == len(right) and all(map(same, got, right))
    return difference(got, right, Asked(of_function=True)) is None


def _ends_far_off(values, expected):
    """Tell whether the last number is wrong by more than any rounding, as it is of most wrong results."""
    if not expected.numel():
        return False
    apart = abs(float(values.flatten()[-1] - expected.flatten()[-1]))
    return apart > 1e-4 * float(expected.abs().max()) + 1e-5  # far above what `close` lets pass


def as_float64(value):
    """Return what a tensor, array, number or nested list of them holds, as float64; None for all else."""
    try:
        if isinstance(value, torch.Tensor):
            return None if value.is_complex() else value.detach().cpu().to_dense().double()
        if isinstance(value, list | tuple | range):
            return torch.stack([as_float64(part) for part in value]) if value else torch.empty(0).double()
        if isinstance(value, Number):
            return torch.tensor(float(value), dtype=torch.float64)
        return as_float64(value.tolist()) if hasattr(value, "tolist") else None  # NumPy, pandas
    except (TypeError, ValueError, RuntimeError, OverflowError):
        return None  # ragged, or not made of numbers


def called(value):
    """Name what a value is in the learner's words: "a list", "a function"."""
    if isinstance(value, torch.Tensor):
        return f"a tensor of shape {tuple(value.shape)}"
    what = "a class" if isinstance(value, type) else "a function" if inspect.isroutine(value) else ""
    return _KINDS.get(type(value), what or f"of type {type(value).__name__}")


def as_python(value):
    """Take a single number or bool out of its tensor or NumPy type; return all else as it is."""
    return value.item() if getattr(value, "shape", None) == () else value


def among_others(good, sentence, bad):
    """Open a sentence on an entry with those that are right, and close it with those that are not."""
    opening = f"{_quoted(good)}: right. " if good else ""
    return f"{opening}{sentence}{f' Not yet right either: {_quoted(bad)}.' if bad else ''}"


def _quoted(names):
    return ", ".join(f"“{name}”" for name in [*names][:4]) + (", …" if len(names) > 4 else "")


class RightAnswer:
    """A right answer: ``difference`` says how another one differs, ``is_mistake`` knows one."""

    def __init__(self, right, asked):
        self.right, self.asked = right, asked

    def is_mistake(self, got, wrong):
        """Tell whether ``got`` is the mistake ``wrong`` or near it; ``...`` is any wrong one of its kind."""
        if wrong is ...:
            return self._is_of_this_kind(got) and difference(got, self.right, self.asked) is not None
        values, numbers = as_float64(got), as_float64(wrong)
        if values is None or numbers is None or values.shape != numbers.shape:
            return difference(got, wrong, self.asked) is None
        near = torch.isclose(values, numbers, rtol=5e-3, atol=0)
        if (expected := as_float64(self.right)) is not None and expected.shape == values.shape:
            near &= (values - numbers).abs() <= (values - expected).abs() + 1e-6  # else it is the right one
        return bool((near | close(values, numbers, self.asked.decimals)).all())

    def _is_of_this_kind(self, got):
        shapes = (getattr(as_float64(each), "shape", None) for each in (got, self.right))
        return next(shapes) == next(shapes)


class Text(RightAnswer):
    """One of the texts that are offered."""

    def difference(self, got, subject):
        if not isinstance(got, str):
            return f"{subject} is {called(got)}; text in quotes is needed."
        offered = _plain(got) in self.asked.choices or self.right not in self.asked.choices
        not_right = "is not right" if offered else f"is none of {_quoted(self.asked.choices)}"
        return None if _plain(got) == _plain(self.right) else f"{subject}, “{got}”, {not_right}."

    def _is_of_this_kind(self, got):
        return isinstance(got, str) and got in self.asked.choices


class Choices(RightAnswer):
    """A set of several choices, however it is written."""

    def difference(self, got, subject):
        got, right = self.chosen(got), set(map(_plain, self.right))
        if isinstance(got, str):
            return f"{subject} {got}."
        if got != right and self.asked.describe and (words := self.asked.describe(got, right)):
            return f"{subject} {words}"
        good, bad = counted(len(got & right), "right choice"), counted(len(got - right), "wrong one")
        return f"{subject} has {good}, {bad}, and lacks {len(right - got)}." if got != right else None

    def is_mistake(self, got, wrong):
        if isinstance(wrong, set) or wrong is ...:
            return super().is_mistake(got, wrong)
        chosen = self.chosen(got)  # one choice: missing, or not to be there
        return isinstance(chosen, set) and (wrong in chosen) != (wrong in self.right)

    def chosen(self, got):
        """Return the set that was chosen; what is wrong with it, if it is none."""
        letters = all(len(choice) == 1 for choice in self.right)
        if isinstance(got, str):  # "ac" or "a, c" in place of {"a", "c"}
            words = [word for word in re.findall(r"[^\s,;.]+", got) if word != "and"]
            got = list(words[0]) if letters and len(words) == 1 else words
        if not isinstance(got, set | frozenset | list | tuple | range):
            kind = "{}, which is an empty dict" if isinstance(got, dict) and not got else called(got)
            return f"is {kind}; a set in curly brackets is needed"
        chosen, offered = list(map(_plain, got)), self.asked.choices
        if other := [choice for choice in chosen if not isinstance(choice, str)]:
            return f"has {called(other[0])}, which is none of the choices"
        listed = set(map(_plain, self.right)) <= set(offered)
        if strange := [choice for choice in chosen if listed and choice not in offered]:
            return f"has “{min(strange)}”, which is none of the choices"
        return set(chosen)


def _plain(choice):
    return " ".join(choice.casefold().split()).strip("'\"“”.() ") if isinstance(choice, str) else choice


class Parts(RightAnswer):
    """A tuple or list of several values, each judged by itself."""

    def difference(self, got, subject):
        right, names = self.right, self.asked.returns
        if isinstance(got, torch.Tensor) and got.dim() > 1 and len(got) == len(right):
            alike = all(getattr(part, "shape", None) == got.shape[1:] for part in right)
            got = got.unbind() if alike else got  # stacked, it can be taken apart just as well
        if not isinstance(got, tuple | list) or len(got) != len(right):
            count = f" with {counted(len(got), 'value')}" if isinstance(got, tuple | list) else ""
            listed = f": {', '.join(names)}" if names else ""
            return f"{subject} is {called(got)}{count}; {counted(len(right), 'value')} are needed{listed}."
        return self._part_by_part(list(got), names or [f"value {i + 1}" for i in range(len(right))], subject)

    def _part_by_part(self, got, names, subject):
        axes = self.asked.axes if isinstance(self.asked.axes, dict) else dict.fromkeys(names, self.asked.axes)
        inner = [replace(self.asked, returns=(), axes=axes[name]) for name in names]
        quoted = map("“{}”".format, names)
        sentences = dict(zip(names, map(difference, got, self.right, inner, quoted), strict=True))
        bad = [name for name in names if sentences[name]]
        orders = list(itertools.permutations(got))[1:] if bad and len(got) <= 4 else ()
        if any(not any(map(difference, order, self.right, inner)) for order in orders):
            return f"{subject} holds the right values in another order: {', '.join(names)} is asked for."
        good = [name for name in names if not sentences[name]]
        return among_others(good, sentences[bad[0]], bad[1:]) if bad else None


class Entries(RightAnswer):
    """A dict, judged entry by entry."""

    def difference(self, got, subject):
        right = self.right
        if not isinstance(got, dict):
            return f"{subject} is {called(got)}; a dict with {_quoted(right)} is needed."
        if lacking := [name for name in right if name not in got]:
            new = [name for name in got if name not in right]
            instead = f"; it has {_quoted(new)}" if new else ""
            return f"{subject} lacks {_quoted(lacking)}{instead}."
        parts = Parts(list(right.values()), self.asked)
        return parts._part_by_part([got[name] for name in right], list(right), subject)

    def is_mistake(self, got, wrong):
        entries = {**dict.fromkeys(wrong), **(got if isinstance(got, dict) else {})}
        each = ((right_answer(self.right[name], self.asked), entries[name], wrong[name]) for name in wrong)
        return all(right.is_mistake(entry, mistake) for right, entry, mistake in each)

    def wrong_entries(self, got):
        return [name for name in self.right if difference(got.get(name), self.right[name], self.asked)]


class Numbers(RightAnswer):
    """A number, or a table of them: first the kind of the answer, then its shape, then its numbers."""

    def __init__(self, right, asked):
        super().__init__(right, asked)
        self.expected = as_float64(right)
        self.single = getattr(self.expected, "shape", None) == ()

    def difference(self, got, subject):
        if self.expected is None:  # what a learner's two calls returned is compared, too
            return None if type(got) is type(self.right) else f"{subject} is {called(got)}."
        values = self._normalised(got)
        rules = self._a_list_of_tensors, self._a_set, self._another_kind, self._another_shape, self._no_mask
        rules += self._other_numbers, self._another_type
        words = next(filter(None, (rule(got, values) for rule in rules)), None)
        return words and subject + words

    def _normalised(self, got):
        """Return the answer's numbers; in a list [0.5] is as good as 0.5, [[1, 2]] as [1, 2]."""
        values, expected = as_float64(got), self.expected
        flat = values is not None and expected.dim() < 2 and not self.asked.of_function
        if flat and values.squeeze().shape == expected.squeeze().shape:
            return values.reshape(expected.shape)
        return values

    def _a_list_of_tensors(self, got, values):
        several = self.asked.of_function and type(got) in (list, tuple) and any(map(torch.is_tensor, got))
        if several and getattr(values, "shape", None) != self.expected.shape:
            return f" is {called(got)} of {len(got)}; one tensor is needed."

    def _a_set(self, got, _):
        is_set = isinstance(got, set | frozenset)
        return " is a set, and a set has no order: write a list, in square brackets." if is_set else None

    def _another_kind(self, got, values):
        shape_is_named = self.asked.of_function and not self.single and isinstance(got, torch.Tensor)
        another = values is None or (not shape_is_named and self.single != (values.dim() == 0))
        if not another and not (self.single and isinstance(as_python(got), bool) != _is_bool(self.right)):
            return None
        count = self.expected.numel()
        odd = [part for part in _entries(got) if as_float64(part) is None]
        inside = " with rows of different lengths" if values is None and type(got) in (list, tuple) else ""
        inside = f" with {called(odd[0])} in it" if odd else inside
        needed = f"{counted(count, 'number')} {'is' if count == 1 else 'are'}"
        return f" is {called(got)}{inside}; {needed} needed."

    def _another_shape(self, _, values):
        if values.shape == self.expected.shape:
            return None
        words = other_shape(values, self.expected, self.asked.decimals)
        return f" {words}{'' if words.endswith('?') else '.'}"

    def _is_mask(self):
        return self.asked.of_function and not self.single and getattr(self.right, "dtype", None) == torch.bool

    def _no_mask(self, _, values):
        numbers = self._is_mask() and not ((values == 0) | (values == 1)).all()
        return " holds numbers; a mask holds True and False." if numbers else None

    def _other_numbers(self, got, values):
        if close(values, self.expected, self.asked.decimals).all():
            return None
        words = other_numbers(values, self.expected, self.asked, getattr(got, "dtype", None))
        return f"{words}{'' if words.endswith('?') else '.'}"

    def _another_type(self, got, _):
        if self.single or not self.asked.of_function or not isinstance(self.right, torch.Tensor):
            return None
        if self.asked.tensor and not isinstance(got, torch.Tensor):
            why = "a tensor is asked for: torch's next steps and gradients need one"
            return f" has the right values, but it is {called(got)}; {why}."
        if _is_bool(got) != self._is_mask():
            kind = getattr(got, "dtype", "numbers" if self._is_mask() else "True and False")
            return f" has the right values, but as {kind}; {self.right.dtype} is needed."


def _is_bool(value):
    """Tell whether a tensor, array, nested list or single value holds True and False."""
    if isinstance(value, list | tuple):
        return all(map(_is_bool, value))
    return str(getattr(value, "dtype", type(value).__name__)).endswith("bool")


def _entries(value):
    """Yield the entries of a list or tuple, and of those in it."""
    for part in value if type(value) in (list, tuple) else ():
        yield from _entries(part) if type(part) in (list, tuple) else [part]

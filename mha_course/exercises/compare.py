"""How an answer differs from the right one, in one sentence to the person who wrote it.

First comes what kind of thing the answer is, then its entries, its shape, its numbers (``relations.py``).
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
    if isinstance(right, str | set | frozenset):
        return _choice_difference(got, right, asked, subject)
    if isinstance(right, dict):
        if not isinstance(got, dict):
            return f"{subject} is {kind_of(got)}; a dict with {_quoted(right)} is needed."
        if lacking := [name for name in right if name not in got]:
            new = [name for name in got if name not in right]
            instead = f"; it has {_quoted(new)}" if new else ""
            return f"{subject} lacks {_quoted(lacking)}{instead}."
        got, names, right = [got[name] for name in right], list(right), list(right.values())
        return _parts_difference(got, right, names, asked, subject)
    if isinstance(right, tuple | list) and (any(map(torch.is_tensor, right)) or as_numbers(right) is None):
        if isinstance(got, torch.Tensor) and got.dim() > 1 and len(got) == len(right):
            alike = all(getattr(part, "shape", None) == got.shape[1:] for part in right)
            got = got.unbind() if alike else got  # stacked, it can be taken apart just as well
        if not isinstance(got, tuple | list) or len(got) != len(right):
            count = f" with {counted(len(got), 'value')}" if isinstance(got, tuple | list) else ""
            names = f": {', '.join(asked.returns)}" if asked.returns else ""
            return f"{subject} is {kind_of(got)}{count}; {counted(len(right), 'value')} are needed{names}."
        names = asked.returns or [f"value {index + 1}" for index in range(len(right))]
        return _parts_difference(list(got), right, names, asked, subject)
    return _numbers_difference(got, right, asked, subject)


def as_numbers(value):
    """Return what a tensor, array, number or nested list of them holds, as float64; None for all else."""
    try:
        if isinstance(value, torch.Tensor):
            return None if value.is_complex() else value.detach().cpu().to_dense().double()
        if isinstance(value, list | tuple | range):
            return torch.stack([as_numbers(part) for part in value]) if value else torch.empty(0).double()
        if isinstance(value, Number):
            return torch.tensor(float(value), dtype=torch.float64)
        return as_numbers(value.tolist()) if hasattr(value, "tolist") else None  # NumPy, pandas
    except (TypeError, ValueError, RuntimeError, OverflowError):
        return None  # ragged, or not made of numbers


def kind_of(value):
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


def _plain(choice):
    if not isinstance(choice, str):
        return as_python(choice)
    choice = " ".join(choice.casefold().split()).strip("'\"“”.() ")
    return int(choice) if choice.isdecimal() else choice


def as_choices(got, right, offered=()):
    """Return the set that was chosen, however it is written; what is wrong with it, if it is none."""
    letters = all(isinstance(choice, str) and len(choice) == 1 for choice in right)
    if isinstance(got, str):  # "ac" or "a, c" in place of {"a", "c"}
        words = [word for word in re.findall(r"[^\s,;.]+", got) if word != "and"]
        got = list(words[0]) if letters and len(words) == 1 else words
    got = got.tolist() if hasattr(got, "tolist") else got
    got = [got] if isinstance(got, int | float) and not isinstance(got, bool) else got
    if not isinstance(got, set | frozenset | list | tuple | range):
        kind = "{}, which is an empty dict" if got == {} else kind_of(got)
        return f"is {kind}; a set in curly brackets is needed"
    chosen, listed = list(map(_plain, got)), set(map(_plain, right)) <= set(offered)
    if other := [choice for choice in chosen if not isinstance(choice, str | int | float)]:
        return f"has {kind_of(other[0])}, which is none of the choices"
    if strange := [choice for choice in chosen if listed and choice not in offered]:
        return f"has “{min(strange, key=str)}”, which is none of the choices"
    return set(chosen)


def _choice_difference(got, right, asked, subject):
    if isinstance(right, str):
        if isinstance(got, set | list | tuple) and len(got) == 1:
            (got,) = got
        if not isinstance(got, str):
            return f"{subject} is {kind_of(got)}; text in quotes is needed."
        offered = _plain(got) in asked.choices or right not in asked.choices
        not_right = "is not right" if offered else f"is none of {_quoted(asked.choices)}"
        return None if _plain(got) == _plain(right) else f"{subject}, “{got}”, {not_right}."
    got, right = as_choices(got, right, asked.choices), set(map(_plain, right))
    if isinstance(got, str):
        return f"{subject} {got}."
    good, bad = counted(len(got & right), "right choice"), counted(len(got - right), "wrong one")
    return f"{subject} has {good}, {bad}, and lacks {len(right - got)}." if got != right else None


def _parts_difference(got, right, names, asked, subject):
    axes = asked.axes if isinstance(asked.axes, dict) else dict.fromkeys(names, asked.axes)
    inner = [replace(asked, returns=(), axes=axes[name]) for name in names]
    sentences = dict(zip(names, map(difference, got, right, inner, map("“{}”".format, names)), strict=True))
    bad = [name for name in names if sentences[name]]
    orders = list(itertools.permutations(got))[1:] if bad and len(got) <= 4 else ()
    if any(not any(map(difference, order, right, inner)) for order in orders):
        return f"{subject} holds the right values in another order: {', '.join(names)} is asked for."
    good = [name for name in names if not sentences[name]]
    return among_others(good, sentences[bad[0]], bad[1:]) if bad else None


def _entries(value):
    """Yield the entries of a list or tuple, and of those in it."""
    for part in value if type(value) in (list, tuple) else ():
        yield from _entries(part) if type(part) in (list, tuple) else [part]


def _numbers_difference(got, right, asked, subject):
    values, wanted = as_numbers(got), as_numbers(right)
    if wanted is None:  # what a learner's two calls returned is compared, too
        return None if type(got) is type(right) else f"{subject} is {kind_of(got)}."
    several = asked.of_function and type(got) in (list, tuple) and any(map(torch.is_tensor, got))
    if several and getattr(values, "shape", None) != wanted.shape:
        return f"{subject} is {kind_of(got)} of {len(got)}; one tensor is needed."
    if isinstance(got, set | frozenset):
        return f"{subject} is a set, and a set has no order: write a list, in square brackets."
    entries, single = list(_entries(got)), wanted.dim() == 0
    flat = values is not None and wanted.dim() < 2 and not asked.of_function
    if flat and values.squeeze().shape == wanted.squeeze().shape:
        values = values.reshape(wanted.shape)  # [0.5] is as good as 0.5, [[1, 2]] as [1, 2]
    shape_named = asked.of_function and not single and isinstance(got, torch.Tensor)  # below
    shapeless = values is not None and not shape_named and single != (values.dim() == 0)
    if values is None or shapeless or (single and isinstance(got, bool) != isinstance(right, bool)):
        needed = f"{counted(wanted.numel(), 'number')} {'is' if wanted.numel() == 1 else 'are'}"
        odd = [part for part in entries if as_numbers(part) is None]
        inside = " with rows of different lengths" if values is None and type(got) in (list, tuple) else ""
        inside = f" with {kind_of(odd[0])} in it" if odd else inside
        return f"{subject} is {kind_of(got)}{inside}; {needed} needed."
    if values.shape != wanted.shape:
        return f"{subject} {other_shape(values, wanted, asked.decimals)}."
    is_mask = asked.of_function and not single and getattr(right, "dtype", None) == torch.bool
    if is_mask and not ((values == 0) | (values == 1)).all():
        return f"{subject} holds numbers; a mask holds True and False."
    if not close(values, wanted, asked.decimals).all():
        words = other_numbers(values, wanted, asked, getattr(got, "dtype", None))
        return f"{subject}{words}{'' if words.endswith('?') else '.'}"
    if single or not asked.of_function or not isinstance(right, torch.Tensor):
        return None
    if not isinstance(got, torch.Tensor):
        return f"{subject} has the right values, but it is {kind_of(got)}; a torch tensor is needed."
    if (got.dtype == torch.bool) != is_mask:
        return f"{subject} has the right values, but as {got.dtype}; {right.dtype} is needed."
    return None

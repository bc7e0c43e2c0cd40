"""How an answer differs from the right one, in one sentence to the person who wrote it.

The right answer is never printed. First comes what kind of thing the answer is, then its shape, then its
numbers: one relation that explains all of them (transposed, a factor, only rounded, …), else how many are
right and where the first wrong one is.
"""

import itertools
import re
from decimal import Decimal
from fractions import Fraction

import torch

RELATIVE = 1e-5  # above the rounding of float32 for the small sums of the course, below every mistake
_KINDS = {str: "text", bool: "True or False", int: "a number", float: "a number", type(None): "None"}
_KINDS |= {list: "a list", tuple: "a tuple", dict: "a dict", set: "a set"}


def difference(got, right, decimals=None, tensor=False, names=(), subject="Your answer"):
    """Return None if ``got`` is right, else a sentence.

    ``decimals``: numbers rounded to so many are right. ``tensor``: where a tensor is right, a list is not.
    ``names`` are those of the parts of a tuple; a dict has its keys. ``subject`` opens the sentence.

    >>> difference([[1, 3], [2, 4]], torch.tensor([[1.0, 2.0], [3.0, 4.0]]))
    'Your answer is transposed: its rows stand where its columns belong.'
    """
    if got is ...:
        return f"{subject} is still `...`: put what you found in its place."
    if isinstance(right, str | set | frozenset):
        return _choice_difference(got, right, subject)
    if isinstance(right, bool):
        if not isinstance(as_python(got), bool):
            return f"{subject} is {kind_of(got)}; True or False is needed."
        return None if as_python(got) is right else f"{subject} is {as_python(got)}, and that is not right."
    if isinstance(right, dict):
        if not isinstance(got, dict):
            return f"{subject} is {kind_of(got)}; a dict with {', '.join(map(repr, right))} is needed."
        got, names, right = [got.get(name, ...) for name in right], list(right), list(right.values())
        return _parts_difference(got, right, names, decimals, tensor, subject)
    if isinstance(right, tuple | list) and as_numbers(right) is None:
        if not isinstance(got, tuple | list) or len(got) != len(right):
            count = f" with {len(got)} values" if isinstance(got, tuple | list) else ""
            return f"{subject} is {kind_of(got)}{count}; {', '.join(names) or f'{len(right)} values'} needed."
        names = names or [f"value {place + 1}" for place in range(len(right))]
        return _parts_difference(list(got), list(right), names, decimals, tensor, subject)
    return _numbers_difference(got, right, decimals, tensor, subject)


def same(got, right, decimals=None):
    """Tell whether two values agree, without looking for words: many mistakes are tried."""
    if isinstance(right, tuple | list) and as_numbers(right) is None:
        right_form = isinstance(got, tuple | list) and len(got) == len(right)
        return right_form and all(map(same, got, right, itertools.repeat(decimals)))
    values, wanted = as_numbers(got), as_numbers(right)
    if values is None or wanted is None:
        return difference(got, right, decimals) is None
    return values.shape == wanted.shape and bool(close(values, wanted, decimals).all())


def as_numbers(value):
    """Return what a tensor, array, number or nested list of them holds, as float64; None for all else."""
    try:
        if isinstance(value, torch.Tensor):
            return None if value.is_complex() else value.detach().cpu().to_dense().double()
        if isinstance(value, list | tuple):
            return torch.stack([as_numbers(part) for part in value]) if value else torch.empty(0).double()
        if isinstance(value, bool | int | float | Fraction | Decimal):
            return torch.tensor(float(value), dtype=torch.float64)
        return as_numbers(value.tolist()) if hasattr(value, "tolist") else None  # NumPy, pandas
    except (TypeError, ValueError, RuntimeError, OverflowError):
        return None  # ragged, or not made of numbers


def close(values, wanted, decimals=None):
    """Tell for each number whether it is right: to so many decimals, else to the rounding of float32."""
    if decimals is not None:
        return torch.isclose(values, wanted, rtol=0.0, atol=0.6 * 10.0**-decimals, equal_nan=True)
    finite = wanted[wanted.isfinite()]
    atol = RELATIVE * float(finite.abs().amax()) if finite.any() else 1e-6
    if bool((finite == finite.round()).all()):  # counts: the next whole number is wrong, however large
        atol = min(atol, 0.4)
    return torch.isclose(values, wanted, rtol=0.0, atol=atol, equal_nan=True)


def kind_of(value):
    """Name what a value is in the learner's words: "a list", "a function"."""
    if isinstance(value, torch.Tensor):
        return f"a tensor of shape {tuple(value.shape)}"
    if isinstance(value, torch.nn.Module):
        return "a module already built"
    what = "a class" if isinstance(value, type) else "a function" if callable(value) else ""
    return _KINDS.get(type(value), what or f"of type {type(value).__name__}")


def _plain(choice):
    return " ".join(choice.casefold().split()).strip("'\"“”.() ") if isinstance(choice, str) else choice


def _choice_difference(got, right, subject):
    if isinstance(right, str):
        if not isinstance(got, str):
            return f"{subject} is {kind_of(got)}; text in quotes is needed."
        return None if _plain(got) == _plain(right) else f"{subject}, “{got}”, is not right."
    if isinstance(got, str):  # "ac" or "a, c" in place of {"a", "c"}
        letters = all(isinstance(choice, str) and len(choice) == 1 for choice in right)
        got = re.findall(r"\w", got) if letters else re.split(r"[\s,;]+", got.strip())
    if not isinstance(got, set | frozenset | list | tuple):
        return f"{subject} is {kind_of(got)}; a set in curly brackets is needed."
    got, right = set(map(_plain, got)), set(map(_plain, right))
    counts = f"has {_counted(len(got & right), 'right choice')}, lacks {len(right - got)}"
    return None if got == right else f"{subject} {counts}, and has {len(got - right)} that do not belong."


def _counted(number, what):
    return f"{number} {what}" if number == 1 else f"{number or 'no'} {what}s"


def as_python(value):
    """Take a single number or bool out of its tensor or NumPy type; return all else as it is."""
    return value.item() if getattr(value, "shape", None) == () else value


def _parts_difference(got, right, names, decimals, tensor, subject):
    triples = zip(names, got, right, strict=True)
    found = {n: difference(part, wanted, decimals, tensor, (), f"“{n}”") for n, part, wanted in triples}
    bad = [name for name in names if found[name]]
    if bad and len(got) <= 4 and any(same(order, right, decimals) for order in itertools.permutations(got)):
        return f"{subject} holds the right values in another order: {', '.join(names)} is asked for."
    also = f" Not yet right either: {', '.join(bad[1:])}." if bad[1:] else ""
    good = right_parts([name for name in names if not found[name]])
    return f"{good}{found[bad[0]]}{also}" if bad else None


def right_parts(names):
    """Open a sentence with the entries of an answer that are right."""
    return f"{', '.join(f'“{name}”' for name in names)}: right. " if names else ""


def _numbers_difference(got, right, decimals, tensor, subject):
    values, wanted = as_numbers(got), as_numbers(right)
    tensor = tensor and isinstance(right, torch.Tensor)
    if wanted is None:  # what a learner's two calls returned is compared, too
        return None if got is right else f"{subject} is {kind_of(got)}."
    single = wanted.dim() == 0
    if values is not None and not tensor and values.numel() == wanted.numel() == 1:
        values = values.reshape(wanted.shape)  # [0.5] is as good as 0.5
    other_kind = values is None or (single and isinstance(got, bool)) or single != (values.dim() == 0)
    if other_kind or (tensor and not isinstance(got, torch.Tensor)):
        several = "a torch tensor is" if tensor else f"{wanted.numel()} numbers are"
        return f"{subject} is {kind_of(got)}; {'one number is' if single else several} needed."
    if values.shape != wanted.shape:
        words = _other_shape(values, wanted, decimals)
        return f"{subject} {words}: its shape is {tuple(values.shape)} instead of {tuple(wanted.shape)}."
    wrong = ~close(values, wanted, decimals)
    if wrong.any():
        words = _other_numbers(values, wanted, wrong, decimals)
        return f"{subject} {words}{'' if words.endswith('?') else '.'}"
    if tensor and (got.dtype == torch.bool) != (right.dtype == torch.bool):
        return f"{subject} has the right values, but as {got.dtype}; {right.dtype} is needed."
    return None


def _other_shape(values, wanted, decimals):
    if values.dim() == wanted.dim() <= 5:
        for order in itertools.permutations(range(wanted.dim())):
            turned = values.permute(order)
            if turned.shape == wanted.shape and close(turned, wanted, decimals).all():
                return "is transposed" if wanted.dim() == 2 else "is right but for the order of its axes"
        if sorted(values.shape) == sorted(wanted.shape):
            return "has its axes in another order, and other numbers"
        axis = next(axis for axis in range(wanted.dim()) if values.shape[axis] != wanted.shape[axis])
        return f"has {values.shape[axis]} entries along axis {axis}, and {wanted.shape[axis]} are needed"
    for larger, smaller, words in ((values, wanted, "has one axis more"), (wanted, values, "lacks one axis")):
        for axis, size in enumerate(larger.shape):
            if larger.shape[:axis] + larger.shape[axis + 1 :] == smaller.shape:
                return f"{words}, axis {axis} of size {size}"
    if values.numel() == wanted.numel() and close(values.flatten(), wanted.flatten(), decimals).all():
        return "has the right numbers in another shape"
    return f"has {values.dim()} axes, and {wanted.dim()} are needed"


def _other_numbers(values, wanted, wrong, decimals):
    infinite = values.isinf() & (values != wanted)
    nan_words = "is NaN: 0/0, ∞/∞, ∞ − ∞ or 0 · ∞ was computed"
    for bad, words in ((values.isnan(), nan_words), (infinite, "is infinite where it should not be")):
        if bad.any():
            return words + _first(bad)
    words = _rounded(values, wanted, decimals) or _relation(values, wanted, decimals)
    if words:
        return words
    if wrong.numel() == 1:
        return f"is not right: it is too {'small' if float(values) < float(wanted) else 'large'}"
    right = wrong.numel() - int(wrong.sum())
    if not right:
        return f"has the right shape, but none of its {wrong.numel()} numbers is right"
    which = "The wrong ones begin" if wanted[wrong].any() else "All the wrong ones are where 0 is right"
    return f"has {right} of {wrong.numel()} numbers right. {which}{_first(wrong)}"


def _first(cells):
    return f", first at {cells.nonzero()[0].tolist()}, counted from 0" if cells.dim() else ""


def _rounded(values, wanted, decimals):
    off = float((values - wanted).abs().nan_to_num().amax())
    more = "keep all decimals" if decimals is None else f"give {decimals} decimals"
    for places in range(5 if decimals is None else decimals, -1, -1):
        digits = values.nan_to_num() * 10.0**places
        short = digits.any() and torch.allclose(digits, digits.round(), rtol=0.0, atol=1e-3)
        if short and off <= 0.51 * 10.0**-places:
            return f"looks right, but rounded to {_counted(places, 'decimal')}: {more}"
    if off < (1e-3 * float(wanted.nan_to_num().abs().amax()) if decimals is None else 1.5 * 10.0**-decimals):
        return f"is close, but not right: was something rounded on the way? {more.capitalize()}"
    return None


def _relation(values, wanted, decimals):
    """Say by which one operation on all its numbers the right answer becomes this one, None if by none."""
    axes = range(wanted.dim())
    tries = [("is right but for the sign", -wanted)]
    if set(wanted.flatten().tolist()) == {0.0, 1.0}:
        tries += [("is the exact opposite: every yes (True, 1) is a no, and every no a yes", 1 - wanted)]
    for one, two in itertools.combinations(axes, 2):
        last_two = two == len(axes) - 1 and one == two - 1
        words = "is transposed: its rows stand where its columns belong"
        words = words if last_two else f"has axes {one} and {two} swapped, counted from 0"
        tries += [(words, wanted.transpose(one, two))]
    finite = wanted.isfinite()
    v, w = values[finite], wanted[finite]
    if int((w != 0).sum()) > 1:  # with a single number every factor fits
        factor, shift = float((v * w).sum() / (w * w).sum()), float((v - w).mean())
        tries += [
            (f"is right up to a factor: every number is {factor:.3g} times the right one", factor * wanted)
        ]
        tries += [(f"is shifted: {shift:.3g} was added to every number", wanted + shift)]
        again = "the right numbers: a step too many, or one too few?"
        tries += [
            (f"holds the squares of {again}", wanted**2),
            (f"holds the roots of {again}", wanted.sqrt()),
        ]
        tries += [
            (f"holds e to the power of {again}", wanted.exp()),
            (f"is 1 divided by {again}", 1 / wanted),
        ]
        tries += [(f"holds the logarithms of {again}", wanted.log()), ("has lost its signs", wanted.abs())]
        tries += [("is the softmax of what is asked for: a step too many?", torch.softmax(wanted, -1))]
    for words, other in tries:
        if other.shape == values.shape and close(values, other, decimals).all() and values.any():
            return words
    if axes and close(values.flatten().sort()[0], wanted.flatten().sort()[0], decimals).all():
        return f"has the right numbers at other places{_first(~close(values, wanted, decimals))}"
    if axes and close(torch.softmax(values, -1), wanted, decimals).all():
        return "would be right after a softmax along its last axis: is that step missing?"
    return _sums(values, wanted)


def _sums(values, wanted):
    """Say where numbers add up to 1 that should do so in each row."""
    one = torch.ones(()).double()
    if wanted.dim() < 2 or not close(wanted.sum(-1), one).any():
        return None
    sums = values.sum(-1, keepdim=True)
    if close(values / sums, wanted, 4).all():
        return f"has rows that are right but for their sum{_first(~close(sums, one, 4))}"
    if close(values.sum(), one, 3) and int((sums != 0).sum()) > 1:
        return "adds up to 1 in all its cells together: every row has a sum of its own"
    for axis in range(wanted.dim() - 2, -1, -1):
        if close(values.sum(axis), one, 3).all():
            name = "each column" if axis == wanted.dim() - 2 else f"axis {axis}, counted from 0"
            return f"adds up to 1 along {name}: which axis holds the keys of one query?"
    return None

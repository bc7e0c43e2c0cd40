"""What is said of numbers that differ from the right ones.

One relation that explains all of them (transposed, a factor, only rounded, …), else the first wrong one: what
stands there, where it is and what is expected there.
"""

import itertools
from collections.abc import Callable
from dataclasses import dataclass

import torch

ROUNDED = "looks right, but rounded to"
ORDINALS = ["first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth", "tenth"]
ORDINALS += [f"{number}th" for number in range(11, 1000)]


@dataclass(frozen=True)
class Asked:
    """What the right answer is besides its value, and how a sentence names its places.

    ``decimals``: numbers rounded to so many are right. ``returns``: the names of a tuple's parts. ``axes``:
    what is counted along each axis, from the last, or a dict by name. ``of_function``: a tensor is needed
    where one is right, and the number expected may be said; else it would give the answer away. ``choices``:
    the texts offered. ``says``: what an exercise says of wrong numbers in place of the first one.
    """

    decimals: int | None = None
    returns: tuple = ()
    axes: tuple | dict = ("batch entry", "table", "row", "column")
    of_function: bool = False
    choices: tuple = ()
    says: Callable | None = None


def close(values, wanted, decimals=None):
    """Tell for each number whether it is right: to so many decimals, else to the rounding of float32."""
    if decimals is not None:
        near = torch.isclose(values, wanted, rtol=0.0, atol=0.53 * 10.0**-decimals, equal_nan=True)
        return near & ((wanted != 0) | (values.abs() < 1e-6))  # a hidden word gets exactly 0
    finite = wanted[wanted.isfinite()]
    # Above the rounding of float32 for the small sums of the course, below every mistake.
    atol = 1e-5 * float(finite.abs().amax()) if finite.any() else 1e-6
    if bool((finite == finite.round()).all()):  # counts: the next whole number is wrong, however large
        atol = min(atol, 0.4)
    near = torch.isclose(values, wanted, rtol=0.0, atol=atol, equal_nan=True)
    return near | (wanted.isnan() & (values == 0))  # a mistake's NaN where no key is left may be repaired


def counted(number, what):
    """Write a number and what it counts, one or several."""
    return f"{number} {what}{'' if number == 1 else 's'}"


def other_shape(values, wanted, decimals):
    """Say how a shape differs from the right one, and whether only the shape does."""
    got, right = tuple(values.shape), tuple(wanted.shape)
    if values.dim() == wanted.dim() == 1:
        return f"has {counted(got[0], 'number')}, and {right[0]} are needed"
    words = f"has {values.dim()} {'axis' if values.dim() == 1 else 'axes'}, and {wanted.dim()} are needed"
    if values.dim() == wanted.dim():
        axis = next(axis for axis in range(wanted.dim()) if got[axis] != right[axis])
        words = f"has the size {got[axis]} along axis {axis}, and {right[axis]} is needed"
        for turned_words, turned in _turned(wanted):
            if turned.shape == values.shape and close(values, turned, decimals).all():
                words = turned_words
    for larger, smaller, what in ((got, right, "has one axis more"), (right, got, "lacks one axis")):
        for axis, size in enumerate(larger):
            if larger[:axis] + larger[axis + 1 :] == smaller:
                return f"{what}, axis {axis} of size {size}: its shape is {got} instead of {right}"
    if values.numel() == wanted.numel() and close(values.flatten(), wanted.flatten(), decimals).all():
        words = "has the right numbers in another shape"
    return f"{words}: its shape is {got} instead of {right}"


def other_numbers(values, wanted, asked, dtype):
    """Say how numbers of the right shape differ: by one relation, or else which is the first wrong."""
    wrong, infinite = ~close(values, wanted, asked.decimals), values.isinf() & (values != wanted)
    finite = "{}, where a finite number is needed"
    computed = "NaN{}: 0/0, ∞/∞, ∞ − ∞, 0 · ∞ or √−2 was computed" if asked.of_function else f"NaN{finite}"
    for bad, words in ((values.isnan(), computed), (infinite, f"∞ or −∞{finite}")):
        if bad.any():
            where = f" {_where(bad.nonzero()[0].tolist(), asked)}" if bad.dim() else ""
            return f" {'has' if where else 'is'} {words.format(where)}"
    words = _rounded(values, wanted, asked)
    words = _relation(values, wanted, asked.decimals) if words is None else words
    percent = torch.isclose(values, 100 * wanted, rtol=5e-3, atol=0.0)
    if percent.all() and (wanted != wanted.round()).any() and not asked.of_function:
        words = "is 100 times too large: is it in per cent?"
    words = words or (asked.says(values, wanted) if asked.says else None)
    if words:
        return f" {words}"
    index = tuple(wrong.nonzero()[0].tolist())
    here, there = float(values[index]), float(wanted[index])
    size = "too small" if here < there else "too large"
    digits = ".4g" if f"{here:.4g}" != f"{there:.4g}" else ".7g"
    written = (f"{x:{'.0f' if x.is_integer() else digits}}" for x in (here, there))
    here, there = (number.replace("-", "−").replace("inf", "∞") for number in written)
    if dtype == torch.bool:
        here, there = bool(values[index]), bool(wanted[index])
    if not index:
        return f", {here}, is {size}"
    count, right = wrong.numel(), int((~wrong).sum())
    rest = f"{right or 'none'} of {count} numbers {'are' if right > 1 else 'is'} right"
    rest = "all that stands before it is right" if any(index) else rest
    what = f", and {there} is expected there" if asked.of_function else f", which is {size}"
    return f" has {here} {_where(index, asked)}{what}; {rest}"


def _where(index, asked):
    if len(index) == 1:
        return f"as its {ORDINALS[index[0]]} number"
    labels = [f"{ORDINALS[i]} {axis}" for i, axis in zip(index[::-1], asked.axes[::-1], strict=False)]
    return f"in the {', '.join(labels[::-1])}"


def _rounded(values, wanted, asked):
    decimals = asked.decimals
    off = float((values - wanted).abs().nan_to_num().amax())
    more = "keep all decimals" if decimals is None else f"give {decimals} decimals"
    fewest = 0 if len(values.unique()) > 3 else 1  # a few whole numbers are near by chance
    for kept in range(5 if decimals is None else decimals, fewest - 1, -1):
        digits = values.nan_to_num() * 10.0**kept
        short = digits.round().any() and torch.allclose(digits, digits.round(), rtol=0.0, atol=1e-3)
        if short and off <= 0.51 * 10.0**-kept:
            return f"{ROUNDED} {counted(kept, 'decimal')}: {more}"
    largest = float(wanted.nan_to_num().abs().amax())
    allowed = 1e-3 * largest if decimals is None else min(1.5 * 10.0**-decimals, 0.1 * largest)
    if off < allowed and not ((wanted == 0) & (values.abs() > 1e-6)).any():  # who is hidden gets exactly 0
        if asked.of_function or (decimals is None and torch.equal(wanted, wanted.round())):
            return ""  # nobody rounds results or counts on the way: the first wrong one says more
        return f"is close, but not right: was something rounded on the way? {more.capitalize()}"
    return None


def _relation(values, wanted, decimals):
    """Name the one operation that turns the right answer into this one, number by number, or return None.

    Each needs several sizes of number, so that it cannot fit by chance. Small whole numbers fit too easily
    to what changes every number by itself: that is said of fractions only.
    """
    if decimals is None and (values != values.round()).any():  # as far as the answer is written out
        decimals = next((n for n in (3, 4) if torch.equal(values, values.round(decimals=n))), None)
    w, v = wanted[wanted.isfinite()], values[wanted.isfinite()]
    sizes = len((w[w != 0].abs() * 1e6).round().unique())
    yes_or_no, whole = set(w.tolist()) == {0.0, 1.0} and w.numel() > 3, bool((w == w.round()).all())
    factor = float((v * w).sum() / (w * w).sum())
    enough = 1 if len(w[w != 0]) > 3 else 3
    relations = [  # words, the numbers they speak of, how many sizes it takes
        ("is the exact opposite: every yes is a no, every no a yes", 1 - wanted, 100 - 99 * yes_or_no),
        *((words, turned, 1 if yes_or_no else 3) for words, turned in _turned(wanted)),
        (f"is {factor:.3g} times the right one in every number".replace("-", "−"), factor * wanted, enough),
        ("is the softmax of what is asked for: a step too many?", wanted.softmax(-1), enough),
    ]
    for words, other, least in relations:
        if sizes >= least and other.shape == values.shape and close(values, other, decimals).all():
            return words if values.any() else None
    if not wanted.dim():
        return None
    if sizes > 1 + whole and close(values.flatten().sort()[0], wanted.flatten().sort()[0], decimals).all():
        return "has the right numbers, but not in their places"
    return None if whole else _sums(values, wanted, decimals)


def _turned(wanted):
    """Yield the right answer with its axes in every order, each with what to say of it."""
    for order in itertools.permutations(range(wanted.dim())) if wanted.dim() <= 5 else ():
        moved = [axis for axis in range(wanted.dim()) if order[axis] != axis]
        words = "is right but for the order of its axes"
        words = "has axes {} and {} swapped, counted from 0".format(*moved) if len(moved) == 2 else words
        if moved == [wanted.dim() - 2, wanted.dim() - 1]:
            words = "is transposed, so that its rows stand where its columns belong"
        yield words, wanted.permute(order)


def _sums(values, wanted, decimals):
    """Say where numbers add up to 1 that should do so in each row."""
    if not close(wanted.sum(-1), wanted.new_ones(()), decimals).any():
        return None
    if close(values / values.sum(-1, keepdim=True), wanted, decimals or 4).all():
        rows = "has rows that are right but for their sum: each"
        return f"{rows if wanted.dim() > 1 else 'is right but for its sum: weights'} should add up to 1"
    for axis in range(wanted.dim() - 2, -1, -1):
        if close(values.sum(axis), wanted.new_ones(()), 3).all():
            name = "each column" if axis == wanted.dim() - 2 else f"axis {axis}, counted from 0"
            return f"adds up to 1 along {name}: which axis holds the keys of one query?"
    return None

"""What is said of numbers that differ from the right ones.

One rule that explains all of them (in per cent, rounded, transposed, …), else the first wrong one:
what stands there, where it is and what is expected there.
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
    what is counted along each axis, from the last, or a dict by name. ``of_function``: the
    number expected may be named; else it would give the answer away. ``tensor``: no array and no list does.
    ``choices``: the texts offered. ``describe``: what an exercise says of wrong numbers or choices.
    """

    decimals: int | None = None
    returns: tuple = ()
    axes: tuple | dict = ("batch entry", "table", "row", "column")
    of_function: bool = False
    tensor: bool = False
    choices: tuple = ()
    describe: Callable | None = None


def close(values, expected, decimals=None):
    """Tell for each number whether it is right: to so many decimals, else to the rounding of float32."""
    if decimals is not None:
        near = torch.isclose(values, expected, rtol=0.0, atol=0.53 * 10.0**-decimals, equal_nan=True)
        return near & ((expected != 0) | (values.abs() < 1e-6))  # a hidden word gets exactly 0
    finite = expected[expected.isfinite()]
    # Above the rounding of float32 for the small sums of the course, below every mistake.
    atol = 1e-5 * float(finite.abs().amax()) if finite.any() else 1e-6
    if bool((finite == finite.round()).all()):  # counts: the next whole number is wrong, however large
        atol = min(atol, 0.4)
    near = torch.isclose(values, expected, rtol=0.0, atol=atol, equal_nan=True)
    return near | (expected.isnan() & (values == 0))  # a mistake's NaN where no key is left may be repaired


def counted(number, what):
    """Write a number and what it counts, one or several."""
    return f"{number} {what}{'' if number == 1 else 's'}"


def other_shape(values, expected, decimals):
    """Say how a shape differs from the right one, and whether only the shape does."""
    got, right = tuple(values.shape), tuple(expected.shape)
    if values.dim() == expected.dim() == 1:
        two_of_each = got[0] == 2 * right[0] and torch.equal(values, values.round())
        a_comma = two_of_each and torch.equal(values[::2], expected.trunc()) and (expected % 1).any()
        comma = ": is there a comma in them, where Python wants a point?" if a_comma else ""
        return f"has {counted(got[0], 'number')}, and {right[0]} are needed{comma}"
    for larger, smaller, what in ((got, right, "has one axis more"), (right, got, "lacks one axis")):
        if ways := [axis for axis in range(len(larger)) if larger[:axis] + larger[axis + 1 :] == smaller]:
            axis = f"axis {ways[0]} " * (len(ways) == 1)  # of several as long any may be the one
            return f"{what}, {axis}of size {larger[ways[0]]}: its shape is {got} instead of {right}"
    return f"{_shape_words(values, expected, decimals)}: its shape is {got} instead of {right}"


def _shape_words(values, expected, decimals):
    if values.numel() == expected.numel() and close(values.flatten(), expected.flatten(), decimals).all():
        return "has the right numbers in another shape"
    if values.dim() != expected.dim():
        axes = "1 axis" if values.dim() == 1 else f"{values.dim()} axes"
        return f"has {axes}, and {expected.dim()} are needed"
    for words, turned in reversed([*_turned(expected)]):
        if turned.shape == values.shape and close(values, turned, decimals).all():
            return words
    sizes = enumerate(zip(values.shape, expected.shape, strict=True))
    axis, (size, needed) = next((axis, pair) for axis, pair in sizes if pair[0] != pair[1])
    return f"has the size {size} along axis {axis}, and {needed} is needed"


def _turned(expected):
    """Yield the right answer with its axes in every order, each with what to say of it."""
    for order in itertools.permutations(range(expected.dim())) if expected.dim() <= 5 else ():
        moved = [axis for axis in range(expected.dim()) if order[axis] != axis]
        words = "is right but for the order of its axes"
        words = "has axes {} and {} swapped, counted from 0".format(*moved) if len(moved) == 2 else words
        if moved == [expected.dim() - 2, expected.dim() - 1]:
            words = "is transposed, so that its rows stand where its columns belong"
        yield words, expected.permute(order)


def other_numbers(values, expected, asked, dtype=None):
    """Say how numbers of the right shape differ: the first rule of ``RULES`` that has something to say.

    ``dtype`` is the answer's own. What is returned is put behind "Your answer".
    """
    wrong = WrongNumbers(values, expected, asked, dtype)
    return next(words for rule in RULES if (words := rule(wrong)))


def _factor(number):
    """Write a factor as it may have come about, "4 times" or "1/√6 of", else with three digits."""
    for power, root, near in ((1, "", 1e-3), (2, "√", 1e-5)) if number > 0 else ():  # large roots lie close
        for of, text in ((number**power, "{}{} times"), (number**-power, "1/{}{} of")):
            if round(of) >= 2 and abs(of - round(of)) < near * of:
                return text.format(root, round(of))
    return f"{number:.3g} times".replace("-", "−")


class WrongNumbers:
    """Wrong numbers beside the right ones. Each rule says what explains all of them, or returns None.

    A relation needs several sizes of number, so that it cannot fit by chance. Small whole numbers fit too
    easily to what changes every number by itself: that is said of fractions only.
    """

    def __init__(self, values, expected, asked, dtype):
        self.values, self.expected, self.asked, self.dtype = values, expected, asked, dtype
        self.decimals = asked.decimals
        self.off = float((values - expected).abs().nan_to_num().amax())
        finite = expected[expected.isfinite()]
        self.sizes = len((finite[finite != 0].abs() * 1e6).round().unique())
        self.enough_sizes = 1 if len(finite[finite != 0]) > 3 else 3
        self.yes_or_no = set(finite.tolist()) == {0.0, 1.0} and finite.numel() > 3
        self.whole = bool((finite == finite.round()).all())
        self.keep_more = "keep all decimals" if self.decimals is None else f"give {self.decimals} decimals"

    def _as_written(self):
        """As many decimals as the answer is written out to; None if it is not rounded."""
        if self.decimals is None and (self.values != self.values.round()).any():
            return next(
                (n for n in (2, 3, 4) if torch.equal(self.values, self.values.round(decimals=n))), None
            )
        return self.decimals

    def _are(self, other):
        return other.shape == self.values.shape and close(self.values, other, self._as_written()).all()

    def _nearly_right(self):
        """Tell whether rounding on the way can be the cause of all; who is hidden gets 0."""
        largest = float(self.expected.nan_to_num().abs().amax())
        near = 1e-3 * largest if self.decimals is None else min(1.5 * 10.0**-self.decimals, 0.1 * largest)
        return self.off < near and not ((self.expected == 0) & (self.values.abs() > 1e-6)).any()

    def no_numbers(self):
        values, finite = self.values, ", where a finite number is needed"
        infinite = values.isinf() & (values != self.expected)
        computed = ": 0/0, ∞/∞, ∞ − ∞, 0 · ∞ and √−2 make NaN" if self.asked.of_function else finite
        for bad, name, why in ((values.isnan(), "NaN", computed), (infinite, "∞ or −∞", finite)):
            if bad.any():
                where = f" {self._where(bad.nonzero()[0].tolist())}" if bad.dim() else ""
                return f" {'has' if where else 'is'} {name}{where}{why}"

    def in_per_cent(self):
        percent = torch.isclose(self.values, 100 * self.expected, rtol=1e-2, atol=0.0).all()
        if percent and not self.asked.of_function and (self.expected != self.expected.round()).any():
            return " is 100 times too large: is it in per cent?"

    def rounded(self):
        fewest = 0 if len(self.values.unique()) > 3 else 1  # a few whole numbers are near by chance
        for kept in range(5 if self.decimals is None else self.decimals, fewest - 1, -1):
            digits = self.values.nan_to_num() * 10.0**kept
            short = digits.round().any() and torch.allclose(digits, digits.round(), rtol=0.0, atol=1e-3)
            if short and self.off <= 0.51 * 10.0**-kept:
                return f" {ROUNDED} {counted(kept, 'decimal')}: {self.keep_more}"

    def cut(self):
        size = 10.0 ** (self.decimals or 0)
        cut = close(self.values, (self.expected * size).trunc() / size, 4)
        if self.decimals and (cut | close(self.values, self.expected, self.decimals)).all():
            return f" looks right, but cut, not rounded, after {self.decimals} decimals: what comes next?"

    def rounded_on_the_way(self):
        counts = self.decimals is None and torch.equal(self.expected, self.expected.round())
        if not self._nearly_right() or self.asked.of_function or counts:
            return None  # nobody rounds results or counts on the way: the first wrong one says more
        return f" is close, but not right: was something rounded on the way? {self.keep_more.capitalize()}"

    def opposite(self):
        if self.yes_or_no and self._are(1 - self.expected) and self.values.any():
            return " is the exact opposite: every yes is a no, every no a yes"

    def turned(self):
        sizes_enough = self.sizes >= (1 if self.yes_or_no else 3) and self.values.any()
        turned = _turned(self.expected) if sizes_enough else ()
        return next((f" {words}" for words, other in turned if self._are(other)), None)

    def a_multiple(self):
        v, w = (each[self.expected.isfinite()] for each in (self.values, self.expected))
        factor = float((v * w).sum() / (w * w).sum())
        if self.sizes >= self.enough_sizes and self._are(factor * self.expected) and self.values.any():
            return f" is {_factor(factor)} the right one in every number: which step makes it so?"

    def same_along_an_axis(self):
        v, w, same = self.values, self.expected, []
        for axis, size in enumerate(v.shape) if len(v.unique()) > 2 - self.yes_or_no else ():  # one-hot rows
            first = v.narrow(axis, 0, 1).expand_as(v)
            if size > 1 and close(v, first).all() and not close(w, first).all(axis).any():
                same.append(self.asked.axes[axis - v.dim() :][0])
        if same:
            return f" is the same for each {' and each '.join(same)}: which of your steps tells them apart?"

    def other_signs(self):
        if self.sizes >= self.enough_sizes and close(self.values.abs(), self.expected.abs()).all():
            return " is right but for the sign of some numbers"

    def nothing_there(self):
        wrong = ~close(self.values, self.expected, self.decimals)
        count, of_all = int(wrong.sum()), wrong.numel()
        if 1 < count < of_all and not (self.yes_or_no or self.values[wrong].any()):
            clamped = (self.expected[wrong] < 0).all() and not self.values[self.expected < 0].any()
            numbers = "negative" if clamped else "other"
            return f" has 0 in {count} of {of_all} places where {numbers} numbers belong; the rest is right"

    def softmax_too_many(self):
        if self.sizes >= self.enough_sizes and self._are(self.expected.softmax(-1)):
            return " is the softmax of what is asked for: a step too many?"

    def in_other_places(self):
        ordered = self.values.flatten().sort()[0], self.expected.flatten().sort()[0]
        if self.expected.dim() and self.sizes > 1 + self.whole and close(*ordered, self._as_written()).all():
            turned = [axis for axis in range(self.expected.dim()) if self._are(self.expected.flip(axis))]
            along = f" along axis {turned[0]}, counted from 0" if turned and self.expected.dim() > 1 else ""
            where = "in reverse order" if turned else f"not in their places{self._where_the_first_belongs()}"
            return f" has the right numbers, but {where}{along}"

    def _where_the_first_belongs(self):
        """Say where the first wrong number belongs, by the axes along which it has moved."""
        here = (~close(self.values, self.expected)).nonzero()[0]
        there = close(self.values[tuple(here)].expand_as(self.expected), self.expected).nonzero()
        if not self.asked.of_function or len(here) < 2 or len(there) != 1:
            return ""
        axes = [*zip(self.asked.axes[::-1], here.tolist()[::-1], there[0].tolist()[::-1], strict=False)][::-1]
        here = ", ".join(f"{name} {i + 1}" for name, i, j in axes if i != j)
        there = ", ".join(f"{name} {j + 1}" for name, i, j in axes if i != j)
        return here and f": the first wrong one, in {here}, belongs in {there}"

    def sharper(self):
        """Say of weights which factor on the scores makes them."""
        if not self.values.dim() or self.sizes < 3 or not (self.values[self.expected > 0] > 0).all():
            return None
        right, got = (each.log().nan_to_num(0.0, 0.0, 0.0) for each in (self.expected, self.values))
        right, got = (each - each.mean(-1, keepdim=True) for each in (right, got))
        factor = float((got * right).sum() / (right * right).sum())
        if abs(factor) > 1e-3 and self._are((factor * self.expected.log()).softmax(-1)):
            asked = "what multiplies or divides them, or replaces e?"
            return f" has the weights of scores {factor:.3g} times as large: {asked}"

    def other_sums(self):
        """Say where numbers add up to 1 that should do so in each row."""
        values, decimals, one = self.values, self._as_written(), self.expected.new_ones(())
        if self.whole or not values.dim() or not close(self.expected.sum(-1), one, decimals).any():
            return None
        if close(values / values.sum(-1, keepdim=True), self.expected, decimals or 4).all():
            rows = "has rows that are right but for their sum: each"
            return f" {rows if values.dim() > 1 else 'is right but for its sum: weights'} should add up to 1"
        rows_do = close(values.sum(-1), one, 3).all()  # of equal weights rows do so as well as columns
        for axis in range(values.dim() - 2, -1, -1) if not rows_do else ():
            if close(values.sum(axis), one, 3).all():
                name = "each column" if axis == values.dim() - 2 else f"axis {axis}, counted from 0"
                return f" adds up to 1 along {name}: which axis holds the keys of one query?"

    def as_the_exercise_describes(self):
        words = self.asked.describe(self.values, self.expected) if self.asked.describe else None
        return words and f" {words}"

    def first_wrong(self):
        wrong = ~close(self.values, self.expected, self.decimals)
        index = tuple(wrong.nonzero()[0].tolist())
        here, there = float(self.values[index]), float(self.expected[index])
        size = "too small" if here < there else "too large"
        here, there = self._written(here, there)
        if not index:
            return f" is {here}; {there} is expected" if self.asked.of_function else f", {here}, is {size}"
        count, right = wrong.numel(), int((~wrong).sum())
        rest = f"{right or 'none'} of {count} numbers {'are' if right > 1 else 'is'} right"
        rest = "all that stands before it is right" if any(index) else rest
        if self.whole and not right and torch.isin(self.values, self.expected).double().mean() > 0.5:
            rest = "some numbers of the answer stand in other places"
        what = f", and {there} is expected there" if self.asked.of_function else f", which is {size}"
        return f" has {here} {self._where(index)}{what}; {rest}"

    def _written(self, *pair):
        if self.dtype == torch.bool:
            return tuple(map(bool, pair))
        digits = ".7g" if len({f"{number:.4g}" for number in pair}) == 1 else ".4g"
        texts = (f"{number + 0.0:{'.0f' if number.is_integer() else digits}}" for number in pair)  # not −0
        return tuple(text.replace("-", "−").replace("inf", "∞") for text in texts)

    def _where(self, index):
        if len(index) == 1:
            return f"as its {ORDINALS[index[0]]} number"
        axes = zip(index[::-1], self.asked.axes[::-1], strict=False)
        return f"in the {', '.join([f'{ORDINALS[i]} {axis}' for i, axis in axes][::-1])}"


def _relation(rule):
    """A relation is looked for only where rounding on the way cannot explain the numbers."""
    return lambda wrong: None if wrong._nearly_right() else rule(wrong)


RULES = (
    WrongNumbers.no_numbers,
    WrongNumbers.in_per_cent,
    WrongNumbers.rounded,
    WrongNumbers.cut,
    WrongNumbers.rounded_on_the_way,
    *map(_relation, (WrongNumbers.opposite, WrongNumbers.turned, WrongNumbers.a_multiple)),
    *map(_relation, (WrongNumbers.softmax_too_many, WrongNumbers.in_other_places, WrongNumbers.other_sums)),
    _relation(WrongNumbers.sharper),
    WrongNumbers.as_the_exercise_describes,
    *map(_relation, (WrongNumbers.other_signs, WrongNumbers.same_along_an_axis, WrongNumbers.nothing_there)),
    WrongNumbers.first_wrong,
)

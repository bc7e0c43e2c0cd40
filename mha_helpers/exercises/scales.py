"""Eleven ways to scale scores for exercise 4.4, two of them right. Write your test before you read on."""

import math
from collections.abc import Callable
from dataclasses import dataclass, field

from mha_helpers.attention import scale_scores


@dataclass(frozen=True)
class Scale:
    """A way to scale scores, with a name that says which."""

    name: str
    function: Callable
    right: bool = False

    def __call__(self, scores, d_k):
        return self.function(scores, d_k)

    def __repr__(self):
        return self.name


@dataclass(frozen=True)
class KeptScale(Scale):
    """Divides by the root of the first d_k it is handed, ever after: right in every test of one d_k."""

    kept: list = field(default_factory=list)

    def __call__(self, scores, d_k):
        self.kept.append(d_k)
        return self.function(scores, self.kept[0])


@dataclass(frozen=True)
class LateScale(KeptScale):
    """Too small for the first d_k it is handed, right ever after: the last verdict of a loop misses it."""

    def __call__(self, scores, d_k):
        self.kept.append(d_k)
        scaled = self.function(scores, d_k)
        return scaled / 4 if d_k == self.kept[0] else scaled


SCALES = (
    Scale("÷√d_k", scale_scores, right=True),
    Scale("no scale", lambda scores, d_k: scores),
    Scale("÷d_k", lambda scores, d_k: scores / d_k),
    Scale("×√d_k", lambda scores, d_k: scores * math.sqrt(d_k)),
    Scale("÷√512, whatever d_k is", lambda scores, d_k: scores / math.sqrt(512)),
    Scale("÷8, whatever d_k is", lambda scores, d_k: scores / 8),
    Scale("÷4, whatever d_k is", lambda scores, d_k: scores / 4),
    Scale("÷(4 · √d_k)", lambda scores, d_k: scores / (4 * math.sqrt(d_k))),
    KeptScale("÷√d_k of the first call, ever after", scale_scores),
    LateScale("÷(4 · √d_k) for the first d_k handed over, ÷√d_k ever after", scale_scores),
    Scale("× d_k to the power −0.5", lambda scores, d_k: scores * d_k**-0.5, right=True),
)

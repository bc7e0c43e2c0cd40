"""The keyhole: tiny calls whose output is the weights of an attention, and the questions that probe asks so.

A query of zeros makes every score 0, and values that are the unit vectors make the output the weights.
"""

import math
import warnings

import numpy
import torch

from mha_helpers.style import number

HEADS, KEYS, D_K = 2, 5, 16


class Keyhole:
    """Calls an attention so that its output is the weights; learns how it reads a mask, and how it scales."""

    def __init__(self, attend):
        self.attend, self.true_attends, self.scale = attend, None, D_K**-0.5

    def output(self, q, k, v, mask=None, causal=False):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            mask = None if mask is None else mask.clone()  # whoever writes into it
            output = as_tensor(self.attend(q, k, v, mask=mask, causal=causal))
        if output.shape != q.shape:
            raise ValueError(f"the output has shape {tuple(output.shape)}, q has {tuple(q.shape)}")
        return output

    def weights(self, scores=None, q=(), k=(), v=1, allowed=None, n_q=KEYS, dtype=None, **options):
        """Return what head 1 shows, ``(n_q, 5)``.

        ``scores`` are those of each row, after scaling; or ``q`` and ``k`` are the first features of a query
        and of each key. ``v`` multiplies the unit vectors. ``allowed`` is a mask, True = may attend.
        """
        if scores is not None:
            q, k = [1], [[score / self.scale] for score in scores]
        query, key = (torch.zeros(1, HEADS, n, D_K, dtype=dtype) for n in (n_q, KEYS))
        query[..., : len(q)] = torch.tensor(q)
        for i, features in enumerate(k):
            key[..., i, : len(features)] = torch.tensor(features)
        value = (torch.eye(KEYS, D_K) * v).to(query.dtype).repeat(1, HEADS, 1, 1)
        if allowed is not None:  # to be added, where a bool mask says nothing
            added = torch.zeros(allowed.shape, dtype=query.dtype).masked_fill(~allowed, -math.inf)
            options["mask"] = added if self.true_attends is None else allowed == self.true_attends
        return self.output(query, key, value, **options)[0, 0, :, :KEYS]

    def heads(self, of_queries):
        """Return which of 2 key heads each query head reads: the values of a key head are its unit vector."""
        q, k, v = (torch.zeros(1, heads, KEYS, D_K) for heads in (of_queries, 2, 2))
        v[0, [0, 1], :, [0, 1]] = 1
        return self.output(q, k, v)[0, :, 0, :2]

    def four_times(self):
        """Return ones where four equal calls differ, as with dropout, else zeros."""
        calls = torch.stack([self.weights() for _ in range(4)])
        return ALL * bool((calls != calls[0]).any())

    def learn(self, name, answer, seen):
        """Remember what later questions need, and return the answer, where it is none of those foreseen."""
        if name == "bool mask" and answer in POLARITY:
            self.true_attends = answer == "True means may attend"
        if name == "scale" and 1e-3 < (scale := float(torch.log(seen[1, -1] / seen[1, 0]) / 4)) < 1e3:
            self.scale = scale
            return answer or f"times {number(scale, 3)}"
        return answer


def as_tensor(output):
    """Return what an attention returned, as float32 on the CPU."""
    if not isinstance(output, torch.Tensor):
        try:
            output = torch.from_dlpack(output)
        except Exception:  # it has no dlpack, or not for this number type
            output = torch.as_tensor(numpy.asarray(output).astype(numpy.float32))
    return output.detach().cpu().float()


def _shares(allowed):
    return allowed / allowed.sum(dim=-1, keepdim=True)


def _rows(*scores):
    return torch.softmax(torch.tensor(scores, dtype=torch.float64), dim=-1).expand(KEYS, -1)


def _row_of(value, dtype=torch.float):
    return {"scores": TILT, "mask": torch.where(NO_KEY, value, 0.0).to(dtype), "dtype": dtype}


def empty_rows(ask):
    """What a row without a key may become, beside this attention's own weights of the other rows."""
    tilted, meanings = ask.weights(TILT), {}
    for name, value in (("zeros", 0.0), ("NaN", math.nan), ("the mean", 1 / KEYS)):
        meanings[name] = tilted.masked_fill(NO_KEY, value)
        # Read upside down, the row is the only one that sees anything.
        meanings[f"upside down, others {name}"] = tilted.masked_fill(~NO_KEY, value)
    return meanings | {"as if unmasked": tilted}


ALL, ONE, BELOW = torch.ones(KEYS, KEYS), torch.eye(KEYS), torch.ones(KEYS, KEYS).tril()
NO_KEY = (torch.arange(KEYS) == 1)[:, None].expand(KEYS, KEYS)  # for query 2
SOME = ~NO_KEY.T  # all but key 2
TILT = (0, 0.5, 1, 1.5, 2)  # scores that tell the mean of all values from weights without a mask
LOWEST, LOWEST_HALF = torch.finfo(torch.float).min, torch.finfo(torch.half).min
HALF, BFLOAT = {"dtype": torch.half}, {"dtype": torch.bfloat16}
LAST = [[], [], [], []]  # the features of the first four keys: none

# What the answers look like.
IGNORED = {"ignored": _shares(ALL)}
POLARITY = {"True means may attend": _shares(ONE), "True means hidden": _shares(1 - ONE)}
BOOL = POLARITY | IGNORED | {"added as 0 and 1": torch.softmax(ONE, -1)}
NUMBERS = {f"as bool, {name}": POLARITY[name] for name in POLARITY} | IGNORED
NUMBERS["added"] = BOOL["added as 0 and 1"]
ADDED = {"added": _shares(ONE), "read upside down": _shares(1 - ONE)} | IGNORED
SCALES = {"1 / √d_k": 0.25, "1 / d_k": 1 / 16, "not at all": 1, "times √d_k": 4, "1 / √d_model": 32**-0.5}
SCALES = {name: _rows(0, 0, 0, 0, 4 * factor) for name, factor in SCALES.items()}
CAUSAL = {"itself and before": _shares(BELOW)} | IGNORED
MORE = {"top left": _shares(BELOW[:2]), "bottom right": _shares(BELOW[-2:]), "ignored": _shares(ALL[:2])}
BOTH = {"both hold": _shares(SOME * BELOW), "flag ignored": _shares(SOME), "mask ignored": _shares(BELOW)}
APART_HEADS = {"each its own": torch.eye(2), "all the mean of both": torch.full((2, 2), 0.5)}
SHARED = {"1 1 2 2": torch.eye(2).repeat_interleave(2, dim=0), "1 2 1 2": torch.eye(2).repeat(2, 1)}
LEAKS = {"stays hidden": _shares(SOME), "leaks: NaN": ALL * math.nan}
APART = {"yes": _rows(0, 0, 0, 300, 301), "no": _rows(0, 0, 0, 300, 300)}
SUM = {"yes": _rows(0, 0, 0, 0, 7), "no": _rows(0, 0, 0, 0, 7).where(torch.arange(KEYS) < 4, 1)}  # 1.004 is 1

# Name: the question in words, what the keyhole is asked, and what each answer looks like. The order counts:
# "bool mask" tells how to hide a key, "scale" how to ask for scores.
QUESTIONS = {
    "no mask": ("Five equal keys", {}, {"a fifth each": _shares(ALL)}),
    "equal calls": ("Four equal calls", Keyhole.four_times, {"equal": ALL * 0, "they differ: dropout?": ALL}),
    "bool mask": ("A bool mask with one True in each row", {"mask": ONE.bool()}, BOOL),
    "integer mask": ("The same mask as integers, 0 and 1", {"mask": ONE.long()}, NUMBERS),
    "float mask": ("The same mask as floats, 0.0 and 1.0", {"mask": ONE}, NUMBERS),
    "additive mask": ("A mask that is added: 0 for one key in each row, else −∞", {"mask": ONE.log()}, ADDED),
    "scale": ("How scores are scaled", {"q": [1], "k": [*LAST, [4]]}, SCALES),
    "empty row": ("A row without a key", {"scores": TILT, "allowed": ~NO_KEY}, empty_rows),
    "empty row, −∞": ("A row of −∞ that is added", _row_of(-math.inf), empty_rows),
    "empty row, lowest": ("A row of the lowest number of float32 that is added", _row_of(LOWEST), empty_rows),
    "empty row, float16": ("A row of the lowest number of float16 that is added, all in float16",
                           _row_of(LOWEST_HALF, **HALF), empty_rows),
    "causal": ("The causal flag with 5 queries and 5 keys", {"causal": True}, CAUSAL),
    "more keys": ("The causal flag with 2 queries and 5 keys", {"n_q": 2, "causal": True}, MORE),
    "mask and flag": ("The causal flag, and key 2 hidden by a mask", {"causal": True, "allowed": SOME}, BOTH),
    "two heads": ("Which of 2 key heads each of 2 query heads reads", lambda ask: ask.heads(2), APART_HEADS),
    "shared heads": ("Which of 2 key heads each of 4 query heads reads", lambda ask: ask.heads(4), SHARED),
    "NaN in a value": ("NaN in a value that the mask hides",
                       {"v": torch.where(NO_KEY[:, :1], math.nan, 1), "allowed": SOME}, LEAKS),
    "large scores, bfloat16": ("bfloat16: are scores of 300 and 301 told apart",
                               {"q": [16, 1], "k": [*LAST[:3], [75], [75, 4]], **BFLOAT}, APART),
    "softmax, bfloat16": ("bfloat16: does softmax add up in float32",
                          {"scores": [0, 0, 0, 0, 7], **BFLOAT}, SUM),
    "hidden key, float16": ("float16: is a hidden key hidden where the other scores are −15,000",
                            {"q": [-200], "k": [[300], [], *3 * [[300]]], "allowed": SOME, **HALF},
                            {"yes": _shares(SOME), "no": (~SOME).double()}),
}  # fmt: skip

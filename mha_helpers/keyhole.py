"""The keyhole: tiny calls whose output is the weights of an attention, and the questions that probe asks so.

A query of zeros makes every score 0, and values that are the unit vectors make the output the weights.
"""

import math

import numpy
import torch

from mha_helpers.style import number

HEADS, KEYS, D_K = 2, 5, 16


class Keyhole:
    """Calls an attention so that its output is the weights; learns how it reads a mask, and how it scales."""

    def __init__(self, attend):
        self.attend, self.true_attends, self.scale = attend, None, D_K**-0.5

    def output(self, q, k, v, mask=None, causal=False):
        mask = None if mask is None else mask.clone()  # whoever writes into it
        output = as_tensor(self.attend(q, k, v, mask=mask, causal=causal))
        if output.shape != q.shape:
            hint = ": transpose(1, 2)?" if output.shape == q.transpose(1, 2).shape else ""
            raise ValueError(f"the output has shape {tuple(output.shape)}, q has {tuple(q.shape)}{hint}")
        return output

    def weights(self, scores=(0,), q=1, v=1, allowed=None, n_q=KEYS, dtype=None, **options):
        """Return what head 1 shows, ``(n_q, 5)``.

        ``scores`` are those of each row, after scaling, as parts to be added where they have two axes; ``q``
        multiplies them, ``v`` the unit vectors. ``allowed`` is a mask, True = may attend.
        """
        query, key = (torch.zeros(1, HEADS, n, D_K, dtype=dtype) for n in (n_q, KEYS))
        parts = torch.tensor(scores).view(len(scores), -1)
        query[..., : parts.shape[1]], key[..., : parts.shape[1]] = q, parts / self.scale
        value = (torch.eye(KEYS, D_K) * v).to(query.dtype).repeat(1, HEADS, 1, 1)
        if allowed is not None:  # 0 and −∞ to be added, where a bool mask says nothing
            options["mask"] = allowed.log() if self.true_attends is None else allowed == self.true_attends
        return self.output(query, key, value, **options)[0, 0, :, :KEYS]

    def heads(self, of_queries):
        """Return which of 2 key heads each query head reads, 0 where it asks with the query of another."""
        names = torch.eye(KEYS, D_K)  # of keys, and of heads
        q = (10 / self.scale * names[:of_queries, None]).repeat(1, 1, KEYS, 1)  # head i asks for key i
        v = names[:2, None] + names.roll(2, dims=1)  # first the head's name, then the key's
        seen = self.output(q, names.repeat(1, 2, 1, 1), v[None])[0, :, 0]
        return seen[:, :2] * (seen[:, 2:].diagonal()[:, None] > 0.1)  # a weak scale is not our question

    def learn(self, name, answer, seen):
        """Remember what later questions need; return the answer, or words for one that was not foreseen."""
        if name == "bool mask" and "True means" in str(answer):
            self.true_attends = "True means may attend" in answer
        if name == "scale" and 1e-3 < (scale := float(torch.log(seen[1, -1] / seen[1, 0]) / 4)) < 1e3:
            if (seen.sum(dim=0) - 1).abs().max() < 5e-4:  # though query 2 alone asks for a key
                return "columns of weights add up to 1, not rows"
            times = {f"times {number(scale, 3)}": _rows(0, 0, 0, 0, 4 * scale, q=NO_KEY)}
            self.scale, answer = scale, answer or nearest(seen, times)
        if answer == "no" and name == "large scores, bfloat16":
            in_float = self.weights(LARGE["scores"])
            return answer if nearest(in_float, APART) == "yes" else "no, nor in float32: are they capped?"
        return answer


def as_tensor(output):
    """Return what an attention returned, as float32 on the CPU."""
    if not isinstance(output, torch.Tensor):
        try:
            output = torch.from_dlpack(output)
        except Exception:  # it has no dlpack, or not for this number type
            output = torch.as_tensor(numpy.asarray(output).astype(numpy.float32))
    return output.detach().cpu().float()


def nearest(seen, meanings):
    """Return the answer that looks like the weights that were seen, or like their shares, or None."""
    alike = {"rtol": 0, "atol": 0.0017, "equal_nan": True}
    shares = seen / seen.sum(dim=-1, keepdim=True).clamp(min=1e-9)
    for weights, remark in ((seen, ""), (shares, ", rows do not add up to 1")):
        for name, meant in meanings.items():
            if torch.allclose(weights, meant.to(seen), **alike):
                return name + remark
    return None


def _shares(allowed):
    return allowed / allowed.sum(dim=-1, keepdim=True)


def _rows(*scores, q=1):
    return torch.softmax(torch.tensor(scores, dtype=torch.double) * q, dim=-1).expand(KEYS, -1)


def _full_row(dtype=torch.float, value=None):
    value = torch.finfo(dtype).min if value is None else value
    return {"scores": TILT, "mask": torch.where(NO_KEY, value, 0.0).to(dtype), "dtype": dtype}


def _empty_rows(ask):
    """What a row without a key may become, beside this attention's own weights of the other rows."""
    tilted, meanings = ask.weights(TILT), {}
    for name, value in EMPTY.items():
        meanings[name] = tilted.masked_fill(NO_KEY, value)
        # Read upside down, the row is the only one that sees anything.
        meanings[f"upside down, others {name}"] = tilted.masked_fill(~NO_KEY, value)
    return meanings | {"as if unmasked": tilted}


ALL, OWN, BELOW = torch.ones(KEYS, KEYS), torch.eye(KEYS), torch.ones(KEYS, KEYS).tril()
NEXT = OWN.roll(1, dims=1)  # the next key, a mask that neither its transpose nor the values look like
NO_KEY = (torch.arange(KEYS) == 1)[:, None].expand(KEYS, KEYS)  # for query 2
SOME = ~NO_KEY.T  # all but key 2
TILT = (0, 0.5, 1, 1.5, 2)  # scores that tell the mean of all values from weights without a mask
LARGE = {"scores": ((0, 0), (0, 0), (0, 0), (600, 0), (600, 1)), "dtype": torch.bfloat16}  # it has no 601

# What the answers look like.
EMPTY = {"zeros": 0.0, "NaN": math.nan, "the mean": 1 / KEYS}
IGNORED = {"ignored": _shares(ALL)}
POLARITY = {"True means may attend": NEXT, "True means hidden": _shares(1 - NEXT)}
POLARITY |= {f"{name}, transposed": weights.T for name, weights in POLARITY.items()}
BOOL = POLARITY | IGNORED | {"added as 0 and 1": torch.softmax(NEXT, -1)}
NUMBERS = {f"as bool, {name}": POLARITY[name] for name in POLARITY} | IGNORED
NUMBERS["added"] = BOOL["added as 0 and 1"]
ADDED = {"added": NEXT, "added, transposed": NEXT.T, "read upside down": _shares(1 - NEXT)} | IGNORED
SCALES = {"1 / √d_k": _rows(0, 0, 0, 0, 1, q=NO_KEY)}
SCALES["1 / √(2 · d_k), and h is 2"] = _rows(0, 0, 0, 0, 0.5**0.5, q=NO_KEY)  # by d_model, perhaps
CAUSAL = {"itself and before": _shares(BELOW)} | IGNORED
CAUSAL |= {f"a window of {n}": _shares(BELOW.triu(1 - n)) for n in range(1, KEYS)}
CAUSAL |= {f"only before, row 1 {name}": _shares(BELOW - OWN).nan_to_num(EMPTY[name]) for name in EMPTY}
MORE = {"top left": _shares(BELOW[:2]), "bottom right": _shares(BELOW[-2:]), "ignored": _shares(ALL[:2])}
BOTH = {"both hold": _shares(SOME * BELOW), "flag ignored": _shares(SOME), "mask ignored": _shares(BELOW)}
BOTH |= IGNORED
SHARED = {"1 1 2 2": torch.eye(2).repeat_interleave(2, dim=0), "1 2 1 2": torch.eye(2).repeat(2, 1)}
LEAKS = {"stays hidden": _shares(SOME), "leaks: NaN": ALL * math.nan}
APART = {"yes": _rows(0, 0, 0, 600, 601), "no": _rows(0, 0, 0, 600, 600)}
SUM = {"yes": _rows(0, 0, 0, 0, 7), "no": _rows(0, 0, 0, 0, 7).where(torch.arange(KEYS) < 4, 1)}  # 1.004 is 1

# Name: the question in words, what the keyhole is asked, and what each answer looks like. The order counts:
# "bool mask" tells how to hide a key, "scale" how to ask for scores.
QUESTIONS = {
    "bool mask": ("A bool mask with one True in each row: the next key", {"mask": NEXT.bool()}, BOOL),
    "integer mask": ("The same mask as integers, 0 and 1", {"mask": NEXT.long()}, NUMBERS),
    "float mask": ("The same mask as floats, 0.0 and 1.0", {"mask": NEXT}, NUMBERS),
    "additive mask": ("A mask that is added: 0 for the next key, else −∞", {"mask": NEXT.log()}, ADDED),
    "scale": ("How scores are scaled", {"scores": (0, 0, 0, 0, 1), "q": NO_KEY[:, :1]}, SCALES),
    "empty row": ("A row without a key", {"scores": TILT, "allowed": ~NO_KEY}, _empty_rows),
    "empty row, −∞": ("A row of −∞ that is added", _full_row(value=-math.inf), _empty_rows),
    "empty row, lowest": ("A row of float32’s lowest number that is added", _full_row(), _empty_rows),
    "empty row, float16": ("All in float16, with its lowest number", _full_row(torch.half), _empty_rows),
    "causal": ("The causal flag with 5 queries and 5 keys", {"causal": True}, CAUSAL),
    "more keys": ("The causal flag with 2 queries and 5 keys", {"n_q": 2, "causal": True}, MORE),
    "mask and flag": ("The causal flag, and key 2 hidden by a mask", {"causal": True, "allowed": SOME}, BOTH),
    "shared heads": ("Which of 2 key heads each of 4 query heads reads", lambda ask: ask.heads(4), SHARED),
    "NaN in a value": ("NaN in a value that the mask hides",
                       {"v": torch.where(NO_KEY[:, :1], math.nan, 1), "allowed": SOME}, LEAKS),
    "large scores, bfloat16": ("bfloat16: are scores of 600 and 601 told apart", LARGE, APART),
    "softmax, bfloat16": ("bfloat16: does softmax add up in float32",
                          {"scores": (0, 0, 0, 0, 7), "dtype": torch.bfloat16}, SUM),
}  # fmt: skip

"""Usual mistakes in whole attention, in splitting and merging heads, and in the class.

Made from the mistakes of the single steps in ``mistakes.py``. ``ATTENTION`` takes the arguments of
``scaled_dot_product_attention(q, k, v, mask=None)``, ``SPLITTING`` and ``MERGING`` those of ``split_heads``
and ``merge_heads``. ``CLASS`` holds classes like ``MultiHeadAttention``.
"""

import itertools

import torch
from torch.nn import functional as F

from mha_helpers.attention import (
    MultiHeadAttention,
    attention_scores,
    attention_weights,
    mask_scores,
    merge_heads,
    scale_scores,
    split_heads,
)
from mha_helpers.exercises.framework import Mistake
from mha_helpers.exercises.mistakes import MASKING, NOTHING_LEFT, SCALING, SCORES, SOFTMAX, pick
from mha_helpers.masks import causal_mask


def attention_with(
    scores=attention_scores, scale=scale_scores, masking=mask_scores, softmax=attention_weights, finish=None
):
    """Return an attention function with some steps replaced by a mistake.

    ``finish(weights, mask)`` is a step between the weights and their use.
    """

    def attention(q, k, v, mask=None):
        table = scale(scores(q, k), q.shape[-1])
        if mask is not None:
            table = masking(table, mask)
        weights = softmax(table)
        if finish and mask is not None:
            weights = finish(weights, mask)
        return weights @ v, weights

    return attention


def _one(mistakes, name):
    return pick(mistakes, name)[0].wrong


_MASK_AFTER_SOFTMAX = {
    "masking": lambda scores, mask: scores,
    "finish": lambda weights, mask: weights * mask,
}


def _shared_out_again(weights, mask):
    kept = weights * mask
    return (kept / kept.sum(dim=-1, keepdim=True)).nan_to_num()


# Whoever takes a plain softmax and then sets the hidden weights to 0, which also mends rows without any key.
CLEARED = {
    "softmax": lambda table: torch.softmax(table, dim=-1),
    "finish": lambda weights, mask: weights.masked_fill(~mask, 0.0),
}
_ENDING = ", hidden weights 0"


def _scaled_late(q, k, v, mask=None):
    weights = attention_with(scale=lambda scores, d_k: scores)(q, k, v, mask)[1] / q.shape[-1] ** 0.5
    return weights @ v, weights


def _weights_turned_over(q, k, v, mask=None):
    _, weights = attention_with()(q, k, v, mask)
    return weights.transpose(-2, -1) @ v, weights


ATTENTION = [
    *(
        Mistake(m.name, attention_with(scores=m.wrong), m.sentence)
        for m in pick(
            SCORES, "transposed picture", "elementwise product", "queries with queries", "keys with keys"
        )
    ),
    *(Mistake(m.name, attention_with(scale=m.wrong), m.sentence) for m in SCALING),
    Mistake(
        "mask after softmax",
        attention_with(**_MASK_AFTER_SOFTMAX),
        "The mask works after softmax alone, so rows do not sum to 1: does a step before keep its result?",
    ),
    Mistake(
        "mask after softmax, renormalised",
        attention_with(**_MASK_AFTER_SOFTMAX | {"finish": _shared_out_again}),
        "You mask after softmax and divide again. A large hidden score has pushed the others to 0.",
    ),
    Mistake(
        "scale after softmax",
        _scaled_late,
        "The scale comes after softmax, so rows do not sum to 1: which step must it precede?",
    ),
    Mistake(
        "the visible weights set to 0",
        attention_with(**CLEARED | {"finish": lambda weights, mask: weights.masked_fill(mask, 0.0)}),
        NOTHING_LEFT,
    ),
    Mistake(
        "mask after softmax, renormalised, a little added to the sum",
        attention_with(
            **_MASK_AFTER_SOFTMAX | {"finish": lambda w, mask: (w * mask) / ((w * mask).sum(-1, True) + 1e-9)}
        ),
        "You mask after softmax and divide again. A large hidden score has pushed the others to 0.",
    ),
    Mistake(
        "mask after softmax, renormalised, 0/0",
        attention_with(
            **_MASK_AFTER_SOFTMAX | {"finish": lambda w, mask: (w * mask) / (w * mask).sum(-1, True)}
        ),
        "You divide by a row's sum, which can be 0: where no key is left, or one hidden score is huge.",
    ),
    Mistake(
        "−∞ after softmax",
        attention_with(**_MASK_AFTER_SOFTMAX | {"finish": mask_scores}),
        "You write −∞ into the weights: softmax makes 0 of −∞, so on which side of it does −∞ belong?",
    ),
    *(Mistake(m.name, attention_with(masking=m.wrong), m.sentence) for m in MASKING),
    *(
        Mistake(m.name + _ENDING, attention_with(masking=m.wrong, **CLEARED), m.sentence)
        for m in MASKING
        if m.name not in ("−1e9", "mask left out")  # right in float32; the mask after softmax, as above
    ),
    *(
        Mistake(m.name, attention_with(softmax=m.wrong), m.sentence)
        for m in pick(
            SOFTMAX,
            "softmax over queries",
            "softmax over axis 1",
            "softmax over everything",
            "softmax without the maximum",
            "NaN in a fully masked row",
        )
    ),
    Mistake(
        "softmax over queries, masked cells 0",
        attention_with(softmax=lambda table: torch.softmax(table, dim=-2).nan_to_num()),
        pick(SOFTMAX, "softmax over queries")[0].sentence,
    ),
    Mistake(
        "softmax over axis 1, masked cells 0",
        attention_with(softmax=lambda table: torch.softmax(table, dim=1).nan_to_num()),
        pick(SOFTMAX, "softmax over axis 1")[0].sentence,
    ),
    Mistake(
        "a causal mask, whatever is handed over",
        attention_with(masking=lambda scores, mask: mask_scores(scores, causal_mask(scores.shape[-1]))),
        "You hide the future whatever the mask says: use the mask that is handed over.",
    ),
    Mistake(
        "weights built from V",
        lambda q, k, v, mask=None: attention_with()(v, v, v, mask),
        "The weights are made from V: which two of the three are compared?",
    ),
    Mistake(
        "keys in place of values",
        lambda q, k, v, mask=None: attention_with()(q, k, k, mask),
        "You mix the keys: what is carried home is another of the three.",
    ),
    Mistake(
        "values in place of keys",
        lambda q, k, v, mask=None: attention_with()(q, v, v, mask),
        "Your scores compare queries with values: which of the three does a query meet?",
    ),
    Mistake(
        "weights turned over",
        _weights_turned_over,
        "The weights are right, but turned over when they mix: row i of the weights belongs to query i.",
    ),
    Mistake(
        "no softmax",
        attention_with(softmax=lambda table: table),
        "Scores have been used as weights: which step turns them into shares that sum to 1?",
    ),
    Mistake(
        "÷√2, whatever d_k is",
        attention_with(scale=lambda scores, d_k: scores / 2**0.5),
        "You divide by √2, which is right where d_k is 2: the last axis of q says how large it is.",
    ),
]

BLOCKED_BY_A_NUMBER = [
    Mistake(
        f"blocked score a number, {number}, {'0 where hidden' if zeroed else 'as it is'}",
        attention_with(
            masking=lambda scores, mask, number=number: scores.masked_fill(~mask, number),
            softmax=lambda table: torch.softmax(table, dim=-1),
            finish=(lambda weights, mask: weights * mask) if zeroed else None,
        ),
        "Your blocked score is a number, and visible ones can be lower: which score is below all?",
    )
    for number in (-100, -1e3, -1e4)
    for zeroed in (False, True)
]

# 08: split_heads(x, num_heads)

SPLITTING = [
    Mistake(
        "reshape without transpose",
        lambda x, num_heads: x.reshape(*x.shape[:-2], num_heads, x.shape[-2], -1),
        "Every shape is right, and the tokens are scrambled: one reshape cannot move an axis past another.",
    ),
    Mistake(
        "transpose missing",
        lambda x, num_heads: x.unflatten(-1, (num_heads, -1)),
        "Tokens still stand before heads: the cut is right. Which step is left, and do you keep its result?",
    ),
    Mistake(
        "transpose of the wrong axes: the last two",
        lambda x, num_heads: x.unflatten(-1, (num_heads, -1)).transpose(-2, -1),
        "The last two axes change places; features should stay last. Which two axes should move?",
    ),
    Mistake(
        "transpose of the wrong axes: tokens and features",
        lambda x, num_heads: x.unflatten(-1, (num_heads, -1)).transpose(-3, -1),
        "Tokens and features change places; features should stay last. Which two axes should move?",
    ),
    Mistake(
        "features dealt out like cards",
        lambda x, num_heads: x.unflatten(-1, (-1, num_heads)).movedim(-1, -3),
        "Head 1 gets every h-th feature instead of the first d_k: which of the two new axes comes first?",
    ),
    Mistake(
        "tokens cut instead of features",
        lambda x, num_heads: torch.stack(x.chunk(num_heads, dim=-2), dim=-3),
        "The tokens are shared out among the heads: every head should see every token.",
    ),
]

# 09: merge_heads(x)

MERGING = [
    Mistake(
        "reshape without transpose",
        lambda x: x.reshape(*x.shape[:-3], x.shape[-2], -1),
        "Every shape is right, and the tokens are scrambled: which step comes before the merge, and do you"
        " keep its result?",
    ),
    Mistake(
        "heads merged in the wrong order",
        lambda x: merge_heads(x.flip(-3)),
        "The last head comes first: in which order do the heads stand side by side?",
    ),
    Mistake(
        "features of the heads interleaved",
        lambda x: x.movedim(-3, -1).flatten(-2),
        "The heads are mixed feature by feature: all features of head 1 come first, then those of head 2.",
    ),
    Mistake(
        "heads added up",
        lambda x: x.sum(dim=-3),
        "The heads are added, so nobody can tell them apart any more: they should stand side by side.",
    ),
    Mistake(
        "transpose missing after the merge",
        lambda x: x.transpose(-3, -2),
        "Tokens stand before heads now; the two last axes are still to be made one.",
    ),
]

# 09: the class


def attention_class(
    split=split_heads,
    merge=merge_heads,
    out=lambda module, concat: module.w_o(concat),
    project=lambda module, x: (module.w_q(x), module.w_k(x), module.w_v(x)),
    attend=None,
    bias=None,
    scale=None,
    **steps,
):
    """Return a class like ``MultiHeadAttention`` in which some parts are replaced by a mistake."""

    class Attention(MultiHeadAttention):
        def __init__(self, d_model, num_heads, **rest):
            super().__init__(d_model, num_heads, **(rest if bias is None else rest | {"bias": bias}))

        def forward(self, x, mask=None):
            used = dict(steps)
            if scale:  # a mistake of the class can confuse d_k with other sizes of it
                used["scale"] = lambda scores, d_k: scale(self, scores)
            attention = attend or attention_with(**used)
            q, k, v = (split(part, self.num_heads) for part in project(self, x))
            heads, weights = attention(q, k, v, mask)
            return out(self, merge(heads)), weights

    return Attention


def _w_o_transposed(module, concat):
    return F.linear(concat, module.w_o.weight.T, module.w_o.bias)


def _w_o_without_bias(module, concat):
    return F.linear(concat, module.w_o.weight)


def _without_bias(module, x):
    return tuple(F.linear(x, layer.weight) for layer in (module.w_q, module.w_k, module.w_v))


FAULTS = {
    "reshape without transpose": {"split": _one(SPLITTING, "reshape without transpose")},
    "heads merged without transpose": {"merge": _one(MERGING, "reshape without transpose")},
    "heads merged in the wrong order": {"merge": _one(MERGING, "heads merged in the wrong order")},
    "features of the heads interleaved": {"merge": _one(MERGING, "features of the heads interleaved")},
    "features dealt out like cards": {"split": _one(SPLITTING, "features dealt out like cards")},
    "W_O missing": {"out": lambda module, concat: concat},
    "W_O transposed": {"out": _w_o_transposed},
    "no scale": {"scale": lambda module, scores: scores},
    "÷d_k": {"scale": lambda module, scores: scores / module.d_k},
    "×√d_k": {"scale": lambda module, scores: scores * module.d_k**0.5},
    "d_k taken as d_model": {"scale": lambda module, scores: scores / module.d_model**0.5},
    "÷√n_k": {"scale": lambda module, scores: scores / scores.shape[-1] ** 0.5},
    "÷√2": {"scale": lambda module, scores: scores / 2**0.5},
    "** 1/2 without brackets": {"scale": lambda module, scores: scores / module.d_k / 2},
    "÷√num_heads": {"scale": lambda module, scores: scores / module.num_heads**0.5},
    "mask after softmax": _MASK_AFTER_SOFTMAX,
    **{m.name: {"masking": m.wrong} for m in MASKING},
    **{m.name: {"attend": m.wrong} for m in ATTENTION if m.name.endswith((_ENDING, "cells 0"))},
    **{
        m.name: {"attend": m.wrong}
        for m in pick(
            ATTENTION,
            "scale after softmax",
            "mask after softmax, renormalised",
            "the visible weights set to 0",
            "mask after softmax, renormalised, a little added to the sum",
            "mask after softmax, renormalised, 0/0",
            "−∞ after softmax",
        )
    },
    "softmax over queries": {"softmax": _one(SOFTMAX, "softmax over queries")},
    "softmax over axis 1": {"softmax": _one(SOFTMAX, "softmax over axis 1")},
    "NaN in a fully masked row": {"softmax": _one(SOFTMAX, "NaN in a fully masked row")},
    "V from W_K": {"project": lambda module, x: (module.w_q(x), module.w_k(x), module.w_k(x))},
    "V from W_Q": {"project": lambda module, x: (module.w_q(x), module.w_k(x), module.w_q(x))},
    "K from W_Q": {"project": lambda module, x: (module.w_q(x), module.w_q(x), module.w_v(x))},
    "W_Q makes all three": {"project": lambda module, x: (module.w_q(x), module.w_q(x), module.w_q(x))},
    "Q and K swapped": {"project": lambda module, x: (module.w_k(x), module.w_q(x), module.w_v(x))},
    "weights built from V": {"project": lambda module, x: (module.w_v(x), module.w_v(x), module.w_v(x))},
    "bias forgotten": {"bias": False},
    "bias in W_O alone": {"project": _without_bias},
    "bias of W_O left out": {"out": _w_o_without_bias},
    "biases made and not used": {"project": _without_bias, "out": _w_o_without_bias},
}

_SENTENCES = {m.name: m.sentence for m in [*SOFTMAX, *SCALING, *ATTENTION, *SPLITTING, *MERGING]} | {
    "reshape without transpose": (
        "Tokens are scrambled into heads although every shape is right: look at how you split."
    ),
    "heads merged without transpose": (
        "Tokens are scrambled although every shape is right: look at how you merge the heads."
    ),
    "W_O missing": "This is the concatenation itself: one layer is still to come, which mixes the heads.",
    "W_O transposed": "W_O is turned over: a Linear layer is called, its weight is not multiplied by hand.",
    "÷√num_heads": "You divide by the root of the number of heads: how many features does each get?",
    "softmax over axis 1": "Softmax ran over axis 1, here the axis of the heads: count it from the end.",
    "d_k taken as d_model": "The scale uses d_model: how many features does one head compare?",
    "V from W_K": (
        "The values come from W_K: look at which layer makes v, and at what the weights are multiplied with."
    ),
    "V from W_Q": "The values come from W_Q: look at which layer makes v.",
    "K from W_Q": "The keys come from W_Q: look at which layer makes k.",
    "W_Q makes all three": "W_Q makes all three: look at which layer makes k, and which makes v.",
    "Q and K swapped": "Queries and keys have changed places: which layer makes which? Which gives the rows?",
    "weights built from V": "W_V makes all three: look at which layer makes q, k and v.",
    "÷√2": "You divide by √2, which is right where d_k is 2: how wide is a head of this class?",
    "bias in W_O alone": "W_O has a bias, and queries, keys and values have none: how are those layers made?",
    "bias of W_O left out": "The bias of W_O is not added: a Linear layer is called, as in self.w_o(concat).",
    "biases made and not used": "No bias is added: a Linear layer is called, as in self.w_q(x).",
    "bias forgotten": "The biases are missing: how are the layers made?",
}

CLASS = [Mistake(name, attention_class(**parts), _SENTENCES[name]) for name, parts in FAULTS.items()]


def faulty_class(*names, **parts):
    """Return a class with these faults of ``FAULTS`` at once, and other parts replaced as said."""
    return attention_class(**{key: part for name in names for key, part in FAULTS[name].items()}, **parts)


def bugs_left(count):
    return "1 bug is left." if count == 1 else f"{count} bugs are left."


def remaining_faults(sentences):
    """Return the mistakes of an exercise "find the planted bugs": each set of bugs that can be left.

    ``sentences``: for each planted fault, a name of ``FAULTS``, what to tell the learner while it is
    there. With several left, the first in the order of ``sentences`` is spoken of.
    """
    mistakes = []
    for count in range(len(sentences), 0, -1):
        for names in itertools.combinations(sentences, count):
            sentence = f"{bugs_left(count)} {sentences[names[0]]}"
            mistakes.append(Mistake(", ".join(names), faulty_class(*names), sentence))
    return mistakes

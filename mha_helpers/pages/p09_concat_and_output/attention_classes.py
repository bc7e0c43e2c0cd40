"""Classes of attention for the exercises of page 09: the right one, and those with one mistake each."""

import torch
from torch import nn

from mha_helpers import attention
from mha_helpers.masks import causal_mask

COURSE_STEPS = [
    name for name, step in vars(attention).items() if getattr(step, "__module__", "") == attention.__name__
]
_FIXED = "You divide by the same number whatever d_k is: how does the spread of a score grow?"


class Layers(nn.Module):
    def __init__(self, d_model, num_heads):
        super().__init__()
        self.num_heads = num_heads
        self.w_qkv = nn.Linear(d_model, 3 * d_model)  # W_Q, W_K and W_V side by side
        self.w_o = nn.Linear(d_model, d_model)  # a matrix, and a bias: one number added to each column


def _projected(layer, x):
    fused = isinstance(layer, Layers)
    return layer.w_qkv(x).chunk(3, dim=-1) if fused else (layer.w_q(x), layer.w_k(x), layer.w_v(x))


def reshaped(x, num_heads):
    return x.reshape(len(x), num_heads, x.shape[1], -1)


def _interleaved(x, num_heads):
    return x.unflatten(-1, (-1, num_heads)).permute(0, 3, 1, 2)


def _scrambled(heads):
    return heads.reshape(len(heads), heads.shape[2], -1)


def _hidden(scores, mask):
    return scores.masked_fill(~mask, -torch.inf)


def attention_class(
    base,
    root=lambda d_k, d_model: d_k**0.5,
    cut=lambda x, num_heads: x.unflatten(-1, (num_heads, -1)).transpose(1, 2),
    pick=tuple,
    masked=_hidden,
    axis=-1,
    share=torch.softmax,
    weigh=torch.matmul,
    merge=lambda heads: heads.transpose(1, 2).flatten(2),
    project=_projected,
    last=lambda layer, concat, x: layer.w_o(concat),
):
    """Make the right class, or one with a mistake in it: each argument is one step."""

    class Attention(base):
        def forward(self, x, mask=None):
            q, k, v = pick([cut(part, self.num_heads) for part in project(self, x)])
            scores = q @ k.transpose(-2, -1) / root(q.shape[-1], x.shape[-1])
            if mask is not None and masked:
                scores = masked(scores, mask)
            weights = share(scores, dim=axis)
            if mask is not None and not masked:
                weights = weights * mask
            concat = merge(weigh(weights, v))
            return last(self, concat, x), weights

    return Attention


def usual_mistakes(base):
    """Return what goes wrong in either class, also without a mask."""
    scrambled = attention_class(base, merge=_scrambled)
    cut_alike = attention_class(base, cut=reshaped, merge=_scrambled)
    too_wide = attention_class(base, root=lambda d_k, d_model: d_model**0.5)
    no_root = attention_class(base, root=lambda d_k, d_model: d_k)
    by_keys = attention_class(base, axis=-2)
    by_heads = attention_class(base, axis=1)
    mixes_keys = attention_class(base, pick=lambda qkv: (qkv[0], qkv[1], qkv[1]))
    times_root = attention_class(base, root=lambda d_k, d_model: d_k**-0.5)
    asks_itself = attention_class(base, pick=lambda qkv: (qkv[0], qkv[0], qkv[2]))
    whole = attention_class(base, cut=lambda x, num_heads: x[:, None])
    dealt_out = attention_class(base, cut=_interleaved)
    return [
        (whole, "All features stay in one head: where do you cut q, k and v into num_heads of them?"),
        (dealt_out, "A head takes every num_heads-th feature: its features lie side by side."),
        (by_keys, "The weights add up to 1 for each key: on which axis are a query's keys?"),
        (by_heads, "softmax(dim=1) compares heads with one another: on which axis are the keys?"),
        (cut_alike, "Cut and merge fit each other, but a head mixes numbers of several words."),
        (scrambled, "The weights are right, the output is not: whose numbers are in one row of your concat?"),
        (too_wide, "You divide by √d_model: how many products does one score of one head add up?"),
        (no_root, "You divide the scores by d_k: how does their spread grow with d_k?"),
        (mixes_keys, "The weights are right, but they mix the keys: what does a word bring home?"),
        (times_root, "The scores grow in the scale: should they be multiplied by √d_k, or divided?"),
        (asks_itself, "The queries meet themselves: which of the three projections answers them?"),
    ]


def layer_mistakes(base):
    """Return what goes wrong in what the layers are given, and what becomes of it: also with one head."""
    keys_ask = attention_class(base, pick=lambda qkv: (qkv[1], qkv[0], qkv[2]))
    other_names = attention_class(base, pick=lambda qkv: (qkv[0], qkv[2], qkv[1]))
    mixes_by_key = attention_class(base, weigh=lambda weights, v: weights.mT @ v)
    raw_values = attention_class(base, project=lambda layer, x: (*_projected(layer, x)[:2], x))
    by_values = attention_class(base, pick=lambda qkv: (qkv[0], qkv[2], qkv[2]))
    by_sentence = attention_class(base, axis=0)
    no_last = attention_class(base, last=lambda layer, concat, x: concat)
    twice = attention_class(base, last=lambda layer, concat, x: layer.w_o(layer.w_o(concat)))
    residual = attention_class(base, last=lambda layer, concat, x: layer.w_o(concat) + x)
    return [
        (keys_ask, "The keys ask and the queries answer: whose rows must the scores have?"),
        (other_names, "Keys and values have changed places: which of the two do the queries meet?"),
        (by_values, "The queries meet the values: which of the three projections answers them?"),
        (by_sentence, "softmax(dim=0) compares sentences with one another: on which axis are the keys?"),
        (mixes_by_key, "The weights are right, but turned on their side before they meet the values."),
        (raw_values, "The weights are right, but they mix x itself: which projection is left out?"),
        (no_last, "The heads are side by side, but do they mix? One of the layers does nothing yet."),
        (twice, "The weights are right, but W_O is applied twice."),
        (residual, "The weights are right, and x is added to the output: that is the step after this class."),
    ]


def score_mistakes(base):
    """Return what goes wrong on the way from scores to weights, also with one head and without a mask."""

    class Causal(attention_class(base)):
        def forward(self, x, mask=None):
            return super().forward(x, causal_mask(x.shape[1]) if mask is None else mask)

    raw = attention_class(base, share=lambda scores, dim: scores)
    powers = attention_class(base, share=lambda scores, dim: scores.exp())
    sigmoid = attention_class(base, share=lambda scores, dim: scores.sigmoid())
    no_later = attention_class(
        base, share=lambda scores, dim: _hidden(scores, causal_mask(scores.shape[-1])).softmax(dim)
    )
    twice = attention_class(base, share=lambda scores, dim: scores.softmax(dim).softmax(dim))
    by_words = attention_class(
        base, root=lambda *_: 1, share=lambda scores, dim: (scores / scores.shape[-1] ** 0.5).softmax(dim)
    )
    return [
        (raw, "Your weights are scores: which step makes shares that add up to 1 of them?"),
        (powers, "The weights are powers of e, not yet shares: what must each row add up to?"),
        (sigmoid, "Each weight is made from its own score only: what must each row add up to?"),
        (no_later, "No word looks at a later one, whatever the mask says: who decides that?"),
        (Causal, "Without a mask no word looks at a later one: what does mask=None mean?"),
        (twice, "Without a mask already, the weights have been through softmax twice."),
        (by_words, "You divide by √n, the root of the number of words: what does one score add up?"),
        *((attention_class(base, root=lambda *_, fixed=fixed: fixed), _FIXED) for fixed in (2**0.5, 2.0)),
    ]


def cut_mistakes(base):
    """Return what goes wrong in a cut that leaves the axis of the heads behind that of the words."""
    not_turned = attention_class(
        base,
        cut=lambda x, num_heads: x.unflatten(-1, (num_heads, -1)),
        merge=lambda heads: heads.transpose(1, 2).reshape(len(heads), heads.shape[1], -1),
    )
    question = "Each word's heads meet one another: which two axes are left for the products q @ kᵀ?"
    return [(not_turned, question)]


def layers_as_matrices(base):
    """Return what goes wrong where the weights of four layers are multiplied by hand."""

    def by_hand(turn):
        def project(layer, x):
            return [x @ turn(part.weight) for part in (layer.w_q, layer.w_k, layer.w_v)]

        return attention_class(base, project=project)

    return [
        (
            by_hand(lambda w: w),
            "You multiply by the weights yourself: what more does a layer do when called?",
        ),
        (by_hand(lambda w: w.T), "The biases are left out: what more does a layer do when it is called?"),
    ]


def head_mistakes(base):
    """Return what goes wrong with several heads of several features, in cut and merge alike."""
    dealt_out = attention_class(
        base, cut=_interleaved, merge=lambda heads: heads.permute(0, 2, 3, 1).flatten(2)
    )
    return [(dealt_out, "A head takes every num_heads-th feature: its features lie side by side.")]


def mask_mistakes(base):
    """Return what goes wrong with a mask only."""
    late, added, times, unused, inverted = (
        attention_class(base, masked=masked)
        for masked in (None, torch.add, torch.mul, lambda scores, mask: scores, upside_down)
    )
    high, infinite = (
        attention_class(base, masked=lambda scores, mask, fill=fill: scores.masked_fill(~mask, fill))
        for fill in (1e9, torch.inf)
    )
    return [
        (late, "The mask comes after softmax: what do the rows of weights add up to?"),
        (added, "The mask is added, so True adds 1 to a score: what takes a word out?"),
        (times, "A forbidden score becomes 0, or nearly 0: which weight does softmax give to a score of 0?"),
        (unused, "The mask changes nothing: words look where they may not. Which step uses it?"),
        (high, "Forbidden scores become the highest of all: who gets the weight then?"),
        (
            infinite,
            "Forbidden scores become +∞, and softmax cannot share that out: which score gives no weight?",
        ),
        (inverted, "Words look exactly where they may not: does masked_fill write −∞ at True or at False?"),
    ]


def upside_down(scores, mask):
    return scores.masked_fill(mask, -torch.inf)

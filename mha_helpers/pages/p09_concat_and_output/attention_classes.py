"""Classes of attention for the exercises of page 09: the right one, and those with one mistake each."""

import torch
from torch import nn

from mha_helpers import attention
from mha_helpers.masks import causal_mask

COURSE_STEPS = [
    name for name, step in vars(attention).items() if getattr(step, "__module__", "") == attention.__name__
]


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
    unmasked=lambda scores: scores,
    axis=-1,
    share=torch.softmax,
    late_root=lambda d_k: 1,
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
            if mask is None:
                scores = unmasked(scores)
            elif masked:
                scores = masked(scores, mask)
            weights = share(scores, dim=axis) / late_root(q.shape[-1])
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
    no_last = attention_class(base, last=lambda layer, concat, x: concat)
    residual = attention_class(base, last=lambda layer, concat, x: layer.w_o(concat) + x)
    return [
        (keys_ask, "The keys ask and the queries answer: whose rows must the scores have?"),
        (other_names, "Keys and values have changed places: which of the two do the queries meet?"),
        (mixes_by_key, "The weights are right, but turned on their side before they meet the values."),
        (raw_values, "The weights are right, but they mix x itself: which projection is left out?"),
        (no_last, "The heads are side by side, but do they mix? One of the layers does nothing yet."),
        (residual, "The weights are right, and x is added to the output: that is the step after this class."),
    ]


def score_mistakes(base):
    """Return what goes wrong on the way from scores to weights, also with one head and without a mask."""
    raw = attention_class(base, share=lambda scores, dim: scores)
    no_later = attention_class(
        base, share=lambda scores, dim: _hidden(scores, causal_mask(scores.shape[-1])).softmax(dim)
    )
    by_words = attention_class(
        base, root=lambda *_: 1, share=lambda scores, dim: (scores / scores.shape[-1] ** 0.5).softmax(dim)
    )
    by_heads = attention_class(base, root=lambda d_k, d_model: (d_model // d_k) ** 0.5)
    causal = attention_class(base, unmasked=lambda scores: _hidden(scores, causal_mask(scores.shape[-1])))
    late = attention_class(base, root=lambda *_: 1, late_root=lambda d_k: d_k**0.5)
    fixed = "You divide by the same number whatever d_k is: how does the spread of a score grow?"
    return [
        (raw, "Your weights are scores: which step makes shares that add up to 1 of them?"),
        (no_later, "No word looks at a later one, whatever the mask says: who decides that?"),
        (causal, "Without a mask no word looks at a later one: what does mask=None mean?"),
        (late, "You divide weights by √d_k, not scores: what must each row of weights add up to?"),
        (by_words, "You divide by √n, the root of the number of words: what does one score add up?"),
        (by_heads, "You divide by √num_heads: how many products does one score of one head add up?"),
        *((attention_class(base, root=lambda *_, number=number: number), fixed) for number in (2**0.5, 2, 8)),
    ]


def cut_mistakes(base):
    """Return what goes wrong in a cut that looks right and counts along another axis, also with one head."""

    def left(x, num_heads):
        return x.unflatten(-1, (num_heads, -1))

    def back(heads):
        return heads.transpose(1, 2).reshape(len(heads), heads.shape[1], -1)

    def exchanged(x, num_heads):
        return x.unflatten(-1, (-1, num_heads)).transpose(1, 2)

    def turned_first(x, num_heads):
        return x.mT.reshape(len(x), num_heads, x.shape[1], -1)

    not_turned = "Each word's heads meet one another: which two axes are left for the products q @ kᵀ?"
    return [
        (attention_class(base, cut=left, merge=lambda heads: heads.flatten(2)), not_turned),
        (attention_class(base, cut=left, merge=back), not_turned),
        *(
            (attention_class(base, cut=exchanged, root=root), "You cut d_k heads of num_heads features.")
            for root in (lambda d_k, _: d_k**0.5, lambda d_k, d_model: (d_model // d_k) ** 0.5)
        ),
        (attention_class(base, cut=turned_first), "You turn, then reshape: the rows of a head mix words."),
    ]


def layers_as_matrices(base):
    """Return what goes wrong where the weights of four layers are multiplied by hand."""

    def by_hand(turn):
        def project(layer, x):
            return [x @ turn(part.weight) for part in (layer.w_q, layer.w_k, layer.w_v)]

        return attention_class(base, project=project)

    words = "You multiply by the weights yourself, without biases: what more does a layer do when called?"
    return [(by_hand(turn), words) for turn in (lambda w: w, lambda w: w.T)]


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
    highest = (
        attention_class(base, masked=lambda scores, mask, fill=fill: scores.masked_fill(~mask, fill))
        for fill in (1e9, torch.inf)
    )
    return [
        (late, "The mask comes after softmax: what do the rows of weights add up to?"),
        (added, "The mask is added, so True adds 1 to a score: what takes a word out?"),
        (times, "A forbidden score becomes 0, or nearly 0: which weight does softmax give to a score of 0?"),
        (unused, "The mask changes nothing: words look where they may not. Which step uses it?"),
        *(
            (fill, "Forbidden scores become the highest, or +∞: which score gives no weight?")
            for fill in highest
        ),
        (inverted, "Words look exactly where they may not: does masked_fill write −∞ at True or at False?"),
    ]


def upside_down(scores, mask):
    return scores.masked_fill(mask, -torch.inf)

"""Multi-head attention, one function per step, in the order in which the course teaches them.

Axis letters: ``b`` batch, ``h`` heads, ``n`` tokens (``n_q`` queries and ``n_k`` keys where they
differ), ``d_model``, ``d_k``, ``d_v``. Rows are queries, columns are keys. ``…`` stands for any
number of leading axes. Nothing is changed in place and nothing is printed.

"The paper" is Vaswani et al. (2017), "Attention Is All You Need".
"""

import math
from dataclasses import dataclass

import torch
from torch import nn
from torch.nn import functional as F

from mha_helpers.checks import (
    check_axes,
    check_count,
    check_divisible,
    check_dtypes,
    check_leading_axes,
    check_mask,
    check_mask_axes,
    check_tensors,
)


def project_qkv(x, w_q, w_k, w_v):
    """Turn each token into a query, a key and a value: ``x @ w_q``, ``x @ w_k``, ``x @ w_v``.

    Shapes: x ``(…, n, d_model)``, w_q and w_k ``(d_model, d_k)``, w_v ``(d_model, d_v)``
    -> q and k ``(…, n, d_k)``, v ``(…, n, d_v)``.
    Taught in notebook 02. Source: the paper, section 3.2.2.

    Raises ``TypeError`` for anything but floating-point tensors, ``ValueError`` where sizes do not fit.

    >>> x = torch.tensor([[1.0, 2.0]])
    >>> w = torch.tensor([[1.0, 0.0], [0.0, 3.0]])
    >>> project_qkv(x, w, 2 * w, -w)
    (tensor([[1., 6.]]), tensor([[ 2., 12.]]), tensor([[-1., -6.]]))
    """
    check_tensors(x=x, w_q=w_q, w_k=w_k, w_v=w_v)
    check_dtypes(x=x, w_q=w_q, w_k=w_k, w_v=w_v)
    check_axes("x", x, "(…, n, d_model)")
    for name, w in {"w_q": w_q, "w_k": w_k, "w_v": w_v}.items():
        if w.dim() != 2 or w.shape[0] != x.shape[-1]:
            raise ValueError(
                f"{name} must have shape (d_model, d) with d_model = {x.shape[-1]}, the size of the last"
                f" axis of x {tuple(x.shape)}; got {tuple(w.shape)}."
                + (f" Try {name}.T." if w.dim() == 2 and w.shape[1] == x.shape[-1] else "")
            )
    return x @ w_q, x @ w_k, x @ w_v


def attention_scores(q, k):
    """Compare every query with every key by a dot product: ``q @ k.transpose(-2, -1)``.

    Shapes: q ``(…, n_q, d_k)``, k ``(…, n_k, d_k)`` -> ``(…, n_q, n_k)``.
    Taught in notebook 03. Source: the paper, equation 1.

    Raises ``TypeError`` for anything but floating-point tensors, ``ValueError`` where sizes do not fit.

    >>> attention_scores(torch.tensor([[1.0, 2.0]]), torch.tensor([[3.0, 1.0], [0.0, -1.0]]))
    tensor([[ 5., -2.]])
    """
    check_tensors(q=q, k=k)
    check_dtypes(q=q, k=k)
    check_axes("q", q, "(…, n_q, d_k)")
    check_axes("k", k, "(…, n_k, d_k)")
    if q.shape[-1] != k.shape[-1]:
        raise ValueError(
            f"a query and a key need the same number of features: the last axis of q is {q.shape[-1]},"
            f" that of k is {k.shape[-1]} (q {tuple(q.shape)}, k {tuple(k.shape)})."
        )
    check_leading_axes("q", q, "k", k)
    return q @ k.transpose(-2, -1)  # (…, n_q, d_k) @ (…, d_k, n_k) -> (…, n_q, n_k)


def scale_scores(scores, d_k):
    """Divide the scores by √d_k: random scores then have a spread near 1 for every d_k.

    Shape: ``(…, n_q, n_k)`` -> same. ``d_k`` is the number of features of **one head**.
    Taught in notebook 04. Source: the paper, section 3.2.1, footnote 4.

    Raises ``TypeError`` if scores is no tensor or d_k no whole number, ``ValueError`` if d_k < 1.

    >>> scale_scores(torch.tensor([[8.0, 2.0]]), d_k=4)
    tensor([[4., 1.]])
    """
    check_tensors(scores=scores)
    check_count("d_k", d_k)
    return scores / math.sqrt(d_k)


def mask_scores(scores, mask):
    """Set the score of every key that may not be attended to −∞. True in the mask = may attend.

    Shapes: scores ``(…, n_q, n_k)``, mask bool, broadcastable to scores -> same as scores.
    Taught in notebook 05. Source: the paper, section 3.2.3.

    Raises ``TypeError`` if the mask is not bool or the scores are no floating-point tensor, ``ValueError``
    if the mask does not fit the scores.

    >>> mask_scores(torch.tensor([[1.0, 2.0]]), torch.tensor([[True, False]]))
    tensor([[1., -inf]])
    """
    check_tensors(scores=scores, mask=mask)
    check_dtypes(scores=scores)
    check_axes("scores", scores, "(…, n_q, n_k)")
    check_mask(mask, scores.shape)
    return scores.masked_fill(~mask, -math.inf)


def attention_weights(scores):
    """Softmax over the keys: no weight is negative, and each row sums to 1.

    A row without any key left (all −∞) becomes zeros, as in PyTorch's fused kernel; a plain
    softmax would give NaN.

    Shape: ``(…, n_q, n_k)`` -> same. Taught in notebook 06. Source: the paper, equation 1.

    Raises ``TypeError`` if scores is no floating-point tensor, ``ValueError`` if it has fewer than two
    axes. Looks at the numbers of one column, so it cannot run under ``torch.func.vmap`` or on "meta".

    >>> attention_weights(torch.tensor([[0.0, 0.0], [3.0, -math.inf], [-math.inf, -math.inf]]))
    tensor([[0.5000, 0.5000],
            [1.0000, 0.0000],
            [0.0000, 0.0000]])
    """
    check_tensors(scores=scores)
    check_dtypes(scores=scores)
    check_axes("scores", scores, "(…, n_q, n_k)")
    return _softmax_over_keys(scores)


def _softmax_over_keys(scores):
    # A row without a key has -inf everywhere, so first of all in column 0: one column tells
    # in most calls that there is no such row, without reading all n_q * n_k scores.
    if not torch.isneginf(scores[..., :1]).any():
        return torch.softmax(scores, dim=-1)
    no_key_left = torch.isneginf(scores).all(dim=-1, keepdim=True)  # (…, n_q, n_k) -> (…, n_q, 1)
    # Filled before the softmax, not only after it: the gradient of a NaN would be NaN.
    weights = torch.softmax(scores.masked_fill(no_key_left, 0.0), dim=-1)
    return weights.masked_fill(no_key_left, 0.0)


def weighted_values(weights, v):
    """Mix the values of all keys in the proportions that the weights give: ``weights @ v``.

    Shapes: weights ``(…, n_q, n_k)``, v ``(…, n_k, d_v)`` -> ``(…, n_q, d_v)``.
    Taught in notebook 07. Source: the paper, equation 1.

    Raises ``TypeError`` for anything but floating-point tensors, ``ValueError`` where sizes do not fit.

    >>> weighted_values(torch.tensor([[0.75, 0.25]]), torch.tensor([[4.0, 0.0], [0.0, 8.0]]))
    tensor([[3., 2.]])
    """
    check_tensors(weights=weights, v=v)
    check_dtypes(weights=weights, v=v)
    check_axes("weights", weights, "(…, n_q, n_k)")
    check_axes("v", v, "(…, n_k, d_v)")
    if weights.shape[-1] != v.shape[-2]:
        raise ValueError(
            f"every key needs one weight and one value: weights {tuple(weights.shape)} has"
            f" {weights.shape[-1]} keys, v {tuple(v.shape)} has {v.shape[-2]}."
        )
    check_leading_axes("weights", weights, "v", v)
    return weights @ v  # (…, n_q, n_k) @ (…, n_k, d_v) -> (…, n_q, d_v)


def scaled_dot_product_attention(q, k, v, mask=None):
    """Attention of one head, or of many at once on a leading axis: steps 03 to 07 in a row.

    Shapes: q ``(…, n_q, d_k)``, k ``(…, n_k, d_k)``, v ``(…, n_k, d_v)``, mask bool, broadcastable
    to ``(…, n_q, n_k)``, True = may attend -> output ``(…, n_q, d_v)``, weights ``(…, n_q, n_k)``.
    Taught in notebook 07. Source: the paper, equation 1.

    Raises what its steps raise.

    >>> q = k = torch.zeros(2, 4)
    >>> output, weights = scaled_dot_product_attention(q, k, torch.tensor([[2.0], [6.0]]))
    >>> output
    tensor([[4.],
            [4.]])
    """
    scores = attention_scores(q, k)
    scores = scale_scores(scores, d_k=q.shape[-1])
    if mask is not None:
        scores = mask_scores(scores, mask)
    weights = attention_weights(scores)
    return weighted_values(weights, v), weights


def split_heads(x, num_heads):
    """Cut the features of every token into ``num_heads`` pieces, one for each head.

    Shape: ``(…, n, h·d)`` -> ``(…, h, n, d)``.
    Taught in notebook 08. Source: the paper, section 3.2.2.

    Raises ``TypeError`` for wrong types, ``ValueError`` if the features do not divide evenly.

    >>> split_heads(torch.tensor([[1, 2, 3, 4], [5, 6, 7, 8]]), num_heads=2)
    tensor([[[1, 2],
             [5, 6]],
    <BLANKLINE>
            [[3, 4],
             [7, 8]]])
    """
    check_tensors(x=x)
    check_axes("x", x, "(…, n, h·d)")
    check_divisible("the last axis of x", x.shape[-1], num_heads)
    return _split(x, num_heads)


def _split(x, num_heads):
    # unflatten names the axis it cuts, so tokens stay whole: (…, n, h·d) -> (…, n, h, d)
    return x.unflatten(-1, (num_heads, -1)).transpose(-3, -2)  # (…, n, h, d) -> (…, h, n, d)


def merge_heads(x):
    """Put the heads of every token side by side again: the inverse of ``split_heads``.

    Shape: ``(…, h, n, d)`` -> ``(…, n, h·d)``.
    Taught in notebook 09. Source: the paper, section 3.2.2 ("Concat").

    Raises ``TypeError`` if x is no tensor, ``ValueError`` if it has fewer than three axes.

    >>> merge_heads(torch.tensor([[[1, 2], [5, 6]], [[3, 4], [7, 8]]]))
    tensor([[1, 2, 3, 4],
            [5, 6, 7, 8]])
    """
    check_tensors(x=x)
    check_axes("x", x, "(…, h, n, d)")
    return _merge(x)


def _merge(x):
    return x.transpose(-3, -2).flatten(-2)  # (…, h, n, d) -> (…, n, h, d) -> (…, n, h·d)


@dataclass(frozen=True, eq=False)  # == of tensors is no single True or False
class AttentionTrace:
    """Every intermediate of one pass through ``MultiHeadAttention``, in order. See notebook 09."""

    x: torch.Tensor  # (b, n, d_model)
    q: torch.Tensor  # (b, h, n, d_k)
    k: torch.Tensor  # (b, h, n, d_k)
    v: torch.Tensor  # (b, h, n, d_v)
    scores: torch.Tensor  # (b, h, n, n)
    scaled: torch.Tensor  # (b, h, n, n)
    masked: torch.Tensor  # (b, h, n, n)
    weights: torch.Tensor  # (b, h, n, n)
    heads: torch.Tensor  # (b, h, n, d_v)
    concat: torch.Tensor  # (b, n, h·d_v)
    output: torch.Tensor  # (b, n, d_model)


def _is_usual_mask(mask, n):
    return isinstance(mask, torch.Tensor) and mask.dtype == torch.bool and mask.shape == (n, n)


class MultiHeadAttention(nn.Module):
    """Multi-head self-attention with d_k = d_v = d_model / num_heads, without dropout.

    Shapes: x ``(b, n, d_model)`` -> output ``(b, n, d_model)``, weights ``(b, h, n, n)``. An x without
    a batch axis works too; then the others have none either.
    Taught in notebook 09. Source: the paper, section 3.2.2.

    Raises ``TypeError`` for wrong types, ``ValueError`` for sizes that do not fit.

    >>> attention = MultiHeadAttention(d_model=8, num_heads=2)
    >>> output, weights = attention(torch.zeros(1, 3, 8))
    >>> output.shape, weights.shape
    (torch.Size([1, 3, 8]), torch.Size([1, 2, 3, 3]))
    """

    def __init__(self, d_model, num_heads, bias=True):
        super().__init__()
        check_count("d_model", d_model)
        check_divisible("d_model", d_model, num_heads)
        self.d_model = d_model
        self.num_heads = num_heads
        self.d_k = d_model // num_heads
        self.w_q = nn.Linear(d_model, d_model, bias=bias)
        self.w_k = nn.Linear(d_model, d_model, bias=bias)
        self.w_v = nn.Linear(d_model, d_model, bias=bias)
        self.w_o = nn.Linear(d_model, d_model, bias=bias)

    def extra_repr(self):
        return f"d_model={self.d_model}, num_heads={self.num_heads}, d_k={self.d_k}"

    def forward(self, x, mask=None, need_weights=True):
        """Return ``(output, weights)``; with ``need_weights=False`` ``(output, None)``, which is faster.

        mask: bool, True = may attend, ``(n, n)`` for all, or with every axis: ``(b, 1, 1, n)``,
        ``(b, 1, n, n)``, ``(1, h, n, n)``, ``(b, h, n, n)``.
        """
        self._check(x, mask)
        q, k, v = self._q_k_v(x)
        if not need_weights:
            return self.w_o(_merge(F.scaled_dot_product_attention(q, k, v, attn_mask=mask))), None
        # The steps of scaled_dot_product_attention, quicker: x and mask are checked by now, and on few tokens
        # to check each step's input again takes as long as two of the products. The query is divided, not the
        # scores: n·d_k numbers in place of n·n, which saves a fifth of the time and more on 1024 tokens.
        scores = (q / math.sqrt(self.d_k)) @ k.transpose(-2, -1)  # -> (b, h, n, n)
        if mask is not None:
            scores = torch.where(mask, scores, -math.inf)  # masked_fill would copy the scores first
        # Most masks let every query see the first key. To ask this column of the mask is quicker than to ask
        # that of the scores, which may carry gradients.
        if mask is None or mask[..., :1].all():
            weights = torch.softmax(scores, dim=-1)
        else:
            weights = _softmax_over_keys(scores)
        return self.w_o(_merge(weights @ v)), weights

    def trace(self, x, mask=None):
        """Do the same as ``forward``, and return every intermediate as an ``AttentionTrace``.

        Here the scores are divided by √d_k, as in notebook 04; there the query is, which is quicker. So the
        last digits may differ, and in float16 scores may overflow here that do not overflow there.
        """
        self._check(x, mask)
        q, k, v = self._q_k_v(x)
        scores = attention_scores(q, k)
        scaled = scale_scores(scores, self.d_k)
        masked = scaled if mask is None else mask_scores(scaled, mask)
        weights = attention_weights(masked)
        heads = weighted_values(weights, v)
        concat = merge_heads(heads)
        output = self.w_o(concat)
        return AttentionTrace(x, q, k, v, scores, scaled, masked, weights, heads, concat, output)

    def _q_k_v(self, x):
        q = _split(self.w_q(x), self.num_heads)  # (b, n, d_model) -> (b, h, n, d_k)
        k = _split(self.w_k(x), self.num_heads)
        v = _split(self.w_v(x), self.num_heads)
        return q, k, v

    def _check(self, x, mask):
        # Most calls are right, and on few tokens each check takes as long as a small product. So two quick
        # looks first; what they do not know is looked at check by check.
        if not self._is_usual(x):
            self._check_x(x)
        if mask is not None and not _is_usual_mask(mask, x.shape[-2]):
            scores_shape = (*x.shape[:-2], self.num_heads, x.shape[-2], x.shape[-2])
            check_tensors(mask=mask)
            check_mask_axes(mask, scores_shape)
            check_mask(mask, scores_shape)

    def _is_usual(self, x):
        if not isinstance(x, torch.Tensor) or x.dtype != self.w_q.weight.dtype:
            return False
        return x.is_floating_point() and x.dim() > 1 and x.shape[-1] == self.d_model

    def _check_x(self, x):
        check_tensors(x=x)
        check_dtypes(weight=self.w_q.weight, x=x)
        check_axes("x", x, "(…, n, d_model)")
        if x.shape[-1] != self.d_model:
            raise ValueError(
                f"the last axis of x must be d_model = {self.d_model}, got x {tuple(x.shape)}"
                f" whose last axis is {x.shape[-1]}."
            )

    @classmethod
    def from_torch(cls, module):
        """Copy the weights of a ``torch.nn.MultiheadAttention``; the result gives the same numbers.

        Mind the mask: hand ``~mask`` to the module where this class takes ``mask``. Dropout is not
        copied, so compare with ``module.eval()``.

        Raises ``TypeError`` for another kind of module, ``ValueError`` for options this class leaves
        out: kdim or vdim other than d_model, add_bias_kv, add_zero_attn.
        """
        if not isinstance(module, nn.MultiheadAttention):
            raise TypeError(f"module must be a torch.nn.MultiheadAttention, got {type(module).__name__}.")
        if module.in_proj_weight is None:
            raise ValueError(
                f"module has kdim = {module.kdim} and vdim = {module.vdim}; only modules in which both"
                f" equal embed_dim = {module.embed_dim} can be copied."
            )
        if module.bias_k is not None or module.add_zero_attn:
            option = "add_zero_attn" if module.bias_k is None else "add_bias_kv"
            raise ValueError(f"module was made with {option}=True, which has no counterpart: leave it out.")
        bias = module.in_proj_bias is not None
        with torch.random.fork_rng(devices=[]):  # the caller's own random numbers stay as they are
            copy = cls(module.embed_dim, module.num_heads, bias=bias).to(module.in_proj_weight)
        with torch.no_grad():
            parts = zip((copy.w_q, copy.w_k, copy.w_v), module.in_proj_weight.chunk(3), strict=True)
            for linear, weight in parts:
                linear.weight.copy_(weight)
            copy.w_o.weight.copy_(module.out_proj.weight)
            if bias:
                parts = zip((copy.w_q, copy.w_k, copy.w_v), module.in_proj_bias.chunk(3), strict=True)
                for linear, part in parts:
                    linear.bias.copy_(part)
                copy.w_o.bias.copy_(module.out_proj.bias)
        return copy.train(module.training)

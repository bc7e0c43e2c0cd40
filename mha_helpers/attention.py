"""Multi-head attention, one function per step, in the order in which the course teaches them.

Axis letters: ``b`` batch, ``h`` heads, ``n`` tokens (``n_q`` queries and ``n_k`` keys where they differ),
``d_model``, ``d_k``, ``d_v``. Rows are queries, columns are keys. ``…`` stands for any number of leading
axes. Nothing is changed in place. "The paper" is Vaswani et al. (2017), "Attention Is All You Need".
"""

import copy
import math
from dataclasses import dataclass

import torch
from torch import nn
from torch.nn import functional as F

from mha_helpers import checks
from mha_helpers.masks import check_mask


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
    checks.check_projections(x, w_q=w_q, w_k=w_k, w_v=w_v)
    return x @ w_q, x @ w_k, x @ w_v


def attention_scores(q, k):
    """Compare every query with every key by a dot product: ``q @ k.transpose(-2, -1)``.

    Shapes: q ``(…, n_q, d_k)``, k ``(…, n_k, d_k)`` -> ``(…, n_q, n_k)``.
    Taught in notebook 03. Source: the paper, equation 1.
    Raises ``TypeError`` for anything but floating-point tensors, ``ValueError`` where sizes do not fit.

    >>> attention_scores(torch.tensor([[1.0, 2.0]]), torch.tensor([[3.0, 1.0], [0.0, -1.0]]))
    tensor([[ 5., -2.]])
    """
    checks.check_queries_and_keys(q, k)
    return q @ k.transpose(-2, -1)  # (…, n_q, d_k) @ (…, d_k, n_k) -> (…, n_q, n_k)


def scale_scores(scores, d_k):
    """Divide the scores by √d_k: random scores then have a spread near 1 for every d_k.

    Shape: ``(…, n_q, n_k)`` -> same. ``d_k`` is the number of features of **one head**.
    Taught in notebook 04. Source: the paper, section 3.2.1, footnote 4.
    Raises ``TypeError`` if scores is no tensor or d_k no whole number, ``ValueError`` if d_k < 1.

    >>> scale_scores(torch.tensor([[8.0, 2.0]]), d_k=4)
    tensor([[4., 1.]])
    """
    checks.check_tensors(scores=(scores, "(…, n_q, n_k)"))
    checks.check_count("d_k", d_k)
    return scores / math.sqrt(d_k)


def mask_scores(scores, mask):
    """Set the score of every key that may not be attended to −∞. True in the mask = may attend.

    Shapes: scores ``(…, n_q, n_k)``, mask bool, ``(n_q, n_k)`` or with every axis of the scores, each
    as long as theirs or 1 -> same as scores.
    Taught in notebook 05. Source: the paper, section 3.2.3.
    Raises ``TypeError`` if the mask is not bool or the scores are no floating-point tensor, ``ValueError`` if
    the mask does not fit the scores.

    >>> mask_scores(torch.tensor([[1.0, 2.0]]), torch.tensor([[True, False]]))
    tensor([[1., -inf]])
    """
    checks.check_floats(scores=(scores, "(…, n_q, n_k)"))
    check_mask(mask, scores.shape)
    return torch.where(mask, scores, -math.inf)  # scores.masked_fill(~mask, -math.inf) in half the time


def attention_weights(scores):
    """Softmax over the keys: no weight is negative, and each row sums to 1.

    A row without any key left (all −∞) becomes zeros, as in PyTorch's fused kernel; a plain softmax would
    give NaN.

    Shape: ``(…, n_q, n_k)`` -> same. Taught in notebook 06. Source: the paper, equation 1.
    Raises ``TypeError`` if scores is no floating-point tensor, ``ValueError`` if it has fewer than two axes.

    >>> attention_weights(torch.tensor([[0.0, 0.0], [3.0, -math.inf], [-math.inf, -math.inf]]))
    tensor([[0.5000, 0.5000],
            [1.0000, 0.0000],
            [0.0000, 0.0000]])
    """
    checks.check_floats(scores=(scores, "(…, n_q, n_k)"))
    largest = scores.amax(dim=-1, keepdim=True)  # (…, n_q, n_k) -> (…, n_q, 1)
    has_key = largest != -math.inf
    # A row without any key is raised to 0 before the softmax, because the gradient of a NaN would be NaN.
    floor = torch.zeros_like(largest).masked_fill(has_key, -math.inf)
    return torch.softmax(scores.clamp(min=floor), dim=-1) * has_key


def weighted_values(weights, v):
    """Mix the values of all keys in the proportions that the weights give: ``weights @ v``.

    Shapes: weights ``(…, n_q, n_k)``, v ``(…, n_k, d_v)`` -> ``(…, n_q, d_v)``.
    Taught in notebook 07. Source: the paper, equation 1.
    Raises ``TypeError`` for anything but floating-point tensors, ``ValueError`` where sizes do not fit.

    >>> weighted_values(torch.tensor([[0.75, 0.25]]), torch.tensor([[4.0, 0.0], [0.0, 8.0]]))
    tensor([[3., 2.]])
    """
    checks.check_weights_and_values(weights, v)
    return weights @ v  # (…, n_q, n_k) @ (…, n_k, d_v) -> (…, n_q, d_v)


def scaled_dot_product_attention(q, k, v, mask=None):
    """Attention of one head, or of many at once on a leading axis: steps 03 to 07 in a row.

    Shapes: q ``(…, n_q, d_k)``, k ``(…, n_k, d_k)``, v ``(…, n_k, d_v)``, mask as in ``mask_scores``
    -> output ``(…, n_q, d_v)``, weights ``(…, n_q, n_k)``: softmax(q kᵀ / √d_k) v.
    Taught in notebook 07. Source: the paper, equation 1. Raises what its steps raise.

    >>> q = k = torch.zeros(2, 4)
    >>> output, weights = scaled_dot_product_attention(q, k, torch.tensor([[2.0], [6.0]]))
    >>> output
    tensor([[4.],
            [4.]])
    """
    scores = attention_scores(q / q.shape[-1] ** 0.5, k)  # divided first, so that float16 holds the products
    if mask is None:
        weights = torch.softmax(scores, dim=-1)  # attention_weights(scores), for no row lacks a key
    else:
        check_mask(mask, scores.shape)
        weights = _masked_weights(scores, mask)
    return weighted_values(weights, v), weights


def _masked_weights(scores, mask):
    """``attention_weights(mask_scores(scores, mask))``; a row without a key is looked for in the mask."""
    has_key = mask.any(dim=-1, keepdim=True)  # (…, n_q, n_k) -> (…, n_q, 1)
    # A row without any key (False == False) keeps its scores in softmax, because a NaN's gradient is NaN.
    masked = torch.where(mask == has_key, scores, -math.inf)
    return torch.softmax(masked, dim=-1) * has_key


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
    checks.check_tensors(x=(x, "(…, n, h·d)"))
    checks.check_divisible("the last axis of x", x.shape[-1], num_heads)
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
    checks.check_tensors(x=(x, "(…, h, n, d)"))
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


class MultiHeadAttention(nn.Module):
    """Multi-head self-attention with d_k = d_v = d_model / num_heads, without dropout.

    Shapes: x ``(b, n, d_model)`` -> output ``(b, n, d_model)``, weights ``(b, h, n, n)``. An x without a
    batch axis works too; then the others have none either. mask: bool, True = may attend, ``(n, n)`` for all,
    or with every axis: ``(b, 1, 1, n)``, ``(b, 1, n, n)``, ``(1, h, n, n)``, ``(b, h, n, n)``.
    Options are named, because the third argument of PyTorch's layer is dropout. ``qkv_bias=False`` leaves out
    the biases of queries, keys and values alone; None: as ``bias`` says.
    Taught in notebook 09. Source: the paper, section 3.2.2.
    Raises ``TypeError`` for wrong types, ``ValueError`` for sizes that do not fit.

    >>> attention = MultiHeadAttention(d_model=8, num_heads=2)
    >>> output, weights = attention(torch.zeros(1, 3, 8))
    >>> output.shape, weights.shape
    (torch.Size([1, 3, 8]), torch.Size([1, 2, 3, 3]))
    """

    def __init__(self, d_model, num_heads, *, bias=True, qkv_bias=None):
        super().__init__()
        checks.check_count("d_model", d_model)
        checks.check_divisible("d_model", d_model, num_heads)
        self.d_model = d_model
        self.num_heads = num_heads
        self.d_k = d_model // num_heads
        qkv_bias = bias if qkv_bias is None else qkv_bias
        self.w_q = nn.Linear(d_model, d_model, bias=qkv_bias)
        self.w_k = nn.Linear(d_model, d_model, bias=qkv_bias)
        self.w_v = nn.Linear(d_model, d_model, bias=qkv_bias)
        self.w_o = nn.Linear(d_model, d_model, bias=bias)

    def extra_repr(self):
        return f"d_model={self.d_model}, num_heads={self.num_heads}, d_k={self.d_k}"

    def __call__(self, *given, **named):
        if type(self).forward.__module__ == __name__:  # a subclass may take what it likes
            checks.check_layer_call(*given, **named)  # what other layers are handed: an error says what to do
        return super().__call__(*given, **named)

    def forward(self, x, mask=None, *, need_weights=True):
        """Return ``(output, weights)``; with ``need_weights=False`` ``(output, None)``, which is faster."""
        q, k, v = self._project_and_split(x)
        if need_weights:
            heads, weights = scaled_dot_product_attention(q, k, v, mask)
        else:  # PyTorch's own kernel: the same output, without ever holding all the weights
            if mask is not None:
                check_mask(mask, (*q.shape[:-1], k.shape[-2]))
            heads, weights = F.scaled_dot_product_attention(q, k, v, attn_mask=mask), None
        return self.w_o(merge_heads(heads)), weights

    def trace(self, x, mask=None):
        """Take the same steps as ``forward``, and return every intermediate as an ``AttentionTrace``."""
        q, k, v = self._project_and_split(x)
        scores = attention_scores(q, k)  # for the eye: the next line does not need them
        scaled = attention_scores(q / self.d_k**0.5, k)
        masked = scaled if mask is None else mask_scores(scaled, mask)
        weights = attention_weights(masked)
        heads = weighted_values(weights, v)
        concat = merge_heads(heads)
        output = self.w_o(concat)
        return AttentionTrace(x, q, k, v, scores, scaled, masked, weights, heads, concat, output)

    def _project_and_split(self, x):
        checks.check_layer_input(x, self.w_q, self.d_model)
        # (b, n, d_model) -> (b, h, n, d_k), three times
        return [split_heads(layer(x), self.num_heads) for layer in (self.w_q, self.w_k, self.w_v)]

    def __prepare_scriptable__(self):
        """Return what ``torch.jit.script`` is to read in place of this layer."""
        if type(self).forward.__module__ != __name__:
            return self
        scriptable = copy.copy(self)
        scriptable.__class__ = _Scriptable
        return scriptable

    @classmethod
    def from_torch(cls, module):
        """Copy the weights of a ``torch.nn.MultiheadAttention``; the result gives the same numbers.

        Device, number type, mode and which weights are frozen are the module's. Here x is ``(b, n, d_model)``
        whatever its ``batch_first`` says. Mind the mask: hand ``~mask`` to the module where this class takes
        ``mask``. Dropout is not copied, so compare with ``module.eval()``. How the copy goes into PyTorch's
        blocks is on the page deeper/09_in_your_own_model.

        Raises ``TypeError`` for another kind of module, also for a subclass with a ``forward`` of its own,
        ``ValueError`` for what this class leaves out: kdim, vdim, add_bias_kv, add_zero_attn.
        """
        kind = type(module)
        if kind.forward is not nn.MultiheadAttention.forward:
            other = f"{kind.__module__}.{kind.__name__} has a forward of its own"
            raise TypeError(f"module must be a torch.nn.MultiheadAttention: {other}.")
        if module.in_proj_weight is None or module.bias_k is not None or module.add_zero_attn:
            options = "kdim, vdim, add_bias_kv or add_zero_attn"
            raise ValueError(f"module uses {options}: none has a counterpart here.")
        bias = module.in_proj_bias is not None
        given = module.in_proj_weight
        # Where the module is, not on the default device; the caller's own random numbers stay as they are.
        with torch.random.fork_rng(devices=[]), given.device:
            ours = cls(module.embed_dim, module.num_heads, bias=bias).to(given.dtype)
        for part in ("weight", "bias") if bias else ("weight",):
            fused, output = getattr(module, f"in_proj_{part}"), getattr(module.out_proj, part)
            for name, values in zip(("w_q", "w_k", "w_v", "w_o"), (*fused.chunk(3), output), strict=True):
                parameter = getattr(getattr(ours, name), part)
                parameter.data.copy_(values)
                parameter.requires_grad_((output if name == "w_o" else fused).requires_grad)
        return ours.train(module.training)


class _Scriptable(MultiHeadAttention):
    """The same without checks, and with types: TorchScript has no options that can be named only."""

    def forward(
        self, x: torch.Tensor, mask: torch.Tensor | None = None, need_weights: bool = True
    ) -> tuple[torch.Tensor, torch.Tensor | None]:
        heads = (self.num_heads, self.d_k)
        q = self.w_q(x).unflatten(-1, heads).transpose(-3, -2)  # (b, n, d_model) -> (b, h, n, d_k)
        k = self.w_k(x).unflatten(-1, heads).transpose(-3, -2)
        v = self.w_v(x).unflatten(-1, heads).transpose(-3, -2)
        scores = q / self.d_k**0.5 @ k.transpose(-2, -1)
        weights = torch.softmax(scores, dim=-1) if mask is None else _masked_weights(scores, mask)
        output = self.w_o((weights @ v).transpose(-3, -2).flatten(-2))
        return output, weights if need_weights else None

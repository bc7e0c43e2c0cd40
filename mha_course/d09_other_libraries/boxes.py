"""Five attentions for exercise D9.5, each doing what a library does that was measured."""

import math

import torch

# How it reads a bool mask, a row without a key, the causal flag, mask and flag together, shared heads: as the
# library does in whose name it is told here. `tests/pages/test_d09_other_libraries.py` compares.
BEHAVIOUR = {
    "A": ("nn.MultiheadAttention, weights asked for", "hidden", math.nan, "top left", "mask", "each"),
    "B": ("keras.ops.dot_product_attention on jax", "may", "mean", "top left", "both", "each"),
    "C": ("mlx.core.fast.scaled_dot_product_attention", "may", "mean", "bottom right", "both", "each"),
    "D": ("openvino.opset13.scaled_dot_product_attention", "may", math.nan, "top left", "flag", "each"),
    "E": ("x_transformers.Attend", "may", 0.0, "bottom right", "both", "in turn"),
}


def boxes():
    """Return five functions ``attend(q, k, v, mask=None, causal=False)`` by name, "A" to "E". Used in D9.5.

    Shapes: q ``(b, h, n_q, d)``, k and v ``(b, h_k, n_k, d)``, or all three without b; mask bool
    ``(n_q, n_k)`` -> as q. Raises ValueError for a tensor without an axis of heads.
    """
    return {name: _box(*behaviour[1:]) for name, behaviour in BEHAVIOUR.items()}


def _box(true_means, empty, corner, obeyed, heads):
    def attend(q, k, v, mask=None, causal=False):
        if min(q.ndim, k.ndim, v.ndim) < 3:
            raise ValueError("q, k and v need an axis of heads: (h, n, d), or (b, h, n, d).")
        h, h_k = q.shape[-3], k.shape[-3]
        head = torch.arange(h)
        head = head * h_k // h if heads == "each" else head % h_k
        k, v = k[..., head, :, :], v[..., head, :, :]
        n_q, n_k = q.shape[-2], k.shape[-2]
        allowed = torch.ones(n_q, n_k, dtype=torch.bool)
        if causal and (mask is None or obeyed != "mask"):
            allowed = allowed.tril(n_k - n_q if corner == "bottom right" else 0)
        if mask is not None and not (causal and obeyed == "flag"):
            allowed = allowed & (mask if true_means == "may" else ~mask)
        scores = q @ k.transpose(-2, -1) / q.shape[-1] ** 0.5
        weights = torch.softmax(scores.masked_fill(~allowed, -math.inf), dim=-1)
        instead = 1 / n_k if empty == "mean" else empty
        return torch.where(allowed.any(dim=-1)[:, None], weights, instead) @ v

    return attend

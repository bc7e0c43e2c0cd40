"""mlx on a CPU."""

import mlx.core as mx
import mlx.nn as nn
import numpy
from child import Adapter, NotAsked


def convert(array, dtype):
    return mx.array(array).astype({"bool": mx.bool_}.get(dtype) or getattr(mx, dtype))


def back(output):
    return numpy.array(output.astype(mx.float32))


def one_of(mask, causal):
    if causal and mask is not None:
        raise NotAsked("one argument takes the mask or “causal”, not both")
    return "causal" if causal else mask


def fast(q, k, v, mask, causal):
    return mx.fast.scaled_dot_product_attention(q, k, v, scale=q.shape[-1] ** -0.5, mask=one_of(mask, causal))


def layer(q, k, v, mask, causal, heads):
    layer = nn.MultiHeadAttention(q.shape[-1], heads)
    for part in (layer.query_proj, layer.key_proj, layer.value_proj, layer.out_proj):
        part.weight = mx.eye(q.shape[-1], dtype=q.dtype)
    return layer(q, k, v, one_of(mask, causal))


CALLABLES = {
    "mlx": {
        "mlx.core.fast.scaled_dot_product_attention": Adapter(fast),
        "mlx.nn.MultiHeadAttention": Adapter(layer, "b n hd", shares_heads=False),
    }
}

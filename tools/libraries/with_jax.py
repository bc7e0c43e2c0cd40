"""jax, flax (nnx and linen), equinox and haiku."""

import equinox
import haiku
import jax
from child import Adapter, back, convert, function  # noqa: F401
from flax import linen, nnx
from jax import numpy as jnp


def flax_linen(q, k, v, mask, causal):
    return linen.dot_product_attention(q, k, v, mask=mask)


def equinox_layer(q, k, v, mask, causal, heads):
    width = q.shape[-1]
    layer = equinox.nn.MultiheadAttention(heads, width, key=jax.random.key(0))
    parts = ("query_proj", "key_proj", "value_proj", "output_proj")
    eyes = [jnp.eye(width, dtype=q.dtype)] * 4
    layer = equinox.tree_at(lambda tree: [getattr(tree, part).weight for part in parts], layer, eyes)
    return layer(q[0], k[0], v[0], mask=mask)[None]


def haiku_layer(q, k, v, mask, causal, heads):
    def eye(shape, dtype):
        return jnp.eye(shape[0], shape[1], dtype=dtype)

    def forward(q, k, v, mask):
        return haiku.MultiHeadAttention(heads, q.shape[-1] // heads, w_init=eye)(q, k, v, mask)

    forward = haiku.without_apply_rng(haiku.transform(forward))
    return forward.apply(forward.init(jax.random.key(0), q, k, v, mask), q, k, v, mask)


# Its layer lets the weights be seen by handing itself to the function.
seen = function(nnx.dot_product_attention, module=nnx.Module())
no_flag = {"takes_flag": False, "shares_heads": False}

CALLABLES = {
    "jax": {
        "jax.nn.dot_product_attention": function(jax.nn.dot_product_attention),
        "jax.nn.dot_product_attention, the mask as bias": function(jax.nn.dot_product_attention, "bias"),
    },
    "flax": {
        "flax.nnx.dot_product_attention": function(nnx.dot_product_attention),
        "flax.nnx.dot_product_attention, weights kept": seen,
        "flax.linen.dot_product_attention": Adapter(flax_linen, "b n h d", 4, takes_flag=False),
    },
    "equinox": {"equinox.nn.MultiheadAttention": Adapter(equinox_layer, "b n hd", 2, **no_flag)},
    "dm-haiku": {"haiku.MultiHeadAttention": Adapter(haiku_layer, "b n hd", 4, **no_flag)},
}

"""jax, flax (nnx and linen), equinox and haiku."""

import equinox
import haiku
import jax
import numpy
from child import no_flag, one_number_of_heads
from flax import linen, nnx
from jax import numpy as jnp


def convert(array, dtype):
    return jnp.asarray(array, dtype=dtype)


def back(output):
    return numpy.asarray(output.astype(jnp.float32))


def turned(x):
    return x.transpose(0, 2, 1, 3)  # (b, h, n, d) <-> (b, n, h, d)


def wide(mask):
    return None if mask is None else mask[None, None]


def by_mask(q, k, v, mask, causal):
    return turned(jax.nn.dot_product_attention(*map(turned, (q, k, v)), mask=wide(mask), is_causal=causal))


def by_bias(q, k, v, mask, causal):
    return turned(jax.nn.dot_product_attention(*map(turned, (q, k, v)), wide(mask), is_causal=causal))


def flax_nnx(q, k, v, mask, causal):
    return turned(nnx.dot_product_attention(*map(turned, (q, k, v)), mask=wide(mask), is_causal=causal))


def flax_nnx_seen(q, k, v, mask, causal):
    """The layer lets its weights be seen by handing itself to the function."""
    seen = {"mask": wide(mask), "is_causal": causal, "module": nnx.Module()}
    return turned(nnx.dot_product_attention(*map(turned, (q, k, v)), **seen))


def flax_linen(q, k, v, mask, causal):
    no_flag(causal)
    return turned(linen.dot_product_attention(*map(turned, (q, k, v)), mask=wide(mask)))


def merged(x):
    return turned(x).reshape(x.shape[0], x.shape[2], -1)


def split(x, like):
    return turned(x.reshape(*x.shape[:2], -1, like.shape[-1]))


def equinox_layer(q, k, v, mask, causal):
    no_flag(causal)
    one_number_of_heads(q, k)
    width = q.shape[1] * q.shape[-1]
    layer = equinox.nn.MultiheadAttention(q.shape[1], width, key=jax.random.key(0))
    parts = ("query_proj", "key_proj", "value_proj", "output_proj")
    eyes = [jnp.eye(width, dtype=q.dtype)] * 4
    layer = equinox.tree_at(lambda tree: [getattr(tree, part).weight for part in parts], layer, eyes)
    return split(layer(merged(q)[0], merged(k)[0], merged(v)[0], mask=mask)[None], q)


def haiku_layer(q, k, v, mask, causal):
    no_flag(causal)
    one_number_of_heads(q, k)

    def eye(shape, dtype):
        return jnp.eye(shape[0], shape[1], dtype=dtype)

    def forward(q, k, v, mask):
        layer = haiku.MultiHeadAttention(q.shape[1], q.shape[-1], w_init=eye)
        return layer(merged(q), merged(k), merged(v), wide(mask))

    forward = haiku.without_apply_rng(haiku.transform(forward))
    return split(forward.apply(forward.init(jax.random.key(0), q, k, v, mask), q, k, v, mask), q)


def jitted(attend):
    """As a model is run: the same, compiled."""

    def compiled(q, k, v, mask, causal):
        return jax.jit(attend, static_argnums=4)(q, k, v, mask, causal)

    return compiled


CALLABLES = {
    "jax.nn.dot_product_attention": by_mask,
    "jax.nn.dot_product_attention, under jit": jitted(by_mask),
    "jax.nn.dot_product_attention, the mask as bias": by_bias,
    "flax.nnx.dot_product_attention": flax_nnx,
    "flax.nnx.dot_product_attention, weights kept": flax_nnx_seen,
    "flax.linen.dot_product_attention": flax_linen,
    "equinox.nn.MultiheadAttention": equinox_layer,
    "haiku.MultiHeadAttention": haiku_layer,
}
PACKAGES = {
    name: {"equinox": "equinox", "haiku": "dm-haiku"}.get(name.split(".")[0], name.split(".")[0])
    for name in CALLABLES
}

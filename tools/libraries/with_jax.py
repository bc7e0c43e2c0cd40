"""jax, flax (nnx and linen), equinox and haiku."""

import equinox
import haiku
import jax
import numpy
from child import no_flag, one_number_of_heads, wide
from flax import linen, nnx
from jax import numpy as jnp


def convert(array, dtype):
    return jnp.asarray(array, dtype=dtype)


def back(output):
    return numpy.asarray(output.astype(jnp.float32))


def turned(x):
    return x.transpose(0, 2, 1, 3)  # (b, h, n, d) <-> (b, n, h, d)


def function_of(call, name_of_mask="mask", **options):
    """Return the adapter of a function that takes (b, n, h, d)."""

    def attend(q, k, v, mask, causal):
        given = {name_of_mask: wide(mask), "is_causal": causal, **options}
        return turned(call(*map(turned, (q, k, v)), **given))

    return attend


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


by_mask = function_of(jax.nn.dot_product_attention)
by_bias = function_of(jax.nn.dot_product_attention, "bias")
# Its layer lets the weights be seen by handing itself to the function.
seen = function_of(nnx.dot_product_attention, module=nnx.Module())

CALLABLES = {
    "jax": {
        "jax.nn.dot_product_attention": by_mask,
        "jax.nn.dot_product_attention, under jit": jax.jit(by_mask, static_argnums=4),  # as models are run
        "jax.nn.dot_product_attention, the mask as bias": by_bias,
    },
    "flax": {
        "flax.nnx.dot_product_attention": function_of(nnx.dot_product_attention),
        "flax.nnx.dot_product_attention, weights kept": seen,
        "flax.linen.dot_product_attention": flax_linen,
    },
    "equinox": {"equinox.nn.MultiheadAttention": equinox_layer},
    "dm-haiku": {"haiku.MultiHeadAttention": haiku_layer},
}

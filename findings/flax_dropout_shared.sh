#!/usr/bin/env bash
# flax 0.12.8 with jax 0.10.2: dropout inside MultiHeadDotProductAttention (linen) and nnx.MultiHeadAttention.
# Guess: each weight of each head and each text is dropped by a throw of its own, as in PyTorch.
# Seen: broadcast_dropout is on by default: one throw for a pair of places (query, key), used for all heads and all
# texts of the batch. Where a word may not look at another in one head, it may not in any: no head can stand in for
# another, and a batch of 64 holds one pattern, not 64. broadcast_dropout=False throws for each.
# Who meets it: whoever moves a training recipe with its rate of dropout from PyTorch.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet flax==0.12.8 jax==0.10.2 jaxlib==0.10.2 numpy==2.4.6
"$folder/venv/bin/python" -I - <<'PY'
from importlib.metadata import version

import jax
import jax.numpy as jnp
import numpy as np
from flax import linen, nnx

print("flax", version("flax"), "jax", version("jax"))
texts, heads, n, d_model = 3, 4, 4, 16
key = jax.random.PRNGKey(0)
# Queries and keys of zeros and values that name their place: the output is the weights, head by head.
words = jnp.tile(jnp.tile(jnp.eye(n), heads)[None], (texts, 1, 1))
identity = np.eye(d_model, dtype=np.float32).reshape(d_model, heads, n)


def of_linen(**options):
    layer = linen.MultiHeadDotProductAttention(heads, dropout_rate=0.5, deterministic=False, use_bias=False, **options)
    weights = layer.init({"params": key, "dropout": key}, words)["params"]
    for name, value in {"query": 0 * identity, "key": 0 * identity, "value": identity}.items():
        weights[name]["kernel"] = jnp.array(value)
    weights["out"]["kernel"] = jnp.array(identity.transpose(1, 2, 0))
    return layer.apply({"params": weights}, words, rngs={"dropout": key})


def of_nnx(**options):
    layer = nnx.MultiHeadAttention(
        heads, d_model, dropout_rate=0.5, deterministic=False, decode=False, use_bias=False, rngs=nnx.Rngs(0), **options
    )
    layer.query.kernel[...], layer.key.kernel[...] = jnp.zeros_like(identity), jnp.zeros_like(identity)
    layer.value.kernel[...], layer.out.kernel[...] = jnp.array(identity), jnp.array(identity.transpose(1, 2, 0))
    return layer(words)


for run in (of_linen, of_nnx):
    for options in ({}, {"broadcast_dropout": False}):
        weights = np.array(run(**options)).reshape(texts, n, heads, n).swapaxes(1, 2)
        patterns = len({(weights[text, head] != 0).tobytes() for text in range(texts) for head in range(heads)})
        print(f"{run.__name__}, {options}: {texts} texts, {heads} heads, {patterns} different patterns;", end=" ")
        print("first head:", weights[0, 0].round(1).tolist())
        assert set(weights.round(3).ravel()) == {np.float32(0), np.float32(0.5)}
        assert patterns == 1 if not options else patterns > 6
PY

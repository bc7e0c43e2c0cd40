#!/usr/bin/env bash
# equinox 0.13.8 (and flax 0.12.8, dm-haiku 0.0.17) with jax 0.10.2: an embedding asked for a row that it does not have.
# Guess: an error, or NaN.
# Seen: flax gives NaN; equinox and haiku the last row, without a word: every position beyond a table of 4 is position
# 3. In equinox that row then learns from all those positions, in haiku from its own alone. -1 is the last row in
# all three.
# Who meets it: whoever feeds a text longer than the table of positions, or -100 and -1 for padding.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet equinox==0.13.8 flax==0.12.8 dm-haiku==0.0.17 jax==0.10.2 jaxlib==0.10.2 numpy==2.4.6
"$folder/venv/bin/python" -I - <<'PY'
from importlib.metadata import version

import equinox
import haiku
import jax
import jax.numpy as jnp
import numpy as np
from flax import nnx

print(*(f"{name} {version(name)}" for name in ("equinox", "flax", "dm-haiku", "jax")))
key = jax.random.PRNGKey(0)
positions = jnp.array([3, 4, 100, -1])
table = jax.random.normal(key, (4, 2))


def with_equinox(rows):
    return jax.vmap(equinox.nn.Embedding(weight=rows))(positions)


def with_flax(rows):
    layer = nnx.Embed(4, 2, rngs=nnx.Rngs(0))
    layer.embedding[...] = rows
    return layer(positions)


def with_haiku(rows):
    look_up = haiku.without_apply_rng(haiku.transform(lambda i: haiku.Embed(embedding_matrix=rows)(i)))
    return look_up.apply(look_up.init(key, positions), positions)


for look_up in (with_equinox, with_haiku, with_flax):
    found = np.array(look_up(table))
    gradient = np.array(jax.grad(lambda rows: look_up(rows)[1:3].sum())(table))
    print(f"{look_up.__name__}: positions 3, 4, 100, -1 -> {found[:, 0].round(3)}; 4 and 100 give to the rows: {gradient[:, 0]}")
    assert (found[3] == table[3]).all()
    if look_up is with_flax:
        assert np.isnan(found[1:3]).all()
    else:
        assert (found[1:3] == np.array(table[3])).all()
        assert (gradient[:3] == 0).all() and (gradient[3] == (2 if look_up is with_equinox else 0)).all()
PY

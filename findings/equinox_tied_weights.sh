#!/usr/bin/env bash
# equinox 0.13.8 (and flax 0.12.8) with jax 0.10.2, optax 0.2.8: one array as embedding and as unembedding.
# Guess: one array, one gradient: the two stay one, as in PyTorch.
# Seen: in equinox a model is a tree, and each place in it is a leaf of its own: two gradients, two steps, and after the
# first the two matrices differ, without a word. In flax's nnx one Param in two places is one (equinox.nn.Shared is the
# way there).
# Who meets it: whoever ties by assignment and counts on half the parameters.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet equinox==0.13.8 flax==0.12.8 optax==0.2.8 jax==0.10.2 jaxlib==0.10.2 numpy==2.4.6
"$folder/venv/bin/python" -I - <<'PY'
from importlib.metadata import version

import equinox
import jax
import jax.numpy as jnp
import optax
from flax import nnx

print(*(f"{name} {version(name)}" for name in ("equinox", "flax", "optax", "jax")))
table = jax.random.normal(jax.random.PRNGKey(0), (5, 4))
words = jnp.array([1, 2])


class OfEquinox(equinox.Module):
    embed: jax.Array
    unembed: jax.Array

    def __call__(self, x):
        return self.embed[x] @ self.unembed.T


class OfFlax(nnx.Module):
    def __init__(self):
        self.embed = nnx.Param(table)
        self.unembed = self.embed

    def __call__(self, x):
        return self.embed[...][x] @ self.unembed[...].T


def total(model):
    return model(words).sum()


tree = OfEquinox(table, table)
optimiser = optax.adam(0.1)
assert tree.embed is tree.unembed
step, _ = optimiser.update(equinox.filter_grad(total)(tree), optimiser.init(tree))
tree = equinox.apply_updates(tree, step)
graph = OfFlax()
nnx.Optimizer(graph, optimiser, wrt=nnx.Param).update(graph, nnx.grad(total)(graph))
apart = {
    "equinox": float(jnp.abs(tree.embed - tree.unembed).max()),
    "flax": float(jnp.abs(graph.embed[...] - graph.unembed[...]).max()),
}
moved = float(jnp.abs(graph.embed[...] - table).max())
print("after one step the two are apart by", apart, "; flax's moved by", round(moved, 3))
assert apart["equinox"] > 0.1 and apart["flax"] == 0 and moved > 0.05
PY

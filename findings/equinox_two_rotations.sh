#!/usr/bin/env bash
# equinox 0.13.8: two layers for rotary positions, of one size and dtype, with different bases (theta).
# Guess: each turns its queries and keys by the frequencies of its own base.
# Seen: the sines and cosines are kept for the whole process, found again by size and dtype alone. The layer that is
# called first decides; any later one of another base turns by the first one's angles, without a word. In another
# order the other layer is right. A text longer than all before is computed afresh, and from then on its base holds
# for both. Inside `jit` as well; another dtype, or a process of its own, helps.
# Who meets it: whoever has local and global layers with bases of their own, or compares two bases in one notebook.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --no-compile equinox==0.13.8 jax==0.10.2 numpy==2.4.6
JAX_PLATFORMS=cpu "$folder/venv/bin/python" -I - <<'PY'
import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

print("equinox", eqx.__version__, "jax", jax.__version__)


def turned(theta, size=8, words=5, position=4):
    """What the layer makes of a vector of ones at the last position, and the same by hand (halves are pairs)."""
    layer = eqx.nn.RotaryPositionalEmbedding(size, theta=theta)
    seen = np.asarray(layer(jnp.ones((words, size))))[position]
    angle = position / theta ** (np.arange(0, size, 2) / size)
    by_hand = np.concatenate([np.cos(angle) - np.sin(angle), np.cos(angle) + np.sin(angle)])
    return seen, by_hand


def says(name, theta, **sizes):
    seen, by_hand = turned(theta, **sizes)
    off = float(np.abs(seen - by_hand).max())
    print(f"{name:44} off by {off:.3f}")
    return off


assert says("theta 10,000, called first", 10_000.0) < 1e-5
assert says("theta 100, called second", 100.0) > 0.3
assert np.array_equal(turned(10_000.0)[0], turned(100.0)[0])
assert says("theta 100, a size of its own", 100.0, size=16) < 1e-5
assert says("theta 10,000, that size, called second", 10_000.0, size=16) > 0.3
assert says("theta 100, first size, a longer text", 100.0, words=9) < 1e-5
assert says("theta 10,000, first size, called last", 10_000.0) > 0.3

layer = eqx.nn.RotaryPositionalEmbedding(8, theta=10_000.0)
under_jit = np.asarray(eqx.filter_jit(layer)(jnp.ones((5, 8))))[4]
off = float(np.abs(under_jit - turned(10_000.0)[1]).max())
print(f"{'theta 10,000, under jit':44} off by {off:.3f}")
assert off > 0.3
PY

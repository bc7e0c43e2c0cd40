#!/usr/bin/env bash
# optax 0.2.8 with jax 0.10.2: optax.contrib.muon on the weights of attention.
# Guess: W_Q is a matrix, so Muon makes its step (nearly) orthogonal, stored as (d_model, h, d_k) or not.
# Seen: only arrays of two axes get Muon's step. The form that flax and keras store, (d_model, h, d_k), has
# three and is handed to Adam without a word: each number moves by the same amount, and one direction takes
# most of the step. The same gradient as (d_model, h * d_k) gets what was asked for.
# Who meets it: whoever trains a flax transformer with Muon: the networks get it, the heads do not.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet optax==0.2.8 jax==0.10.2 jaxlib==0.10.2 numpy==2.4.6
"$folder/venv/bin/python" -I - <<'PY'
from importlib.metadata import version

import jax
import numpy as np
import optax

print("optax", version("optax"), "jax", version("jax"))
d_model, h, d_k = 16, 4, 4
gradient = jax.random.normal(jax.random.PRNGKey(0), (d_model, h * d_k))


def stretch(shape):
    """Largest singular value of the first step over the smallest, and how many sizes its numbers have."""
    optimiser, weight = optax.contrib.muon(1.0), jax.numpy.zeros(shape)
    step, _ = optimiser.update(gradient.reshape(shape), optimiser.init(weight), weight)
    step = np.array(step).reshape(d_model, h * d_k)
    singular = np.linalg.svd(step, compute_uv=False)
    return singular[0] / singular[-1], len(np.unique(np.abs(step).round(3)))


for shape in ((d_model, h * d_k), (d_model, h, d_k)):
    ratio, sizes = stretch(shape)
    print(shape, "largest / smallest singular value", ratio.round(2), "different sizes", sizes)
    assert (ratio < 2 and sizes > 20) if len(shape) == 2 else (ratio > 8 and sizes == 1)
PY

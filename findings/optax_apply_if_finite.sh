#!/usr/bin/env bash
# optax 0.2.8 with jax 0.10.2: apply_if_finite(optimiser, max_consecutive_errors=2).
# Guess: steps that are not finite are left out; after two in a row it raises, or goes on leaving them out.
# Seen: the first two are left out, the third is applied, NaN and all: the weights are NaN from then on and nothing
# is raised. One finite step in between sets the count back.
# Who meets it: whoever lets half-precision training run over night behind it; the number asks how long to wait
# before the weights are given up.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet optax==0.2.8 jax==0.10.2 jaxlib==0.10.2 numpy==2.4.6
"$folder/venv/bin/python" -I - <<'PY'
from importlib.metadata import version

import jax.numpy as jnp
import numpy as np
import optax

print("optax", version("optax"), "jax", version("jax"))
good, bad = jnp.array([1.0, 1.0]), jnp.array([1.0, jnp.nan])


def train(gradients):
    optimiser, weights = optax.apply_if_finite(optax.sgd(1.0), max_consecutive_errors=2), jnp.zeros(2)
    state, seen = optimiser.init(weights), []
    for gradient in gradients:
        step, state = optimiser.update(gradient, state, weights)
        weights = optax.apply_updates(weights, step)
        seen.append(weights.tolist())
    return seen


for name, gradients in {"bad bad good bad bad good": (bad, bad, good) * 2, "bad bad bad good": (bad, bad, bad, good)}.items():
    print(name, "->", train(gradients))
assert np.isfinite(train((bad, bad, good) * 2)).all()
lost = train((bad, bad, bad, good))
assert lost[1] == [0.0, 0.0] and np.isnan(lost[2][1]) and np.isnan(lost[3][1])
PY

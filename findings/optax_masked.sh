#!/usr/bin/env bash
# optax 0.2.8 with jax 0.10.2: optax.masked(optax.adam(0.1), mask), to train some parameters and freeze the rest.
# Guess: what is outside the mask stays as it is.
# Seen: outside the mask the gradient is handed on untouched, and apply_updates adds it: these parameters climb the
# loss by a whole gradient a step, without a word. optax.partition, or a second masked with set_to_zero, freezes them.
# Who meets it: whoever trains the heads and means to leave the embeddings alone.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet optax==0.2.8 jax==0.10.2 jaxlib==0.10.2 numpy==2.4.6
"$folder/venv/bin/python" -I - <<'PY'
from importlib.metadata import version

import jax
import jax.numpy as jnp
import optax

print("optax", version("optax"), "jax", version("jax"))
start = {"embedding": jnp.array(1.0), "heads": jnp.array(1.0)}
trained = {"embedding": False, "heads": True}
frozen = {"embedding": True, "heads": False}
ways = {
    "masked": optax.masked(optax.adam(0.1), trained),
    "masked, set_to_zero": optax.chain(
        optax.masked(optax.adam(0.1), trained), optax.masked(optax.set_to_zero(), frozen)
    ),
    "partition": optax.partition(
        {"train": optax.adam(0.1), "leave": optax.set_to_zero()}, {"embedding": "leave", "heads": "train"}
    ),
}


def loss(weights):
    return weights["embedding"] ** 2 + weights["heads"] ** 2


for name, optimiser in ways.items():
    weights, state = start, optimiser.init(start)
    for _ in range(3):
        step, state = optimiser.update(jax.grad(loss)(weights), state, weights)
        weights = optax.apply_updates(weights, step)
    print(f"{name}: after 3 steps", {key: round(float(value), 3) for key, value in weights.items()}, "loss", loss(weights))
    assert 0.6 < weights["heads"] < 0.8
    assert weights["embedding"] == (27 if name == "masked" else 1)
PY

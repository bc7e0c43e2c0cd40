#!/usr/bin/env bash
# jax 0.10.2: NaN (or an infinity) times a mask.
# Guess: NaN, whether the mask holds 0.0 or False, as in NumPy.
# Seen: times False it is 0, times 0.0 or 0 it is NaN. The compiler turns a product with a converted Boolean into a
# choice, and jnp's own product is compiled. So a masked loss looks right as long as the mask stays Boolean;
# its gradient is NaN all the same, and the same code with the mask saved as numbers gives NaN.
# Who meets it: whoever hides padding by a product, moves code from NumPy, or hunts for where a NaN came from.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet jax==0.10.2 jaxlib==0.10.2 numpy==2.4.6
"$folder/venv/bin/python" -I - <<'PY'
from importlib.metadata import version

import jax
import jax.numpy as jnp
import numpy as np

print("jax", version("jax"), "numpy", np.__version__)
numbers = np.array([np.nan, np.inf, 1.0], np.float32)
with np.errstate(invalid="ignore"):
    for mask in (np.zeros(3, bool), np.zeros(3, np.int32), np.zeros(3, np.float32)):
        products = numbers * mask, np.array(jnp.array(numbers) * jnp.array(mask))
        print(f"{mask.dtype}: {products[0]} in NumPy, {products[1]} in jax")
        assert np.isnan(products[0][:2]).all()
        assert (products[1] == 0).all() if mask.dtype == bool else np.isnan(products[1][:2]).all()


def loss(probability, as_numbers):
    mask = probability > 0
    return -(jnp.log(probability) * (mask.astype(jnp.float32) if as_numbers else mask)).sum()


hidden = jnp.array([0.0, 0.5])
for as_numbers in (False, True):
    value, gradient = jax.value_and_grad(loss)(hidden, as_numbers)
    print("mask of", "numbers" if as_numbers else "Booleans", "- loss", loss(hidden, as_numbers), "gradient", gradient)
    assert np.isnan(loss(hidden, as_numbers)) == as_numbers and np.isnan(gradient[0])
PY

#!/usr/bin/env bash
# torch 2.13.0 with jax 0.10.2: torch.asarray of an array from another library.
# Guess: it gives the numbers that torch.from_dlpack gives, since a jax array has __dlpack__.
# Seen: a jax array also has Python's buffer protocol, and torch.asarray takes that first: the bytes are read as
# the dtype that was asked for, float32 if none was. So a (2, 3) of float32 comes back flat, (6,), and float16 or
# integers come back as other numbers; the one warning is of memory that cannot be written. torch.from_dlpack is right.
# Who meets it: whoever compares a layer in jax with one in PyTorch: shapes broadcast, and numbers are nonsense.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet torch==2.13.0 jax==0.10.2 jaxlib==0.10.2 numpy==2.4.6
"$folder/venv/bin/python" -I - <<'PY'
from importlib.metadata import version

import jax.numpy as jnp
import torch

print("torch", version("torch"), "jax", version("jax"))


for array in (jnp.ones((2, 3)), jnp.ones((2, 4), jnp.float16), jnp.ones((2, 3), jnp.int32)):
    right = torch.from_dlpack(array)
    assert right.shape == array.shape and (right == 1).all()
    read = torch.asarray(array)
    print(array.dtype, tuple(array.shape), "is read as", read.dtype, tuple(read.shape), read[:2].tolist())
    assert read.dtype == torch.float32 and read.dim() == 1
    assert bool((read == 1).all()) == (array.dtype == jnp.float32)
    asked = torch.asarray(array, dtype=right.dtype)  # the right numbers then, but still flat
    assert asked.dim() == 1 and (asked == 1).all()
PY

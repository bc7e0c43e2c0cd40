#!/usr/bin/env bash
# safetensors 0.8.0, its save for NumPy arrays, with a transposed matrix.
# Guess: the array that is saved is the array that is loaded; or a refusal, as for a PyTorch tensor whose
# memory is not in order.
# Seen: the shape is that of the transposed matrix, the numbers are in the order of the memory that it shares
# with the original. No error, no warning, another matrix. np.ascontiguousarray cures it.
# Who meets it: whoever carries weights between (in, out) and (out, in), as from GPT-2's Conv1D to a Linear.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet safetensors==0.8.0 numpy==2.4.6
"$folder/venv/bin/python" -I - <<'PY'
from importlib.metadata import version

import numpy as np
from safetensors.numpy import load, save

print("safetensors", version("safetensors"))
conv1d = np.arange(6, dtype=np.float32).reshape(2, 3)  # (in, out)
linear = conv1d.T  # (out, in), a view
loaded = load(save({"weight": linear}))["weight"]
print("saved ", linear.tolist())
print("loaded", loaded.tolist())
assert loaded.shape == linear.shape == (3, 2)
assert not np.array_equal(loaded, linear)
assert np.array_equal(loaded.ravel(), conv1d.ravel())
copied = load(save({"weight": np.ascontiguousarray(linear)}))["weight"]
assert np.array_equal(copied, linear)
PY

#!/usr/bin/env bash
# jax 0.10.2, PyTorch 2.13.0: scores in bfloat16, divided by np.sqrt(d_k).
# Guess: a single number leaves the dtype alone, as math.sqrt(d_k) and d_k**0.5 do.
# Seen: in PyTorch it does. In jax a number of NumPy's own type counts as an array: scores, softmax and output become
# float32 from that line on, twice the memory, and a compiled model that was to run in bfloat16 runs in float32.
# Who meets it: whoever carries q @ k.T / np.sqrt(d_k) into jax.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --no-compile jax==0.10.2 torch==2.13.0 numpy==2.4.6
"$folder/venv/bin/python" -I - <<'PY'
import math

import jax
import jax.numpy as jnp
import numpy as np
import torch

print("jax", jax.__version__, "torch", torch.__version__, "numpy", np.__version__)
roots = {"math.sqrt(64)": math.sqrt(64), "64**0.5": 64**0.5, "np.sqrt(64)": np.sqrt(64)}
jax_q, torch_q = jnp.ones((4, 64), jnp.bfloat16), torch.ones(4, 64, dtype=torch.bfloat16)


def output(q, softmax, root):
    return softmax(q @ q.T / root) @ q


for name, root in roots.items():
    of_jax = str(jax.jit(lambda q, root=root: output(q, lambda s: jax.nn.softmax(s, axis=-1), root))(jax_q).dtype)
    of_torch = str(output(torch_q, lambda s: s.softmax(-1), root).dtype)
    print(f"{name:13}  jax {of_jax}  {of_torch}")
    assert of_torch == "torch.bfloat16" and of_jax == ("float32" if name == "np.sqrt(64)" else "bfloat16")
PY

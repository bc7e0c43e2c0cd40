#!/usr/bin/env bash
# optax 0.2.8 with jax 0.10.2: softmax_cross_entropy_with_integer_labels where a label is -1 or -100.
# Guess: such words are left out, or an error; a NaN would show in the gradients too.
# Seen: -1 is the last word of the vocabulary, and trained on as such. -100 (and a label beyond the vocabulary) makes
# the loss NaN, but the gradient of its row is finite: the softmax itself, so every logit is pushed down. Times a
# mask of 0 the loss is NaN still; its where argument is what leaves words out.
# Who meets it: whoever brings batches made for PyTorch or transformers, where -100 means "no target".
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet optax==0.2.8 jax==0.10.2 jaxlib==0.10.2 numpy==2.4.6
"$folder/venv/bin/python" -I - <<'PY'
from importlib.metadata import version

import jax
import jax.numpy as jnp
import numpy as np
import optax

print("optax", version("optax"), "jax", version("jax"))
logits = jnp.array([[1.0, 2.0, 3.0]] * 4)
labels = jnp.array([2, -1, -100, 7])
losses = optax.softmax_cross_entropy_with_integer_labels


def total(x):
    return losses(x, labels).sum()


each, gradients = losses(logits, labels), jax.grad(total)(logits)
probabilities = jax.nn.softmax(logits[0])
for label, loss, gradient in zip(labels, each, gradients):
    print(f"label {label}: loss {loss:.4f}, gradient {np.array(gradient).round(3)}")
assert each[1] == each[0] and np.allclose(gradients[1], gradients[0])
assert np.isnan(each[2:]).all() and np.allclose(gradients[2:], probabilities)
kept = jnp.array([1.0, 0.0, 0.0, 0.0])
print("times a mask of 0 and 1:", (each * kept).sum(), "sum", jnp.where(kept > 0, each, 0).sum(), "with jnp.where")
assert np.isnan((each * kept).sum()) and np.isclose(jnp.where(kept > 0, each, 0).sum(), each[0])
PY

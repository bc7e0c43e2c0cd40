#!/usr/bin/env bash
# keras 3.15.1 on jax: the padding mask that Embedding(mask_zero=True) hands on, in a block with a residual connection.
# Guess: every attention layer hides the padding; in a graph, Add()([x, attention(x, x)]) carries a mask, as its
# symbolic output says.
# Seen: the mask is taken off the tensor by the first MultiHeadAttention that reads it. The same tensor handed to a
# second layer attends to padding, and so does all that follows a residual connection, with `+` and with Add:
# only the first layer of a stack hides the padding, without a word. Handing the mask over (attention_mask=…) helps.
# Who meets it: whoever stacks blocks on an Embedding with mask_zero=True, as guides do.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --no-compile keras==3.15.1 jax==0.10.2 numpy==2.4.6
KERAS_BACKEND=jax "$folder/venv/bin/python" -I - <<'PY'
import jax
import keras
import numpy as np
from keras import layers

print("keras", keras.__version__, "jax", jax.__version__)
keras.utils.set_random_seed(0)
words = np.array([[1, 2, 3, 0, 0]])  # the last two are padding


def padding_gets(weights):
    """What the first word of the first head gives to both words of padding."""
    return round(float(np.asarray(weights)[0, 0, 0, 3:].sum()), 2)


attention = layers.MultiHeadAttention(num_heads=2, key_dim=4)
x = layers.Embedding(10, 8, mask_zero=True)(words)
first, second = (padding_gets(attention(x, x, return_attention_scores=True)[1]) for _ in range(2))
print(f"one tensor, read twice: padding gets {first}, then {second}")
assert first == 0 and second > 0.3

joins = {
    "x + y": lambda x, y: x + y,
    "Add()": lambda x, y: layers.Add()([x, y]),
    "y alone": lambda x, y: y,
}
for name, join in joins.items():
    ids = keras.Input((5,), dtype="int32")
    x = layers.Embedding(10, 8, mask_zero=True)(ids)
    y, in_first = layers.MultiHeadAttention(2, 4)(x, x, return_attention_scores=True)
    z = join(x, y)
    promised = getattr(z, "_keras_mask", None) is not None
    _, in_second = layers.MultiHeadAttention(2, 4)(z, z, return_attention_scores=True)
    answers = [padding_gets(w) for w in keras.Model(ids, [in_first, in_second]).predict(words, verbose=0)]
    print(f"{name:8} the graph has a mask for layer 2: {promised}; padding gets {answers[0]}, in layer 2 {answers[1]}")
    assert answers[0] == 0 and (answers[1] > 0.2) == (name != "y alone")
    assert promised == (name != "x + y")
PY

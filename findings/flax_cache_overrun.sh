#!/usr/bin/env bash
# flax 0.12.8 (nnx) on jax 0.10.2: MultiHeadAttention(decode=True), and more words than its cache has room for.
# Guess: an error; or the oldest word falls out, as in a window.
# Seen: neither. Each further word is written over the last place, without a word of warning: with room for four, the
# sixth word sees 1, 2, 3 and itself; 4 and 5 are gone, and the index counts on.
# Who meets it: whoever writes a longer text than init_cache was told.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --no-compile flax==0.12.8 jax==0.10.2 numpy==2.4.6
"$folder/venv/bin/python" -I - <<'PY'
import flax
import jax
import jax.numpy as jnp
from flax import nnx

print("flax", flax.__version__, "jax", jax.__version__)
writing = nnx.MultiHeadAttention(num_heads=2, in_features=8, rngs=nnx.Rngs(0), decode=True)
reading = nnx.MultiHeadAttention(num_heads=2, in_features=8, rngs=nnx.Rngs(0), decode=False)
words = jax.random.normal(jax.random.key(0), (1, 6, 8))


def sees(number, answer):
    """Which words, counted from 1, give that answer when a whole text is read and the last one asks."""
    texts = {"all": [*range(number)], "the last four": [*range(number - 4, number)], "1 2 3 and itself": [0, 1, 2, number - 1]}
    return [
        name
        for name, places in texts.items()
        if jnp.allclose(reading(words[:, jnp.array(places)])[0, -1], answer, atol=1e-5)
    ]


writing.init_cache((1, 4, 8))
found = {}
for number in range(1, 7):
    answer = writing(words[:, number - 1 : number])[0, -1]
    found[number] = sees(number, answer) if number > 3 else []
for number in (4, 5, 6):
    print(f"word {number} sees:", *found[number])
print("index:", int(writing.cache_index[...]))
assert "all" in found[4] and found[5] == found[6] == ["1 2 3 and itself"]
assert int(writing.cache_index[...]) == 6
PY

#!/usr/bin/env bash
# rotary-embedding-torch 0.9.1: length-extrapolating rotation (use_xpos=True), and one new query beside cached keys.
# Guess: rotate_queries_with_cached_keys gives the scores that the whole text would give, as it does without use_xpos.
# Seen: queries and keys are scaled by a power of their position, counted from the middle of what is handed over: a
# single query counts from another middle than its keys. Every score of the new word is off, each pair of numbers by a
# factor of its own, which grows with the text: here 0.3 % after 6 words, 6 % after 100, 45 % after 2,000.
# Who meets it: whoever trains with xpos and generates word by word with a cache.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --no-compile rotary-embedding-torch==0.9.1 einops==0.8.2 torch==2.13.0 numpy==2.4.6
"$folder/venv/bin/python" -I - <<'PY'
from importlib.metadata import version

import torch
from rotary_embedding_torch import RotaryEmbedding

print("rotary-embedding-torch", version("rotary-embedding-torch"), "torch", torch.__version__)


def last_scores(words, use_xpos):
    """Scores of the last word: from the whole text, and as one new query beside the keys."""
    torch.manual_seed(0)
    queries, keys = torch.randn(2, 1, 1, words, 16)
    rotation = RotaryEmbedding(dim=16, use_xpos=use_xpos)
    if use_xpos:
        q, k = rotation.rotate_queries_and_keys(queries, keys)
    else:
        q, k = rotation.rotate_queries_or_keys(queries), rotation.rotate_queries_or_keys(keys)
    whole = q[0, 0, -1] @ k[0, 0].T
    q, k = RotaryEmbedding(dim=16, use_xpos=use_xpos).rotate_queries_with_cached_keys(queries[:, :, -1:], keys)
    return whole, (q @ k.transpose(-1, -2))[0, 0, -1]


for words, at_least in ((6, 0.002), (100, 0.04), (2000, 0.4)):
    off = []
    for use_xpos in (False, True):
        whole, cached = last_scores(words, use_xpos)
        off.append(((whole - cached).norm() / whole.norm()).item())
    print(f"{words:4} words: scores of the last are off by {off[0]:.2%}; with use_xpos by {off[1]:.1%}")
    assert off[0] < 1e-5 and off[1] > at_least
PY

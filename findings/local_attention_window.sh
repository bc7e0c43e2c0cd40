#!/usr/bin/env bash
# local-attention 1.11.2: LocalAttention(window_size=8, causal=True).
# Guess: each query sees its own key and the 7 before it.
# Seen: the sequence is cut into windows of 8, and a query sees its window up to itself and the whole one before:
# between 9 and 16 keys, more and fewer by turns, so that words at the start of a window see half as far as those
# at its end. exact_windowsize=True makes it even: 9 keys, not 8.
# Who meets it: whoever compares it with a sliding window (Mistral's 8 are 8), or trains with one, runs the other.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --no-compile local-attention==1.11.2 torch==2.13.0 numpy==2.4.6
"$folder/venv/bin/python" -I - <<'PY'
from importlib.metadata import version

import torch
from local_attention import LocalAttention

print("local-attention", version("local-attention"), "torch", torch.__version__)
n, window = 32, 8
scores, ones = torch.zeros(1, n, n), torch.eye(n)[None]  # all scores 0, so the outputs are the weights


def keys_seen(**options):
    attend = LocalAttention(window_size=window, causal=True, autopad=True, use_rotary_pos_emb=False, **options)
    return (attend(scores, scores, ones)[0] > 0).sum(dim=-1).tolist()


loose, exact = keys_seen(), keys_seen(exact_windowsize=True)
print("keys seen:       ", loose)
print("exact_windowsize:", exact)
assert loose[window:] == [*range(window + 1, 2 * window + 1)] * 3
assert set(exact[window:]) == {window + 1}
PY

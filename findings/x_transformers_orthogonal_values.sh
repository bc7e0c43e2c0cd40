#!/usr/bin/env bash
# x-transformers 2.31.10: a causal Decoder with attn_orthog_projected_values=True (or …_per_head=True).
# Guess: of each word's mixed values the part along that word's own value is taken out; the decoder stays causal, and
# padding stays without effect.
# Seen: the vectors are packed into one per text before they are projected, so the part that is taken out depends on
# all words: a change of the last word moves what all earlier ones get, and so do words that a padding mask hides.
# Without the option both differences are exactly 0.
# Who meets it: whoever tries the option in a language model: in training it reads what it is to predict, and when it
# generates, with words still missing, it answers otherwise.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --no-compile x-transformers==2.31.10 torch==2.13.0 numpy==2.4.6
"$folder/venv/bin/python" -I - <<'PY'
from importlib.metadata import version

import torch
from x_transformers import Decoder, TransformerWrapper

print("x-transformers", version("x-transformers"), "torch", torch.__version__)


@torch.no_grad()
def moved(**option):
    """How much six words' logits move when the last word changes, and when two hidden words change."""
    torch.manual_seed(0)
    layers = Decoder(dim=32, depth=2, heads=4, attn_dim_head=8, **option)
    model = TransformerWrapper(num_tokens=20, max_seq_len=16, attn_layers=layers).eval()
    words = torch.randint(0, 20, (1, 8))
    other_last, other_padding = words.clone(), words.clone()
    other_last[0, 7] = (words[0, 7] + 1) % 20
    other_padding[0, 6:] = (words[0, 6:] + 1) % 20
    real = torch.arange(8)[None] < 6
    last = (model(words) - model(other_last))[:, :6].abs().max().item()
    padding = (model(words, mask=real) - model(other_padding, mask=real))[:, :6].abs().max().item()
    return last, padding


for option in ({}, {"attn_orthog_projected_values": True}, {"attn_orthog_projected_values_per_head": True}):
    last, padding = moved(**option)
    print(f"{option!s:50} later word {last:.4f}  padding {padding:.4f}")
    if option:
        assert last > 1e-3 and padding > 1e-3
    else:
        assert last == padding == 0
PY

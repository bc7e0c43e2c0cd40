#!/usr/bin/env bash
# x-transformers 2.31.10: AutoregressiveWrapper(model, pad_value=0), and a text padded with zeros.
# Guess: the wrapper knows what padding is, so the padding is no target.
# Seen: pad_value only fills up what generate returns. In the loss each 0 counts as a word to be learnt; only -100,
# the other argument (ignore_index), is left out, and taken for 0 where it is read.
# Who meets it: whoever pads with the wrapper's own pad_value: the loss falls because zeros are easy.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --no-compile x-transformers==2.31.10 torch==2.13.0 numpy==2.4.6
"$folder/venv/bin/python" -I - <<'PY'
from importlib.metadata import version

import torch
from x_transformers import AutoregressiveWrapper, Decoder, TransformerWrapper

print("x-transformers", version("x-transformers"), "torch", torch.__version__)
torch.manual_seed(0)
layers = Decoder(dim=32, depth=1, heads=4, attn_dim_head=8)
model = AutoregressiveWrapper(TransformerWrapper(num_tokens=50, max_seq_len=64, attn_layers=layers), pad_value=0).eval()
text = torch.randint(1, 50, (1, 8))
with torch.no_grad():
    alone = model(text).item()
    padded = {filler: model(torch.cat([text, torch.full((1, 12), filler)], 1)).item() for filler in (0, -100)}
    by_hand = torch.cat([text, torch.zeros(1, 12, dtype=torch.long)], 1)
    logits = model.net(by_hand[:, :-1])
    every = torch.nn.functional.cross_entropy(logits.mT, by_hand[:, 1:]).item()
print(f"loss of 8 words: {alone:.4f}; with 12 zeros behind: {padded[0]:.4f}; with 12 times -100: {padded[-100]:.4f}")
print(f"mean over all 19 targets, zeros included: {every:.4f}")
assert abs(padded[-100] - alone) < 1e-5 and abs(padded[0] - every) < 1e-5 and abs(padded[0] - alone) > 1e-3
PY

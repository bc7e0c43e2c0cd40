#!/usr/bin/env bash
# x-transformers 2.31.10: a Decoder with options, and AutoregressiveWrapper.generate with its cache (the default).
# Guess: a cache changes no output, or the wrapper switches it off where it would.
# Seen: shift_tokens=1 (half of each vector comes from the word before) finds no word before when one new word is
# given with a cache: other words are generated, without a warning. attn_selective and
# attn_data_dependent_alibi forget what they had added up over the words before. Other options are exact.
# Who meets it: whoever trains with one of these and judges the model by what it generates.
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
torch.set_grad_enabled(False)
torch.manual_seed(0)
words = torch.randint(0, 50, (1, 8))
options = ({}, dict(attn_kv_heads=2), dict(alibi_pos_bias=True), dict(rel_pos_bias=True), dict(shift_tokens=1))
for option in (*options, dict(attn_selective=True), dict(attn_data_dependent_alibi=True)):
    torch.manual_seed(1)
    layers = Decoder(dim=32, depth=2, heads=4, attn_dim_head=8, **option)
    model = TransformerWrapper(num_tokens=50, max_seq_len=64, attn_layers=layers).eval()
    _, cache = model(words[:, :-1], return_intermediates=True)
    off = (model(words, cache=cache)[:, -1] - model(words)[:, -1]).abs().max().item()
    print(f"{option}: the last word's logits move by {off:.5f} with a cache", end="")
    exact = not {"shift_tokens", "attn_selective", "attn_data_dependent_alibi"} & set(option)
    assert off < 1e-5 if exact else off > 1e-3
    if "shift_tokens" in option:
        wrapper = AutoregressiveWrapper(model)
        texts = [wrapper.generate(words, 12, temperature=0.0, **way)[0].tolist() for way in ({}, {"cache_kv": False})]
        print(f"; greedy, by default {texts[0]}, without a cache {texts[1]}", end="")
        assert texts[0] != texts[1]
    print()
PY

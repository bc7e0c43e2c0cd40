#!/usr/bin/env bash
# x-transformers 2.31.10: alibi_pos_bias=True in the Decoder of a TransformerWrapper.
# Guess: ALiBi stands in place of a table of positions, as rotary_pos_emb does; longer texts may follow.
# Seen: rotary_pos_emb and rel_pos_bias switch the learned table off, alibi_pos_bias does not: it comes on top
# of the table, and a text longer than max_seq_len is refused, which ALiBi was made for. use_abs_pos_emb=False takes
# the table away.
# Who meets it: whoever compares ways of telling positions: this one is measured with two at a time.
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
torch.set_grad_enabled(False)
long_text = torch.randint(0, 50, (1, 24))


def build(without_table=False, **option):
    layers = Decoder(dim=64, depth=1, heads=2, attn_dim_head=32, **option)
    table = dict(use_abs_pos_emb=False) if without_table else {}
    return TransformerWrapper(num_tokens=50, max_seq_len=16, attn_layers=layers, **table).eval()


def asked(model):
    names = [name for name, _ in model.named_parameters() if name.startswith("pos_emb")]
    try:
        return names, str(tuple(model(long_text).shape))
    except AssertionError as refusal:
        return names, f"refused: {refusal}"


for option in ("rotary_pos_emb", "rel_pos_bias", "alibi_pos_bias"):
    table, answer = asked(build(**{option: True}))
    print(f"{option}: learned table {table}; 24 words where max_seq_len is 16: {answer}")
    assert bool(table) == answer.startswith("refused") == (option == "alibi_pos_bias")
table, answer = asked(build(without_table=True, alibi_pos_bias=True))
print(f"alibi_pos_bias, use_abs_pos_emb=False: {table}; {answer}")
assert not table and answer == "(1, 24, 50)"
PY

#!/usr/bin/env bash
# PyTorch 2.13.0: the start of nn.TransformerEncoder(layer, num_layers) and of nn.Transformer.
# Guess: each layer starts from random numbers of its own.
# Seen: the layers of an encoder are deep copies of the one that was passed, numbers and all: six layers, one
# start. Their outputs differ, since their inputs do. nn.Transformer draws its matrices anew, but not its vectors:
# all layers share the random start of their biases.
# Who meets it: whoever compares layers before training, averages them, or reads off how far each has moved.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --no-compile torch==2.13.0 numpy==2.4.6
"$folder/venv/bin/python" -I - <<'PY'
import torch
from torch import nn

print("torch", torch.__version__)
torch.manual_seed(0)
encoder = nn.TransformerEncoder(nn.TransformerEncoderLayer(16, 2, 32, batch_first=True), num_layers=6)
whole = nn.Transformer(16, 2, num_encoder_layers=6, dim_feedforward=32, batch_first=True).encoder


def same_start(stack):
    """Of a stack's named parameters, those that start alike in all layers and not as plain 0 or 1."""
    layers = [dict(layer.named_parameters()) for layer in stack.layers]
    names = [name for name, first in layers[0].items() if first.unique().numel() > 1]
    return {name: all(torch.equal(layers[0][name], layer[name]) for layer in layers[1:]) for name in names}


for title, stack in (("TransformerEncoder", encoder), ("Transformer", whole)):
    print(title, {name: "one start" if same else "own" for name, same in same_start(stack).items()})
assert all(same_start(encoder).values()) and len(same_start(encoder)) == 6
assert {name.endswith("bias"): same for name, same in same_start(whole).items()} == {False: False, True: True}
PY

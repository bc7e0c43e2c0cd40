#!/usr/bin/env bash
# PyTorch 2.13.0: torch.nn.utils.prune on the out_proj of nn.MultiheadAttention.
# Guess: out_proj is a Linear, so it is pruned and trained on like any Linear.
# Seen: pruning renews the weight in a hook before the module's forward. The layer never calls out_proj, it
# takes its weight. So the weight is computed once, when it is pruned: the first step of the optimiser changes
# weight_orig and not the weight in use, and the second backward raises. in_proj_weight, which belongs to the
# layer itself, can be pruned.
# Who meets it: whoever prunes all Linear layers of a transformer and trains on. Any hook on out_proj waits in vain.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --no-compile torch==2.13.0 numpy==2.4.6
"$folder/venv/bin/python" -I - <<'PY'
import torch
from torch import nn
from torch.nn.utils import prune

print("torch", torch.__version__)
torch.manual_seed(0)
x = torch.randn(1, 3, 16)


def train(layer, steps):
    optimiser = torch.optim.SGD(layer.parameters(), lr=0.1)
    for _ in range(steps):
        loss = layer(x, x, x)[0].square().sum()
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()


layer = nn.MultiheadAttention(16, 2, batch_first=True)
calls = []
layer.out_proj.register_forward_hook(lambda *_: calls.append("out_proj"))
prune.l1_unstructured(layer.out_proj, "weight", amount=0.5)
train(layer, steps=1)
stale = (layer.out_proj.weight_orig * layer.out_proj.weight_mask - layer.out_proj.weight).abs().max().item()
print("calls of out_proj:", len(calls), " weight in use differs from the trained one by", round(stale, 3))
assert not calls and stale > 0.01
try:
    train(layer, steps=1)
except RuntimeError as refusal:
    print("second step:", str(refusal).split("(")[0])
    assert "backward through the graph a second time" in str(refusal)
else:
    raise AssertionError("a second step was taken")
layer = nn.MultiheadAttention(16, 2, batch_first=True)
prune.l1_unstructured(layer, "in_proj_weight", amount=0.5)
train(layer, steps=3)
assert torch.equal(layer.in_proj_weight, layer.in_proj_weight_orig * layer.in_proj_weight_mask) is False
layer(x, x, x)
assert torch.equal(layer.in_proj_weight, layer.in_proj_weight_orig * layer.in_proj_weight_mask)
PY

#!/usr/bin/env bash
# PyTorch 2.13.0: nn.TransformerEncoderLayer, its attribute `activation` set after the layer was built.
# Guess: the layer uses its attribute, in training and afterwards.
# Seen: in training it does. In eval and no_grad one fused call takes over, told by a flag of the day the layer
# was built: ReLU is computed, the new function never called. The outputs differ by tenths; with gradients on,
# or with an odd number of heads, the same eval layer is right.
# Who meets it: whoever swaps ReLU for SiLU, or for a function that records how many features are zero.
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
x = torch.randn(2, 5, 16)
calls = []


def silu(features):
    calls.append(tuple(features.shape))
    return nn.functional.silu(features)


layer = nn.TransformerEncoderLayer(16, 2, 32, dropout=0.0, batch_first=True)
untouched = nn.TransformerEncoderLayer(16, 2, 32, dropout=0.0, batch_first=True)
untouched.load_state_dict(layer.state_dict())
layer.activation = silu
trained = layer(x).detach()
layer.eval()
with_gradients = layer(x).detach()
assert len(calls) == 2 and torch.equal(trained, with_gradients)
with torch.no_grad():
    evaluated = layer(x)
print("calls of the new activation:", len(calls), "in three passes")
print("eval and no_grad against training:", (evaluated - trained).abs().max().item())
print("eval and no_grad against a ReLU layer:", (evaluated - untouched(x)).abs().max().item())
assert len(calls) == 2
assert (evaluated - trained).abs().max() > 0.05
assert torch.allclose(evaluated, untouched(x), atol=1e-5)
PY

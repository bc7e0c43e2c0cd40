#!/usr/bin/env bash
# PyTorch 2.13.0 on a CPU: torch.utils.flop_counter on attention.
# Guess: the same work is counted, whichever kernel does it.
# Seen: scaled_dot_product_attention counts 0, under the "math" backend 32,768. An encoder layer counts all in
# training, the four projections and the network in eval, and 0 in eval and no_grad, where one fused call does
# everything. No warning names what was not counted.
# Who meets it: whoever states the cost of a model from an evaluation on a CPU.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --no-compile torch==2.13.0 numpy==2.4.6
"$folder/venv/bin/python" -I - <<'PY'
import torch
from torch import nn
from torch.nn.attention import SDPBackend, sdpa_kernel
from torch.utils.flop_counter import FlopCounterMode

print("torch", torch.__version__)
b, n, h, d_k = 2, 8, 4, 16
heads, x = torch.randn(b, h, n, d_k), torch.randn(b, n, h * d_k)


def counted(work):
    with FlopCounterMode(display=False) as counter:
        work()
    return counter.get_total_flops()


def attend():
    return nn.functional.scaled_dot_product_attention(heads, heads, heads)


default = counted(attend)
with sdpa_kernel(SDPBackend.MATH):
    math = counted(attend)
print("scaled_dot_product_attention:", default, " math backend:", math)
assert default == 0 and math == 2 * (2 * b * h * n * n * d_k)
layer = nn.TransformerEncoderLayer(h * d_k, h, 2 * h * d_k, batch_first=True)
training = counted(lambda: layer(x))
layer.eval()
evaluated = counted(lambda: layer(x))
with torch.no_grad():
    fused = counted(lambda: layer(x))
print("encoder layer in training:", training, " eval:", evaluated, " eval and no_grad:", fused)
assert training - evaluated == math and fused == 0
PY

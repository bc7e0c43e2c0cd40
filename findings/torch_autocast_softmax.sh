#!/usr/bin/env bash
# PyTorch 2.13.0: softmax under torch.autocast("cpu", torch.bfloat16).
# Guess: softmax, log_softmax, layer_norm and sums are on the list of what runs in float32, as under autocast
# on a GPU, so that the weights of attention come out as float32.
# Seen: that list is the GPU's. On a CPU the scores are bfloat16 after the matrix product and all these leave
# them so; rows of weights add up to 1 only within some thousandths. Of what was tried, cross_entropy alone
# gives float32. Code that was written for a GPU meets other dtypes here.
# Who meets it: whoever trains or records weights on a CPU with lines that were tried on a GPU.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --no-compile torch==2.13.0 numpy==2.4.6
"$folder/venv/bin/python" -I - <<'PY'
import torch
import torch.nn.functional as F

print("torch", torch.__version__)
torch.manual_seed(0)
q, k = torch.randn(64, 16), torch.randn(64, 16)
with torch.autocast("cpu", torch.bfloat16):
    scores = q @ k.T
    results = {
        "softmax": scores.softmax(dim=-1),
        "log_softmax": scores.log_softmax(dim=-1),
        "layer_norm": F.layer_norm(scores, (64,)),
        "sum": scores.sum(dim=-1),
        "cross_entropy": F.cross_entropy(scores, torch.arange(64)),
    }
for name, result in results.items():
    print(f"{name:13} {result.dtype}")
assert results.pop("cross_entropy").dtype == torch.float32
assert {result.dtype for result in results.values()} == {torch.bfloat16}
sums = results["softmax"].double().sum(dim=-1)
print("rows of weights add up to", round(sums.min().item(), 4), "...", round(sums.max().item(), 4))
assert 0.001 < (sums - 1).abs().max() < 0.02
PY

#!/usr/bin/env bash
# torch 2.13.0: torch.optim.Muon on matrices of float32 and float64.
# Guess: it computes in the dtype of the weights, as AdamW does: steps in float64 are exact to many digits.
# Seen: each step is orthogonalised in bfloat16, whatever the dtype; no word of its documentation says so. All numbers
# of a step fit into bfloat16, and a gradient changed by a hundred-thousandth changes most of them, some by 0.005.
# Who meets it: whoever compares two machines or two versions of a training with Muon: float64 does not bring them
# together, and after fifty steps of a small model its weights of attention differed in the second decimal.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet torch==2.13.0 numpy==2.4.6
"$folder/venv/bin/python" -I - <<'PY'
from importlib.metadata import version

import torch

print("torch", version("torch"))
assert "bfloat16" not in torch.optim.Muon.__doc__


def step(optimiser, gradient, **options):
    weight = torch.nn.Parameter(torch.zeros_like(gradient))
    by = optimiser([weight], lr=1.0, weight_decay=0.0, **options)
    weight.grad = gradient.clone()
    by.step()
    return -weight.detach()


for dtype in (torch.float32, torch.float64):
    torch.manual_seed(0)
    gradient = torch.randn(64, 64, dtype=dtype)
    near = gradient * (1 + 1e-5 * torch.randn_like(gradient))
    for optimiser, options in ((torch.optim.Muon, {"momentum": 0.0, "nesterov": False}), (torch.optim.SGD, {})):
        steps = [step(optimiser, each, **options) for each in (gradient, near)]
        short = bool((steps[0].bfloat16().to(dtype) == steps[0]).all())
        apart = (steps[0] - steps[1]).abs().max().item()
        print(f"{optimiser.__name__:5} {dtype}: fits into bfloat16: {short}, apart by up to {apart:.5f}")
        assert short == (optimiser is torch.optim.Muon) and (apart > 0.004) == short
PY

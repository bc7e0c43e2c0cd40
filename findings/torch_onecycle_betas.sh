#!/usr/bin/env bash
# torch 2.13.0: OneCycleLR on AdamW(betas=(0.9, 0.98)).
# Guess: a scheduler of the learning rate changes the learning rate.
# Seen: beta1 as well: it starts at 0.95, falls to 0.85 as the rate rises and goes back. The 0.9 given is never kept
# (it is met in passing), since cycle_momentum is on by default and has ends of its own. A run that goes on with
# another scheduler keeps the last one, 0.95. cycle_momentum=False leaves the betas alone.
# Who meets it: whoever takes the betas from a paper, or compares two schedules and calls the difference one of rates.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --no-compile torch==2.13.0 numpy==2.4.6
"$folder/venv/bin/python" -I - <<'PY'
import torch
from torch import nn

print("torch", torch.__version__)


def betas_over(steps, **options):
    weight = nn.Parameter(torch.zeros(1))
    optimiser = torch.optim.AdamW([weight], lr=1e-3, betas=(0.9, 0.98))
    scheduler = torch.optim.lr_scheduler.OneCycleLR(optimiser, max_lr=1e-3, total_steps=steps, **options)
    seen = []
    for step in range(steps):
        seen.append(tuple(round(beta, 3) for beta in optimiser.param_groups[0]["betas"]))
        optimiser.step()
        if step < steps - 1:
            scheduler.step()
    return seen


by_default, switched_off = betas_over(11), betas_over(11, cycle_momentum=False)
print("betas by default:", by_default)
print("with cycle_momentum=False:", set(switched_off))
assert by_default[0] == by_default[-1] == (0.95, 0.98) and min(by_default)[0] < 0.86
assert set(switched_off) == {(0.9, 0.98)}
PY

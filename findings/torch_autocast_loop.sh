#!/usr/bin/env bash
# PyTorch 2.13.0 on a CPU: one torch.autocast context around a whole training loop.
# Guess: the context says in which precision to compute; each forward uses the weights of that moment.
# Seen: the bfloat16 copies of the weights are kept until the outermost context ends. The optimiser changes the
# float32 weights, the forward goes on with the first copies: the loss stays the same to the last digit, for
# good. With the context inside the loop it falls. cache_enabled=False cures it, too.
# Who meets it: whoever writes the `with` line above the `for` line.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --no-compile torch==2.13.0 numpy==2.4.6
"$folder/venv/bin/python" -I - <<'PY'
from contextlib import nullcontext

import torch
from torch import nn

print("torch", torch.__version__)
x, target = torch.ones(1, 4), torch.tensor([[3.0]])
autocast = torch.autocast("cpu", torch.bfloat16)


def losses(around_loop, around_step):
    torch.manual_seed(0)
    layer = nn.Linear(4, 1)
    optimiser = torch.optim.SGD(layer.parameters(), lr=0.05)
    first, steps = layer.weight.detach().clone(), []
    with around_loop:
        for _ in range(4):
            with around_step:
                loss = nn.functional.mse_loss(layer(x).float(), target)
            optimiser.zero_grad()
            loss.backward()
            optimiser.step()
            steps.append(round(loss.item(), 3))
    assert not torch.equal(first, layer.weight)
    return steps


above, below = losses(autocast, nullcontext()), losses(nullcontext(), autocast)
print("loss, context around the loop:", above)
print("loss, context inside the loop:", below)
assert len(set(above)) == 1 and above[0] == below[0] and below[-1] < 0.1 * below[0]
without_cache = torch.autocast("cpu", torch.bfloat16, cache_enabled=False)
assert losses(without_cache, nullcontext()) == below
PY

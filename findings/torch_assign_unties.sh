#!/usr/bin/env bash
# PyTorch 2.13.0: load_state_dict(assign=True) and an embedding that is tied to the unembedding.
# Guess: what the class ties stays tied: assign only saves the copying.
# Seen: two parameters where there was one. They share their memory, so every look at the numbers says "tied";
# but each gets its own part of the gradient, and an optimiser steps twice through one memory. With AdamW the
# step differs from the tied model's; the count of parameters grows by the vocabulary. Without assign all is well.
# Who meets it: whoever loads with mmap and assign to save memory and then goes on training.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --no-compile torch==2.13.0 numpy==2.4.6
"$folder/venv/bin/python" -I - <<'PY'
import io

import torch
from torch import nn

print("torch", torch.__version__)


class Tied(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed, self.unembed = nn.Embedding(7, 4), nn.Linear(4, 7, bias=False)
        self.unembed.weight = self.embed.weight


torch.manual_seed(0)
file = io.BytesIO()
torch.save(Tied().state_dict(), file)


def loaded(assign):
    file.seek(0)
    model = Tied()
    model.load_state_dict(torch.load(file), assign=assign)
    return model


def after_one_step(model):
    optimiser = torch.optim.AdamW(model.parameters(), lr=0.1)
    scores = model.unembed(model.embed(torch.tensor([1, 2, 3])))
    nn.functional.cross_entropy(scores, torch.tensor([2, 3, 4])).backward()
    optimiser.step()
    return model.embed.weight.detach()


copied, assigned = loaded(assign=False), loaded(assign=True)
for name, model in (("copied", copied), ("assigned", assigned)):
    shared = model.embed.weight.data_ptr() == model.unembed.weight.data_ptr()
    count = sum(parameter.numel() for parameter in model.parameters())
    print(name, "- one memory:", shared, "- one parameter:", model.embed.weight is model.unembed.weight, "-", count)
    assert shared
assert copied.embed.weight is copied.unembed.weight
assert assigned.embed.weight is not assigned.unembed.weight
difference = (after_one_step(copied) - after_one_step(assigned)).abs().max().item()
print("after one step of AdamW they differ by", round(difference, 3))
assert difference > 0.05
PY

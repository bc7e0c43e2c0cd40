#!/usr/bin/env bash
# torch 2.13.0: nn.Embedding(..., max_norm=1) in a language model whose unembedding is the same tensor.
# Guess: vectors are shortened as they are looked up, the table stays; or it is shortened in training alone.
# Seen: looking a word up writes the shortened vector into the table, in eval and no_grad too. So reading one text
# changes the logits of another: which words were met since the model was loaded decides what it says. The second
# reading of everything is stable.
# Who meets it: whoever evaluates a model twice, or on two machines with the texts in another order.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --no-compile torch==2.13.0 numpy==2.4.6
"$folder/venv/bin/python" -I - <<'PY'
import torch
from torch import nn

print("torch", torch.__version__)


class Model(nn.Module):
    def __init__(self, max_norm):
        super().__init__()
        torch.manual_seed(0)
        self.embed = nn.Embedding(6, 8, max_norm=max_norm)
        self.unembed = nn.Linear(8, 6, bias=False)
        self.unembed.weight = self.embed.weight

    def forward(self, words):
        return self.unembed(self.embed(words))


text, other = torch.tensor([0, 1, 2]), torch.tensor([3, 4, 5])
for max_norm in (None, 1.0):
    model = Model(max_norm).eval()
    with torch.no_grad():
        at_load = model.embed.weight.norm(dim=1)
        first = model(text)
        model(other)
        again = model(text)
        moved = (again - first).abs().max().item()
        lengths = (model.embed.weight.norm(dim=1) - at_load).abs().max().item()
        third = model(text)
    print(f"max_norm={max_norm}: after another text the logits of the first move by {moved:.3f},", end=" ")
    print(f"vectors of the table by {lengths:.3f}; a third reading by {(third - again).abs().max():.3f}")
    assert (moved > 0.1) == (lengths > 0.1) == (max_norm is not None) and torch.equal(third, again)
PY

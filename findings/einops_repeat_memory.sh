#!/usr/bin/env bash
# einops 0.8.2 with torch 2.13.0 and NumPy: one mask, or one vector, repeated for every head or text.
# Guess: repeat makes copies, as its name and NumPy's and torch's own repeat do: writing to one head leaves the others.
# Seen: in torch a new axis of its own is a view of stride 0. Hiding a key for one head hides it for all heads of all
# texts; where the new axis has length 1, the original is written to as well. If the new axis is merged with another,
# as in "(b g)", it is a copy, and so it always is in NumPy: the same line of code means two things.
# (torch refuses in-place arithmetic on such a tensor, but not an assignment to a part of it.)
# Who meets it: whoever repeats a mask, a bias or a class token and then changes it for one head or one text, say to
# switch off a connection; and whoever moves such code from NumPy to torch.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --no-compile einops==0.8.2 torch==2.13.0 numpy==2.4.6
"$folder/venv/bin/python" -I - <<'PY'
import einops
import numpy as np
import torch

print("einops", einops.__version__, "torch", torch.__version__, "numpy", np.__version__)


def zeros_added(ones, pattern, **lengths):
    """Repeat a mask of ones, set one entry of the first copy to 0: zeros in the repeated mask, zeros in the original."""
    mask = ones((4, 4))
    masks = einops.repeat(mask, pattern, **lengths)
    masks[(0,) * (masks.ndim - 2) + (2, 1)] = 0  # the first text, the first head: query 2 shall not see key 1
    return int((masks == 0).sum()), int((mask == 0).sum())


print("zeros after one assignment: in the repeated mask, in the original")
cases = [
    ("n m -> b h n m", dict(b=2, h=3), (6, 1)),
    ("n m -> h n m", dict(h=1), (1, 1)),
    ("n m -> (h n) m", dict(h=3), (1, 0)),
]
for pattern, lengths, in_torch in cases:
    seen = zeros_added(torch.ones, pattern, **lengths), zeros_added(np.ones, pattern, **lengths)
    print(f"{pattern:16} {lengths!s:16} torch {seen[0]}  numpy {seen[1]}")
    assert seen == (in_torch, (1, 0))

masks = einops.repeat(torch.ones(4, 4), "n m -> h n m", h=3)
own = torch.ones(4, 4).repeat(3, 1, 1)
print("strides of the repeated mask:", masks.stride(), "by torch's own repeat:", own.stride())
assert masks.stride(0) == 0
PY

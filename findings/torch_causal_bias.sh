#!/usr/bin/env bash
# PyTorch 2.13.0: the masks of torch.nn.attention.bias, such as causal_lower_right(3, 5), which are tensors.
# Guess: what is printed is what is there: three rows of five, True and False.
# Seen: the print shows that, but the tensor's shape is (2, 3, 5), its dtype float32, and nothing but
# F.scaled_dot_product_attention can use it: ~ and masked_fill raise; what indexing, sum and .to(torch.bool) give
# raises as soon as it is looked at; .tolist() goes through and hands out two matrices of whatever numbers stood
# there, not the mask.
# Who meets it: whoever hands the mask to another layer, draws it, or counts what it hides.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --no-compile torch==2.13.0 numpy==2.4.6
"$folder/venv/bin/python" -I - <<'PY'
import torch
from torch.nn import functional as F
from torch.nn.attention.bias import causal_lower_right

print("torch", torch.__version__)
mask = causal_lower_right(3, 5)
print(mask)
print("shape", tuple(mask.shape), mask.dtype, "is a tensor:", isinstance(mask, torch.Tensor))
assert "True,  True,  True, False, False" in str(mask)
assert tuple(mask.shape) == (2, 3, 5) and mask.dtype == torch.float32 and len(mask.tolist()) == 2

uses = {
    "mask[0]": lambda: mask[0],
    "mask.sum()": lambda: mask.sum(),
    "~mask": lambda: ~mask,
    "masked_fill": lambda: torch.zeros(3, 5).masked_fill(mask, 1),
    "mask.to(torch.bool)": lambda: mask.to(torch.bool),
}
for name, use in uses.items():
    try:
        str(use())
    except Exception as error:
        print(f"{name}: {type(error).__name__}")
    else:
        raise AssertionError(f"{name} does not raise any more")

q, k = torch.zeros(1, 3, 4), torch.zeros(1, 5, 4)
weights = F.scaled_dot_product_attention(q, k, torch.eye(5)[None], attn_mask=mask)[0]
print("weights that it allows:", weights.gt(0).int().tolist())
assert weights.gt(0).equal(torch.ones(3, 5, dtype=torch.bool).tril(2))
PY

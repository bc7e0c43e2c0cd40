#!/usr/bin/env bash
# torch 2.13.0: nn.init.xavier_uniform_ and orthogonal_ on the weights of all heads in one tensor.
# Guess: the last two axes are the matrix, as for matmul; so (h, d_model, d_k) starts like h matrices (d_model, d_k).
# Seen: a tensor of three axes is taken for a convolution, (out, in, width): fan_in = d_model * d_k and
# fan_out = h * d_k. With 8 heads of 64 the numbers start 6 times smaller than in one (512, 512) matrix, and the
# scores, a product of two of them, 32 times smaller: attention starts as the plain mean. orthogonal_ makes
# the h rows of d_model * d_k numbers orthogonal, and no head's matrix.
# Who meets it: whoever writes heads as nn.Parameter(torch.empty(h, d_model, d_k)) for einsum or torch.matmul.
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
h, d_model, d_k = 8, 512, 64
x = torch.randn(100, d_model)


def start(init, shape):
    return init(torch.empty(shape))


def spread_of_scores(queries, keys):
    return (queries @ keys.mT / d_k**0.5).std().item()


flat = [start(nn.init.xavier_uniform_, (d_model, h * d_k)) for _ in range(2)]
heads = [start(nn.init.xavier_uniform_, (h, d_model, d_k)) for _ in range(2)]
smaller = flat[0].std() / heads[0].std()
print(f"xavier: spread {flat[0].std():.4f} as {(d_model, h * d_k)}, {heads[0].std():.4f} as {(h, d_model, d_k)}")
of_flat = spread_of_scores(*((x @ w).view(100, h, d_k).transpose(0, 1) for w in flat))
of_heads = spread_of_scores(*(x @ w for w in heads))
print(f"spread of the scores: {of_flat:.3f} and {of_heads:.3f}")
assert 5.5 < smaller < 6 and 29 < of_flat / of_heads < 36
one = torch.linalg.svdvals(start(nn.init.orthogonal_, (d_model, d_k)))
many = torch.linalg.svdvals(start(nn.init.orthogonal_, (h, d_model, d_k)))
print(f"orthogonal: singular values of one head alone {one.min():.3f} .. {one.max():.3f},", end=" ")
print(f"of the heads in one tensor {many.min():.3f} .. {many.max():.3f}")
assert one.min() > 0.999 and many.max() < 0.3
PY

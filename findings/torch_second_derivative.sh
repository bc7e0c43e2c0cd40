#!/usr/bin/env bash
# PyTorch 2.13.0 on a CPU: second derivatives through F.scaled_dot_product_attention.
# Guess: where the fast kernel has no second derivative, the plain one is taken, as it is for a mask that learns.
# Seen: the first gradient comes with create_graph=True and says that it can be differentiated; its backward then
# raises. Forward mode (jvp, and so hessian) raises at once. A mask that requires a gradient, or the "math"
# backend, takes the plain way, and all of it works.
# Who meets it: gradient penalties, Hessians, influence functions, meta-learning with a transformer on a CPU.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --no-compile torch==2.13.0 numpy==2.4.6
"$folder/venv/bin/python" -I - <<'PY'
import torch
from torch.func import jvp
from torch.nn.attention import SDPBackend, sdpa_kernel
from torch.nn.functional import scaled_dot_product_attention as attention

print("torch", torch.__version__)
torch.manual_seed(0)
q, k, v = (torch.randn(1, 2, 4, 8, requires_grad=True) for _ in range(3))


def penalty(**mask):
    (gradient,) = torch.autograd.grad(attention(q, k, v, **mask).square().sum(), q, create_graph=True)
    assert gradient.requires_grad
    return torch.autograd.grad(gradient.square().sum(), q)[0]


def forward_mode():
    return jvp(lambda query: attention(query, k, v), (q.detach(),), (torch.ones_like(q),))[1]


for name, derivative in (("twice backward", penalty), ("forward mode", forward_mode)):
    try:
        derivative()
    except (RuntimeError, NotImplementedError) as refusal:
        print(f"{name}:", str(refusal).split("\n")[0][:110])
        assert "_scaled_dot_product_flash_attention_for_cpu" in str(refusal)
    else:
        raise AssertionError(name)
with sdpa_kernel(SDPBackend.MATH):
    plain = penalty()
    assert forward_mode().isfinite().all()
learned = torch.zeros(4, 4, requires_grad=True)
print("with a learned mask, against the math backend:", (penalty(attn_mask=learned) - plain).abs().max().item())
assert torch.allclose(penalty(attn_mask=learned), plain, atol=1e-5)
PY

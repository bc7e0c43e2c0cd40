#!/usr/bin/env bash
# torch 2.13.0: nn.MultiheadAttention with add_bias_kv=True (or add_zero_attn=True), causal mask and is_causal=True.
# Guess: the learned extra key is there for every query; asking for the weights changes no output.
# Seen: with need_weights=False the mask is thrown away and the kernel's own causal flag is set. The extra keys
# stand behind the last word, so that flag hides them from every query: bias_k and bias_v take no part and get
# gradients of exactly 0. With need_weights=True every query sees them, and the output is another.
# Who meets it: whoever trains with sinks of this kind (need_weights=False, the fast way) and then asks for the
# weights to look at them: the picture is of a computation that was never trained.
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
x = torch.randn(1, 5, 16)
mask = nn.Transformer.generate_square_subsequent_mask(5)
plain = nn.MultiheadAttention(16, 4, batch_first=True)
for extra in ("add_bias_kv", "add_zero_attn"):
    layer = nn.MultiheadAttention(16, 4, batch_first=True, **{extra: True})
    layer.load_state_dict(plain.state_dict(), strict=False)
    unlike = {}
    for asked in (True, False):
        layer.zero_grad()
        output, weights = layer(x, x, x, attn_mask=mask, is_causal=True, need_weights=asked)
        without = plain(x, x, x, attn_mask=mask, is_causal=True, need_weights=asked)[0]
        unlike[asked] = (output - without).abs().max().item()
        print(f"{extra}, need_weights={asked}: the extra key moves the output by {unlike[asked]:.3f}", end="")
        if asked:
            print(f"; its weights: {weights[0, :, -1].detach().numpy().round(2)}", end="")
            assert (weights[0, :, -1] > 0.01).all()
        if extra == "add_bias_kv":
            output.square().sum().backward()
            size = layer.bias_k.grad.abs().sum().item() + layer.bias_v.grad.abs().sum().item()
            print(f"; gradient of bias_k and bias_v: {size:.3f}", end="")
            assert (size > 0.1) == asked
        print()
    assert unlike[True] > 0.01 and unlike[False] < 1e-6
PY

#!/usr/bin/env bash
# PyTorch 2.13.0 on a CPU: merging the heads of F.scaled_dot_product_attention by transpose and view.
# Guess: after a transpose, view always raises and .contiguous() is needed; or never, if it ran once.
# Seen: the result lies in memory as the query did. Heads that were cut by view and transpose, the usual way,
# can be merged by view, and code without .contiguous() runs. With dropout, with a mask that learns, or where
# the heads were laid out anew, they lie otherwise, and the same line raises.
# Who meets it: whoever tests in eval and trains with dropout.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --no-compile torch==2.13.0 numpy==2.4.6
"$folder/venv/bin/python" -I - <<'PY'
import torch
from torch.nn.functional import scaled_dot_product_attention as attention

print("torch", torch.__version__)
b, n, h, d_k = 2, 5, 4, 8
x = torch.randn(b, n, h * d_k)
heads = x.view(b, n, h, d_k).transpose(1, 2)  # the usual way -> (b, h, n, d_k)
learned = torch.zeros(n, n, requires_grad=True)
calls = {
    "plain": lambda: attention(heads, heads, heads),
    "causal": lambda: attention(heads, heads, heads, is_causal=True),
    "heads laid out anew": lambda: attention(*[heads.contiguous()] * 3),
    "dropout": lambda: attention(heads, heads, heads, dropout_p=0.1),
    "mask that learns": lambda: attention(heads, heads, heads, attn_mask=learned),
}
merged = {}
for name, call in calls.items():
    result = call()
    assert result.shape == (b, h, n, d_k)
    try:
        result.transpose(1, 2).view(b, n, h * d_k)
    except RuntimeError:
        merged[name] = False
    else:
        merged[name] = True
    print(f"{name:20} strides {result.stride()}  view merges the heads: {merged[name]}")
assert [name for name, fine in merged.items() if fine] == ["plain", "causal"]
PY

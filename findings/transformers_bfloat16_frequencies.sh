#!/usr/bin/env bash
# transformers 5.24.0: two ways to a Llama in bfloat16.
# Guess: from_pretrained(folder, dtype=bfloat16) and from_pretrained(folder).bfloat16() are the same model.
# Seen: the weights are. But the frequencies of the rotation are a buffer, and .bfloat16() (or .to) rounds it, to
# three digits; loading with dtype leaves it in float32. 0.1 becomes 0.1001: at position 2,000 the angle is off by
# 0.2, and the outputs part by far more than bfloat16's own rounding.
# Who meets it: whoever converts after loading, or moves model and dtype in one .to(...).
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --no-compile transformers==5.24.0 torch==2.13.0 numpy==2.4.6
"$folder/venv/bin/python" -I - <<'PY'
from tempfile import TemporaryDirectory

import torch
import transformers
from transformers import LlamaConfig, LlamaModel

print("transformers", transformers.__version__, "torch", torch.__version__)
torch.manual_seed(0)
sizes = dict(hidden_size=32, intermediate_size=64, num_hidden_layers=2, num_attention_heads=4)
model = LlamaModel(LlamaConfig(vocab_size=50, initializer_range=0.5, **sizes))
with TemporaryDirectory() as folder:
    model.save_pretrained(folder)
    loaded = LlamaModel.from_pretrained(folder, dtype=torch.bfloat16).eval()
    converted = LlamaModel.from_pretrained(folder, dtype=torch.float32).bfloat16().eval()
assert all(torch.equal(a, b) for a, b in zip(loaded.parameters(), converted.parameters(), strict=True))
frequencies = [m.rotary_emb.inv_freq for m in (loaded, converted)]
print("frequencies", *(f"{f.dtype}: {[round(x, 6) for x in f.tolist()]}" for f in frequencies))
assert [f.dtype for f in frequencies] == [torch.float32, torch.bfloat16]
words = torch.randint(0, 50, (1, 2000))
with torch.no_grad():
    a, b = (m(words).last_hidden_state[0].float() for m in (loaded, converted))
near, far = (a - b)[:4].abs().mean().item(), (a - b)[-100:].abs().mean().item()
angle = 2000 * (frequencies[0].double() - frequencies[1].double()).abs().max().item()
print("angle at position 2,000 off by", round(angle, 2), " outputs off by", round(near, 4), "near,", round(far, 4), "far")
assert angle > 0.1 and far > 0.05 and far > 3 * near
PY

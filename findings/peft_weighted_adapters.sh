#!/usr/bin/env bash
# peft 0.21.2: add_weighted_adapter with combination_type="linear" on two LoRA adapters.
# Guess: with weights 0.5 and 0.5 the new adapter moves each output by the mean of what the two move it by.
# Seen: A and B are added up apart, each by the square root of its weight, and then multiplied: the products of one
# adapter's A with the other's B come along. An adapter and one that does the opposite do not cancel. "svd" and
# "cat" add up the products, as one would think.
# Who meets it: whoever blends a style and a task, or takes one away by a negative weight.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --no-compile peft==0.21.2 transformers==5.24.0 torch==2.13.0 numpy==2.4.6
"$folder/venv/bin/python" -I - <<'PY'
from importlib.metadata import version

import torch
from peft import LoraConfig, get_peft_model
from torch import nn

print("peft", version("peft"), "torch", torch.__version__)
torch.manual_seed(0)
x = torch.eye(8)
config = dict(target_modules=["0"], init_lora_weights=False, r=2, lora_alpha=2)
model = get_peft_model(nn.Sequential(nn.Linear(8, 8, bias=False)), LoraConfig(**config), adapter_name="a")
model.add_adapter("b", LoraConfig(**config))
model.requires_grad_(False).eval()
with model.disable_adapter():
    frozen = model(x)


def moved_by(name):
    model.set_adapter(name)
    model.requires_grad_(False)
    return model(x) - frozen


a, b = moved_by("a"), moved_by("b")
wanted = (a + b) / 2
off = {}
for way in ("linear", "cat", "svd"):
    model.add_weighted_adapter(["a", "b"], [0.5, 0.5], way, combination_type=way, svd_rank=4 if way == "svd" else None)
    off[way] = (moved_by(way) - wanted).abs().max().item()
    print(f"{way}: off the mean by {off[way]:.5f}, where the mean is up to {wanted.abs().max():.3f}")
assert off["cat"] < 1e-5 and off["svd"] < 1e-5 and off["linear"] > 0.05
model.add_adapter("minus a", LoraConfig(**config))
layer = model.base_model.model[0]
layer.lora_A["minus a"].weight.data = layer.lora_A["a"].weight.data.clone()
layer.lora_B["minus a"].weight.data = -layer.lora_B["a"].weight.data
model.add_weighted_adapter(["a", "b", "minus a"], [1.0, 1.0, 1.0], "three", combination_type="linear")
model.add_weighted_adapter(["a", "b", "minus a"], [1.0, 1.0, 1.0], "three cat", combination_type="cat")
linear, cat = ((moved_by(name) - b).abs().max().item() for name in ("three", "three cat"))
print(f"a + b - a is off b by {linear:.5f} with linear, by {cat:.5f} with cat")
assert linear > 0.05 and cat < 1e-5
PY

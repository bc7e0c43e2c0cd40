#!/usr/bin/env bash
# peft 0.21.2: LoRA on nn.TransformerEncoderLayer (torch 2.13.0).
# Guess: what was trained is what is evaluated.
# Seen: LoRA on linear1, or on self_attn, works in training. In eval the layer hands its weights to one fused
# call; LoRA's wrapper shows the frozen weight under the name `weight`, so the adapter is left out and the base
# model answers, to seven digits. In eval with gradients on, too, since the weights that the layer looks at are
# frozen. Training loss falls, validation stays the base model's.
# Who meets it: whoever adapts a model made of PyTorch's own encoder layers.
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
x = torch.randn(1, 3, 16)
for target in ("linear1", "self_attn"):
    base = nn.Sequential(nn.TransformerEncoderLayer(16, 2, 32, dropout=0.0, batch_first=True))
    model = get_peft_model(base, LoraConfig(target_modules=[target], init_lora_weights=False, r=4))
    model.train()
    adapted = model(x).detach()
    with model.disable_adapter():
        unadapted = model(x).detach()
    model.eval()
    evaluated = model(x).detach()
    with torch.no_grad():
        without_gradients = model(x)
    print(
        f"LoRA on {target}: in training it moves the output by {(adapted - unadapted).abs().max():.2f};",
        f"in eval the output is off the base model's by {(without_gradients - unadapted).abs().max():.0e}",
    )
    assert (adapted - unadapted).abs().max() > 0.1
    assert torch.allclose(evaluated, unadapted, atol=1e-5)
    assert torch.allclose(without_gradients, unadapted, atol=1e-5)
PY

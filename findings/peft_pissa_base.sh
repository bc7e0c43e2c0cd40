#!/usr/bin/env bash
# peft 0.21.2: disable_adapter() and unload() where LoRA was started with init_lora_weights="pissa" or "olora".
# Guess: without the adapter the base model answers, whatever the adapter started from.
# Seen: these starts move a part of the weights out of the base into A and B. At once after get_peft_model, the
# model with its adapter is the base; with the adapter off, or unloaded, it is the base without its largest
# directions. True and "gaussian" leave the base alone.
# Who meets it: whoever takes the disabled model for reference (as DPO does), or measures what LoRA has gained.
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
x = torch.eye(32)
for start in (True, "gaussian", "pissa", "olora"):
    torch.manual_seed(0)
    base = nn.Sequential(nn.Linear(32, 32, bias=False))
    with torch.no_grad():
        answer = base(x)
        model = get_peft_model(base, LoraConfig(target_modules=["0"], init_lora_weights=start, r=4)).eval()
        on = (model(x) - answer).abs().max().item()
        with model.disable_adapter():
            off = (model(x) - answer).abs().max().item()
        unloaded = (model.unload()(x) - answer).abs().max().item()
    print(f"{start}: off the base model by {on:.5f} with the adapter, {off:.5f} disabled, {unloaded:.5f} unloaded")
    moved = start in ("pissa", "olora")
    assert on < 1e-5 and (off > 0.05) == (unloaded > 0.05) == moved
    assert moved or off == unloaded == 0
PY

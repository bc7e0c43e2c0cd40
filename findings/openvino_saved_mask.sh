#!/usr/bin/env bash
# openvino 2026.4.1: save_model (its default, compress_to_fp16=True) of a model with a mask of -1e9.
# Guess: float16 for storage costs about 1e-3 and leaves what is hidden hidden.
# Seen: -1e9 is written as -65504, float16's lowest number. Added to scores in float32, -1e9 swallows them, so a row
# without a key is the mean of all values; -65504 does not, so after saving that row attends as if nothing were
# hidden. The model answered right before it was saved. The same for float32's lowest number; rows with a key do
# not change, and compress_to_fp16=False keeps all.
# Who meets it: whoever ships padded batches: the rows of padding carry other numbers than where the model was tested.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --no-compile openvino==2026.4.1 torch==2.13.0 numpy==2.4.6
"$folder/venv/bin/python" -I - <<'PY'
import tempfile
from importlib.metadata import version

import numpy as np
import openvino
import torch
from torch import nn

print("openvino", version("openvino"), "torch", torch.__version__)
torch.manual_seed(0)
core = openvino.Core()
words = torch.randn(1, 5, 8)


class Attention(nn.Module):
    def __init__(self, hidden):
        super().__init__()
        mask = torch.full((5, 5), hidden).triu(1)
        mask[0] = hidden  # the first word has no key
        self.register_buffer("mask", mask)

    def forward(self, x):
        return (x @ x.transpose(1, 2) + self.mask).softmax(-1) @ x


def run(model):
    return core.compile_model(model, "CPU", {"INFERENCE_PRECISION_HINT": "f32"})([words.numpy()])[0][0]


mean = words[0].mean(0).numpy()
unmasked = ((words @ words.transpose(1, 2)).softmax(-1) @ words)[0, 0].numpy()
with tempfile.TemporaryDirectory() as folder:
    for hidden in (-1e9, torch.finfo(torch.float32).min, -1e4):
        model = openvino.convert_model(Attention(hidden).eval(), example_input=words)
        expected, seen = Attention(hidden)(words)[0].numpy(), {"not saved": run(model)}
        for name, compress in {"saved": True, "saved as float32": False}.items():
            path = f"{folder}/{hidden}-{compress}.xml"
            openvino.save_model(model, path, **({} if compress else {"compress_to_fp16": False}))
            seen[name] = run(core.read_model(path))
        for name, answer in seen.items():
            off = np.abs(answer - expected).max(-1)
            print(f"mask of {hidden:.1e}, {name}: off torch by {off[0]:.4f} without a key, {off[1:].max():.4f} with some")
            changed = name == "saved" and hidden < -1e5
            assert (off[0] > 0.1) == changed and off[1:].max() < 1e-3
            if hidden < -1e5:
                assert np.allclose(answer[0], unmasked if changed else mean, atol=0.01)
PY

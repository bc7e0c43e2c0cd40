#!/usr/bin/env bash
# pnnx 20261020 and ncnn 1.0.20261020: nn.MultiheadAttention (torch 2.13.0) with a causal mask and is_causal=True.
# Guess: the converted layer is causal, or the conversion is refused.
# Seen: with need_weights=False torch puts its kernel's own flag in place of the mask, and the converter, which sees
# a layer without a mask, writes one: the file's answer is that of the layer without any mask. add_zero_attn=True is
# dropped as well. No warning for either.
# Who meets it: whoever ships a decoder to a phone with the hint that torch's documentation advises.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --no-compile ncnn==1.0.20261020 pnnx==20261020 torch==2.13.0 numpy==2.4.6
"$folder/venv/bin/python" -I - <<'PY'
import os
import tempfile
from importlib.metadata import version

import ncnn
import numpy as np
import pnnx
import torch
from torch import nn

print(*(f"{name} {version(name)}" for name in ("pnnx", "ncnn", "torch")))
torch.backends.mha.set_fastpath_enabled(False)
torch.manual_seed(0)
words = torch.randn(1, 5, 16)
plain = nn.MultiheadAttention(16, 4, batch_first=True).eval()
with_zero = nn.MultiheadAttention(16, 4, batch_first=True, add_zero_attn=True).eval()
with_zero.load_state_dict(plain.state_dict())


class Attention(nn.Module):
    def __init__(self, layer, causal):
        super().__init__()
        self.layer, self.causal = layer, causal
        self.register_buffer("mask", nn.Transformer.generate_square_subsequent_mask(5) if causal else None)

    def forward(self, x):
        return self.layer(x, x, x, attn_mask=self.mask, is_causal=self.causal, need_weights=False)[0]


def converted(model, name):
    pnnx.export(model, f"{name}.pt", (words,), fp16=False)
    net = ncnn.Net()
    net.opt.use_fp16_packed = net.opt.use_fp16_storage = net.opt.use_fp16_arithmetic = net.opt.use_bf16_storage = False
    net.load_param(f"{name}.ncnn.param")
    net.load_model(f"{name}.ncnn.bin")
    extractor = net.create_extractor()
    extractor.input("in0", ncnn.Mat(words[0].numpy()).clone())
    return np.array(extractor.extract("out0")[1])


unmasked = Attention(plain, False)(words)[0].detach().numpy()
cases = {"plain": Attention(plain, False), "causal": Attention(plain, True), "zero": Attention(with_zero, False)}
with tempfile.TemporaryDirectory() as folder:
    os.chdir(folder)
    for name, model in cases.items():
        wanted, seen = model(words)[0].detach().numpy(), converted(model, name)
        off = [np.abs(seen - other).max() for other in (wanted, unmasked)]
        print(f"SEEN {name}: off torch's answer by {off[0]:.4f}, off that of the plain layer by {off[1]:.4f}")
        assert off[1] < 1e-4 and (off[0] > 0.05) == (name != "plain")
    os.chdir("/")
PY

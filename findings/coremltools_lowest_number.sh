#!/usr/bin/env bash
# coremltools 9.0: a mask of torch.finfo(torch.float32).min, converted with the default precision (float16).
# Guess: it becomes float16's own lowest number, or the sum stays in float32, as it does for a mask of -1e9.
# Seen: -1e9, too large for float16, keeps its sum in float32, with a cast on both sides. The lowest number is
# let through as float16: -inf. A row without a key, for which torch gives the mean of all values, so becomes a
# row of -inf, which no softmax can answer (Core ML itself runs on a Mac alone: the file was read, not run).
# compute_precision=FLOAT32 keeps both masks.
# Who meets it: whoever converts a model whose mask is written the way transformers writes it.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --no-compile coremltools==9.0 torch==2.13.0 numpy==2.4.6
"$folder/venv/bin/python" -I - <<'PY'
import logging
import warnings

warnings.simplefilter("ignore")
logging.disable(logging.WARNING)
import coremltools
import numpy as np
import torch
from torch import nn

print("coremltools", coremltools.__version__, "torch", torch.__version__, "numpy", np.__version__)
words = torch.randn(1, 5, 8)


class Attention(nn.Module):
    def __init__(self, hidden):
        super().__init__()
        self.register_buffer("mask", torch.full((5, 5), hidden).triu(1))
        self.mask[0] = hidden

    def forward(self, x):
        return (x @ x.transpose(1, 2) + self.mask).softmax(-1) @ x


def convert(model, precision):
    program = coremltools.convert(
        torch.jit.trace(model.eval(), words),
        inputs=[coremltools.TensorType(name="x", shape=words.shape)],
        convert_to="mlprogram",
        compute_precision=precision,
        skip_model_load=True,
        minimum_deployment_target=coremltools.target.iOS17,
    )
    operations = program._mil_program.functions["main"].operations
    constants = [np.asarray(o.outputs[0].val) for o in operations if o.op_type == "const" and o.outputs[0].val is not None]
    return next(c for c in constants if c.size == 25), [o.op_type for o in operations if o.op_type != "const"]


lowest = torch.finfo(torch.float32).min
seen = {}
for hidden in (-1e4, -1e9, lowest):
    for precision in (coremltools.precision.FLOAT16, coremltools.precision.FLOAT32):
        mask, steps = convert(Attention(hidden), precision)
        seen[hidden, precision.name] = mask
        print(f"{hidden:.2e}, {precision.name}: mask of {mask.dtype} holds {mask[0, 1]}; {steps}")
empty = Attention(lowest)(words)[0, 0]
assert torch.allclose(empty, words[0].mean(0), atol=1e-5)
assert seen[-1e9, "FLOAT16"].dtype == np.float32 and seen[lowest, "FLOAT16"].dtype == np.float16
assert np.isneginf(seen[lowest, "FLOAT16"][0]).all() and np.isfinite(seen[lowest, "FLOAT32"]).all()
PY

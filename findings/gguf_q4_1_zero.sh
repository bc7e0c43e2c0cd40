#!/usr/bin/env bash
# GGUF's Q4_1 and Q5_1, read and written by gguf 0.19.0.
# Guess: zero, the number that every other kind of block keeps, is kept here too.
# Seen: the sixteen levels are laid between a block's smallest and largest number, and zero is a level only
# by chance. With -1 and +1 in the block, the thirty zeros come back as -0.067 (0.032 in Q5_1).
# Q4_0, Q5_0, Q8_0 and MXFP4 keep them.
# Who meets it: whoever prunes weights, switches off a feature by zeros, or pads a matrix, then quantises.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet gguf==0.19.0 numpy==2.4.6
"$folder/venv/bin/python" -I - <<'PY'
from importlib.metadata import version

import numpy as np
from gguf import GGMLQuantizationType as Type
from gguf.quants import dequantize, quantize

print("gguf", version("gguf"))
block = np.zeros(32, dtype=np.float32)
block[0], block[1] = 1, -1
zeros = {}
for kind in (Type.Q4_0, Type.Q5_0, Type.Q8_0, Type.MXFP4, Type.Q4_1, Type.Q5_1):
    zeros[kind] = np.unique(dequantize(quantize(block, kind), kind)[2:])
    print(f"{kind.name:6} the thirty zeros come back as {zeros[kind].tolist()}")
for kind in (Type.Q4_0, Type.Q5_0, Type.Q8_0, Type.MXFP4):
    assert (zeros[kind] == 0).all()
assert abs(abs(zeros[Type.Q4_1]) - 1 / 15).max() < 1e-3
assert abs(abs(zeros[Type.Q5_1]) - 1 / 31).max() < 1e-3
PY

#!/usr/bin/env bash
# mlx 0.32.4 on a CPU: nn.SinusoidalPositionalEncoding.
# Guess: the table of "Attention Is All You Need", sine and cosine by turns, each pair of length 1.
# Seen: all sines, then all cosines; the frequencies run down to 1/10000 itself; and everything is scaled
# so that a row, not a pair, has length 1. For 64 features the rows of the paper are 5.7 times as long.
# Who meets it: whoever carries trained weights to mlx, or adds these rows to embeddings that were scaled by
# sqrt(d_model) for the paper's.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet mlx==0.32.4 mlx-cpu==0.32.4 numpy==2.4.6
"$folder/venv/bin/python" -I - <<'PY'
from importlib.metadata import version

import mlx.core as mx
import mlx.nn as nn
import numpy as np

print("mlx", version("mlx"))
d_model, positions = 64, np.arange(10)
angles = positions[:, None] / 10_000 ** (np.arange(0, d_model, 2) / d_model)
paper = np.stack([np.sin(angles), np.cos(angles)], axis=-1).reshape(10, d_model)
table = np.array(nn.SinusoidalPositionalEncoding(d_model)(mx.array(positions)))
print("position 1, paper:", paper[1, :4].round(3), "...", paper[1, -2:].round(5))
print("position 1, mlx:  ", table[1, :4].round(3), "...", table[1, -2:].round(5))
lengths = np.linalg.norm(paper, axis=1), np.linalg.norm(table, axis=1)
print("length of a row: paper", lengths[0][0].round(3), "mlx", lengths[1][0].round(3))
assert np.allclose(lengths[0], np.sqrt(d_model / 2)) and np.allclose(lengths[1], 1, atol=1e-5)
sines, cosines = np.split(table * np.sqrt(d_model / 2), 2, axis=1)
slower = positions[:, None] / 10_000 ** (np.arange(d_model / 2) / (d_model / 2 - 1))
assert np.allclose(sines, np.sin(slower), atol=1e-4) and np.allclose(cosines, np.cos(slower), atol=1e-4)
assert abs(sines - np.sin(angles)).max() > 0.05
PY

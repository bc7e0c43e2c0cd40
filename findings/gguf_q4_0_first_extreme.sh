#!/usr/bin/env bash
# GGUF's Q4_0 and Q5_0, read and written by gguf 0.19.0.
# Guess: the levels lie evenly around zero, so that +1 and -1 in one block are kept equally well.
# Seen: the levels run from -8 to +7. The first number of the largest size becomes exactly the -8, and its
# mirror image has no level of its own: it comes back as 7/8 (15/16 in Q5_0). Which of the two is kept
# depends on their order in the block alone. Q8_0 has no such edge.
# Who meets it: whoever permutes the rows or columns of q and k (rotary pairs) before or after quantising,
# and compares the two files number by number.
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


def kept(kind, *numbers):
    """What is read back of a block of 32 that begins with these numbers."""
    block = np.zeros(32, dtype=np.float32)
    block[: len(numbers)] = numbers
    return dequantize(quantize(block, kind), kind)[: len(numbers)].tolist()


for kind, edge in ((Type.Q4_0, 7 / 8), (Type.Q5_0, 15 / 16)):
    plus, minus = kept(kind, 1, -1), kept(kind, -1, 1)
    print(kind.name, "[1, -1] ->", plus, "  [-1, 1] ->", minus)
    assert plus == [1, -edge] and minus == [-1, edge]
even = kept(Type.Q8_0, 1, -1)
print("Q8_0 [1, -1] ->", even)
assert even[0] == -even[1]
PY

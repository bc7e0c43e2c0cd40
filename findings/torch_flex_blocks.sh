#!/usr/bin/env bash
# PyTorch 2.13.0: flex_attention without torch.compile, and a BlockMask that is made of blocks.
# Guess: attention sees the blocks that BlockMask.from_kv_blocks lists, and no others.
# Seen: the uncompiled form looks at mask_mod alone. from_kv_blocks without one means "all true": every key is
# seen, though to_dense() shows the blocks. And where a mask_mod reads a tensor of lengths, what counts is the
# tensor at the call, not the one that the blocks were made from.
# Who meets it: whoever tries a block-sparse mask out on a CPU before compiling it, or fills one tensor of
# lengths anew for each batch.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --no-compile torch==2.13.0 numpy==2.4.6
"$folder/venv/bin/python" -I - <<'PY'
import warnings

import torch
from torch.nn.attention.flex_attention import BlockMask, create_block_mask, flex_attention

warnings.filterwarnings("ignore")
print("torch", torch.__version__)
n = 256
q = k = torch.zeros(1, 1, n, 16)
v = torch.zeros(1, 1, n, 16)
v[:, :, n // 2 :] = 1  # the output is the weight on the second half of the keys


def second_half(mask):
    return round(flex_attention(q, k, v, block_mask=mask)[0, 0, 0, 0].item(), 3)


one_block = torch.ones(1, 1, 2, dtype=torch.int32)
order = torch.tensor([0, 1], dtype=torch.int32).expand(1, 1, 2, 2)
first_only = BlockMask.from_kv_blocks(one_block, order.contiguous(), BLOCK_SIZE=128)
print("blocks:", first_only.to_dense()[0, 0].tolist(), " weight outside of them:", second_half(first_only))
assert first_only.to_dense()[0, 0].tolist() == [[1, 0], [1, 0]] and second_half(first_only) == 0.5
length = torch.tensor([64])
padding = create_block_mask(lambda b, h, i, j: j < length[b], 1, None, n, n, device="cpu")
before = second_half(padding)
length.fill_(n)
print("weight on the second half at length 64:", before, " after length.fill_(256):", second_half(padding))
assert before == 0 and second_half(padding) == 0.5
assert padding.to_dense()[0, 0].tolist() == [[1, 0], [1, 0]]
PY

#!/usr/bin/env bash
# transformers 5.24.0: a Swin in eval mode, which sees an image, then a small one, then the first again.
# Guess: a model in eval mode answers the first image both times alike: nothing is learned or counted.
# Seen: not after the small one. Where a stage has no more patches than one window, its layers set their shift to 0 and
# their window to that size, and keep both for good: windows are no longer shifted, patches of two windows do not meet,
# and every later answer is another one, without a word. Larger images change nothing; nor does SwinV2 remember any.
# In the published size (windows of 7) an image of 224 pixels is such a small one: answers to 448 change after it.
# Who meets it: whoever serves images of several sizes, or tries a model out with a tiny picture first.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --no-compile transformers==5.24.0 torch==2.13.0 numpy==2.4.6
"$folder/venv/bin/python" -I - <<'PY'
import copy

import torch
import transformers
from transformers import AutoModel, SwinConfig, Swinv2Config

print("transformers", transformers.__version__, "torch", torch.__version__)
transformers.logging.set_verbosity_error()
torch.manual_seed(0)
sizes = dict(image_size=32, patch_size=2, embed_dim=16, depths=[2, 2], num_heads=[2, 4], window_size=4)


def settings(model):
    """The shift and the window of each layer, where they can be read."""
    blocks = [block for stage in model.encoder.layers for block in stage.blocks]
    return [(block.shift_size, block.window_size) for block in blocks]


@torch.no_grad()
def moved(config, size, between):
    """How much the answer to one image moves when another has been seen; shift and window before and after."""
    torch.manual_seed(1)
    model = AutoModel.from_config(config).eval()
    untouched = copy.deepcopy(model)
    image = torch.randn(1, 3, size, size)
    before, layers = model(image).last_hidden_state, settings(model)
    model(torch.randn(1, 3, between, between))
    after = model(image).last_hidden_state
    assert torch.equal(untouched(image).last_hidden_state, before)
    return (after - before).abs().max().item(), layers, settings(model)


cases = [(config, 32, between) for config in (SwinConfig(**sizes), Swinv2Config(**sizes)) for between in (64, 16)]
cases.append((SwinConfig(embed_dim=24), 448, 224))  # the published layers and windows, narrower
for config, size, between in cases:
    difference, before, after = moved(config, size, between)
    print(f"{config.model_type}, {size} pixels, after {between}: answered otherwise by {difference:.3f}")
    print("   shift and window, layers of the last stage:", before[-2:], "then", after[-2:])
    changed = config.model_type == "swin" and between < size
    assert (difference > 0.01) == changed and (before != after) == changed
PY

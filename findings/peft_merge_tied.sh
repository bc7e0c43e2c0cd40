#!/usr/bin/env bash
# peft 0.21.2 (transformers 5.24.0): LoRA on the embedding of a GPT-2, whose unembedding is the same tensor.
# Guess: merge_and_unload gives the model that answered before, with the adapter inside.
# Seen: before merging, LoRA acts where words are looked up and not in the unembedding. Merging adds it to the one
# tensor that both share, so the unembedding moves as well: other logits, other words. The same for LoRA on
# lm_head, which moves the embeddings once merged, and for both at a time. peft warns of "complications".
# Who meets it: whoever adapts the vocabulary of a tied model by LoRA, validates it, and ships the merged file.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --no-compile peft==0.21.2 transformers==5.24.0 torch==2.13.0 numpy==2.4.6
"$folder/venv/bin/python" -I - <<'PY'
import copy
import os

os.environ["TRANSFORMERS_VERBOSITY"] = "error"
from importlib.metadata import version

import torch
from peft import LoraConfig, get_peft_model
from transformers import GPT2Config, GPT2LMHeadModel

print("peft", version("peft"), "transformers", version("transformers"), "torch", torch.__version__)
torch.manual_seed(0)
base = GPT2LMHeadModel(GPT2Config(vocab_size=50, n_embd=32, n_layer=2, n_head=4)).eval()
words = torch.randint(0, 50, (1, 20))


def off_by(targets):
    model = get_peft_model(copy.deepcopy(base), LoraConfig(target_modules=targets, init_lora_weights=False, r=4)).eval()
    with torch.no_grad():
        before = model(words).logits
        merged = model.merge_and_unload()
        after = merged(words).logits
    assert merged.lm_head.weight is merged.transformer.wte.weight
    other_words = (before.argmax(-1) != after.argmax(-1)).sum().item()
    print(f"LoRA on {targets}: merging moves logits by {(before - after).abs().max():.5f}; {other_words} of 20 words differ")
    return (before - after).abs().max().item()


assert off_by(["c_attn"]) < 1e-4
assert off_by(["wte"]) > 0.5
assert off_by(["lm_head"]) > 0.5
assert off_by(["wte", "lm_head"]) > 0.5
PY

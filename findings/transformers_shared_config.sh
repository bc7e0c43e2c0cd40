#!/usr/bin/env bash
# transformers 5.24.0: two models built from one configuration, the second with another kernel of attention.
# Guess: each model has its own settings; attn_implementation="eager" asks it of the model that is being built.
# Seen: the models share the configuration that was handed in, and the request is written into it. The first model
# changes its kernel in that moment, without a word: "sdpa against eager" compares eager with itself, and the
# difference is exactly 0. With a copy of the configuration each keeps its own. (from_pretrained copies.)
# Who meets it: whoever compares two kernels, or builds a second model in order to look at its weights.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --no-compile transformers==5.24.0 torch==2.13.0 numpy==2.4.6
"$folder/venv/bin/python" -I - <<'PY'
import copy

import torch
import transformers
from transformers import AutoModelForCausalLM, LlamaConfig

print("transformers", transformers.__version__, "torch", torch.__version__)
transformers.logging.set_verbosity_error()
sizes = dict(vocab_size=50, hidden_size=32, intermediate_size=64, num_hidden_layers=2, num_attention_heads=4)
words = torch.randint(0, 50, (1, 6))


def matrices(model):
    """How many layers hand out their weights: only eager attention does."""
    with torch.no_grad():
        return len(model(words, output_attentions=True).attentions)


def first_and_second(hand_over):
    config = LlamaConfig(**sizes)
    first = AutoModelForCausalLM.from_config(config, attn_implementation="sdpa").eval()
    before = matrices(first)
    second = AutoModelForCausalLM.from_config(hand_over(config), attn_implementation="eager").eval()
    second.load_state_dict(first.state_dict())
    with torch.no_grad():
        difference = (first(words).logits - second(words).logits).abs().max().item()
    return before, matrices(first), matrices(second), difference


shared, apart = first_and_second(lambda config: config), first_and_second(copy.deepcopy)
print("layers with weights, first before, first after, second; difference of logits")
print("one configuration:   ", *shared)
print("a copy of it:        ", *apart)
assert shared == (0, 2, 2, 0.0)
assert apart[:3] == (0, 0, 2) and apart[3] < 1e-5
PY

#!/usr/bin/env bash
# transformers 5.24.0: a configuration of four heads, changed to eight before the model is built.
# Guess: d_model stays 64, so there are eight heads of 8 in place of four of 16, each with a key head of its own; the
# number of parameters stays the same.
# Seen: LlamaConfig filled in head_dim = 16 and num_key_value_heads = 4 when it was made, and keeps both. The model has
# eight query heads of 16 on four shared key heads: W_Q is (128, 64), attention is twice as wide, grouped, and larger.
# Nothing is said. Through from_pretrained(folder, num_attention_heads=8) the same. Handed to LlamaConfig at once it
# is as guessed; GPT-2's configuration, which keeps no such numbers, follows a change.
# Who meets it: whoever tries several numbers of heads by changing one field, and compares them at “equal size”.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --no-compile transformers==5.24.0 torch==2.13.0 numpy==2.4.6
"$folder/venv/bin/python" -I - "$folder/saved" <<'PY'
import sys

import torch
import transformers
from transformers import AutoModel, GPT2Config, LlamaConfig

print("transformers", transformers.__version__, "torch", torch.__version__)
transformers.logging.set_verbosity_error()
sizes = dict(vocab_size=50, hidden_size=64, intermediate_size=64, num_hidden_layers=1)
words = torch.randint(0, 50, (1, 6))


def shape(config):
    """Heads, key heads and their size, as the weights of a model have them; all parameters."""
    model = AutoModel.from_config(config, attn_implementation="eager").eval()
    with torch.no_grad():
        heads = model(words, output_attentions=True).attentions[0].shape[1]
    attention = model.layers[0].self_attn
    size = attention.q_proj.out_features // heads
    return heads, attention.k_proj.out_features // size, size, model.num_parameters()


four = LlamaConfig(**sizes, num_attention_heads=4)
at_once = shape(LlamaConfig(**sizes, num_attention_heads=8))
four.save_pretrained(sys.argv[1])
loaded = shape(LlamaConfig.from_pretrained(sys.argv[1], num_attention_heads=8))
before = shape(four)
four.num_attention_heads = 8
changed = shape(four)
print("heads, key heads, size of a head, parameters")
print("four                      ", *before)
print("eight, at once            ", *at_once)
print("four, then set to eight   ", *changed)
print("four, loaded as eight     ", *loaded)
assert before[:3] == (4, 4, 16) and at_once[:3] == (8, 8, 8) and at_once[3] == before[3]
assert changed[:3] == loaded[:3] == (8, 4, 16) and changed[3] == loaded[3] == before[3] + 2 * 64 * 64

config = GPT2Config(vocab_size=50, n_embd=64, n_layer=1, n_head=4)
config.num_attention_heads = 8
attention = AutoModel.from_config(config).h[0].attn
print("GPT-2, set to eight       ", attention.num_heads, "heads of", attention.head_dim)
assert (attention.num_heads, attention.head_dim) == (8, 8)
PY

#!/usr/bin/env bash
# transformers 5.24.0: position_ids given to a Llama (Qwen, Mistral, ...) without an attention_mask.
# Guess: positions turn queries and keys; who sees whom is the mask's affair.
# Seen: wherever the positions do not go up by exactly 1, a new text is taken to begin, and no word sees across
# the border. All positions 0 ("switch positions off"): each word sees itself alone. A gap (0 1 2 3 10 11 12 13)
# cuts as well. Only without a cache (use_cache=False, as in training) and without an attention_mask: with
# a mask of ones, or with a cache, the same call sees everything.
# Who meets it: whoever tests what a model does without positions, skips some, or counts in steps of two.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --no-compile transformers==5.24.0 torch==2.13.0 numpy==2.4.6
"$folder/venv/bin/python" -I - <<'PY'
import torch
import transformers
from transformers import LlamaConfig, LlamaModel

print("transformers", transformers.__version__, "torch", torch.__version__)
torch.manual_seed(0)
config = LlamaConfig(
    vocab_size=50, hidden_size=32, intermediate_size=64, num_hidden_layers=2, num_attention_heads=4, initializer_range=0.5
)
model = LlamaModel(config).eval()
words = torch.randint(0, 50, (1, 8))
others = words.clone()
others[0, 0] = (words[0, 0] + 1) % 50
ways = {
    "no mask, no cache": dict(use_cache=False),
    "mask of ones": dict(use_cache=False, attention_mask=torch.ones_like(words)),
    "cache": dict(use_cache=True),
}


def last_hears_first(positions, way):
    with torch.no_grad():
        a, b = (model(x, position_ids=torch.tensor([positions]), **way).last_hidden_state for x in (words, others))
    return not torch.allclose(a[0, -1], b[0, -1], atol=1e-5)


for positions in ([*range(8)], [0] * 8, [0, 1, 2, 3, 10, 11, 12, 13], [*range(0, 16, 2)]):
    answers = {name: last_hears_first(positions, way) for name, way in ways.items()}
    print(positions, "last word hears the first:", answers)
    in_steps_of_one = positions == [*range(8)]
    assert answers == {"no mask, no cache": in_steps_of_one, "mask of ones": True, "cache": True}
PY

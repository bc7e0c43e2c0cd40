#!/usr/bin/env bash
# transformers 5.24.0: model(words, past_key_values=cache, use_cache=False).
# Guess: the cache is read, and stays as it was: the question "what would come next, if?" costs nothing.
# Seen: the keys and values of the new words are written into it all the same; use_cache=False only leaves the cache
# out of what is returned. Ask two questions of one beginning, and the second one hears the first.
# With a copy of the cache for each question both answers are right.
# Who meets it: whoever scores several continuations of one prompt.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --no-compile transformers==5.24.0 torch==2.13.0 numpy==2.4.6
"$folder/venv/bin/python" -I - <<'PY'
import copy

import torch
import transformers
from transformers import DynamicCache, LlamaConfig, LlamaForCausalLM

print("transformers", transformers.__version__, "torch", torch.__version__)
torch.manual_seed(0)
config = LlamaConfig(
    vocab_size=50, hidden_size=32, intermediate_size=64, num_hidden_layers=2, num_attention_heads=4, initializer_range=0.5
)
model = LlamaForCausalLM(config).eval()
beginning, questions = torch.tensor([[1, 2, 3, 4]]), (torch.tensor([[7]]), torch.tensor([[9]]))

with torch.no_grad():
    wanted = [model(torch.cat([beginning, question], dim=1)).logits[0, -1] for question in questions]
    for name, hand_over in (("one cache", lambda cache: cache), ("a copy each", copy.deepcopy)):
        cache = DynamicCache(config=config)
        model(beginning, past_key_values=cache)
        found = [model(question, past_key_values=hand_over(cache), use_cache=False) for question in questions]
        gaps = [(answer.logits[0, -1] - right).abs().max().item() for answer, right in zip(found, wanted)]
        print(f"{name}: {cache.get_seq_length()} words in it, answers off by", *(f"{gap:.3f}" for gap in gaps))
        assert gaps[0] < 1e-4 and (gaps[1] > 0.1) == (name == "one cache")
        assert cache.get_seq_length() == (6 if name == "one cache" else 4)
PY

#!/usr/bin/env bash
# transformers 5.24.0: a Llama (Qwen, Mistral, ...) with a filled cache, and an attention_mask for the new words.
# Guess: a mask of ones, as long as the input_ids given, hides nothing; or it is refused, being shorter than the keys.
# Seen: no word about it. The mask is laid over the first keys of the cache and continued with zeros: with two new
# words the two see words 0 and 1 of the cache and nothing else, themselves included. No mask at all, or one as
# long as cache and new words together, gives the right answer.
# Who meets it: whoever continues a cached prompt by hand and passes what the tokenizer returned for the new text.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --no-compile transformers==5.24.0 torch==2.13.0 numpy==2.4.6
"$folder/venv/bin/python" -I - <<'PY'
import torch
import transformers
from transformers import DynamicCache, LlamaConfig, LlamaModel

print("transformers", transformers.__version__, "torch", torch.__version__)
torch.manual_seed(0)
config = LlamaConfig(
    vocab_size=50, hidden_size=32, intermediate_size=64, num_hidden_layers=1, num_attention_heads=4, initializer_range=0.5
)
old, new = torch.randint(0, 50, (1, 5)), torch.randint(0, 50, (1, 2))
masks = {"none": None, "old and new (7)": torch.ones(1, 7, dtype=torch.long), "new (2)": torch.ones(1, 2, dtype=torch.long)}
for kind in ("sdpa", "eager"):
    model = LlamaModel(config).eval()
    model.set_attn_implementation(kind)
    with torch.no_grad():
        whole = model(torch.cat([old, new], 1)).last_hidden_state[:, 5:]
        off = {}
        for name, mask in masks.items():
            cache = DynamicCache(config=config)
            model(old, past_key_values=cache)
            answer = model(new, past_key_values=cache, attention_mask=mask)
            off[name] = (answer.last_hidden_state - whole).abs().max().item()
            print(f"{kind}, mask: {name}: off the uncached answer by {off[name]:.5f}")
        assert off["none"] < 1e-4 and off["old and new (7)"] < 1e-4 and off["new (2)"] > 0.1
model = LlamaModel(config).eval()
model.set_attn_implementation("eager")
with torch.no_grad():
    cache = DynamicCache(config=config)
    model(old, past_key_values=cache)
    answer = model(new, past_key_values=cache, attention_mask=masks["new (2)"], output_attentions=True)
weights = answer.attentions[0].mean(1)[0]
print("weights of the two new words, mean of the heads, with their own mask:")
print(weights.numpy().round(2))
assert weights[:, :2].sum(-1).min() > 0.999 and weights[:, 2:].max() < 1e-6
PY

#!/usr/bin/env bash
# transformers 5.24.0: GPT-Neo, whose every second layer sees a window of words only, with a cache of fixed room.
# Guess: generate(cache_implementation="static") writes what it writes with the usual cache, and without any.
# Seen: another text, without an error. The window's place is taken from the length of the keys, which here is the whole
# room, empty places included: queries count as if they stood at its end, so the window lies too far right and cuts off
# words that are near. Global layers alone, or a window wider than the room, are right; so is Mistral's window.
# Who meets it: whoever asks for the static cache (for compiling, or for fixed memory) with a published GPT-Neo: its
# window is 256 words, so a room of more than that is enough, however short the text.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --no-compile transformers==5.24.0 torch==2.13.0 numpy==2.4.6
"$folder/venv/bin/python" -I - <<'PY'
import torch
import transformers
from transformers import AutoModelForCausalLM, GPTNeoConfig, MistralConfig, StaticCache

print("transformers", transformers.__version__, "torch", torch.__version__)
transformers.logging.set_verbosity_error()
torch.manual_seed(0)
words = torch.randint(3, 50, (1, 10))
sizes = dict(vocab_size=50, hidden_size=32, bos_token_id=1, eos_token_id=None, pad_token_id=0)


def neo(window, kinds=("global", "local")):
    layers = dict(num_layers=2, num_heads=4, attention_types=[[list(kinds), 1]])
    return GPTNeoConfig(**sizes, **layers, window_size=window, max_position_embeddings=64)


def mistral(window):
    layers = dict(num_hidden_layers=2, num_attention_heads=4, num_key_value_heads=2, intermediate_size=32)
    return MistralConfig(**sizes, **layers, sliding_window=window)


@torch.no_grad()
def measured(config):
    """How far logits with a static cache are off, and whether generated texts agree; a room of 32 words."""
    torch.manual_seed(1)
    model = AutoModelForCausalLM.from_config(config).eval()
    for weight in model.parameters():
        weight.add_(0.15 * torch.randn_like(weight))
    whole = model(words, use_cache=False).logits
    cached = model(words, past_key_values=StaticCache(config=config, max_cache_len=32)).logits
    options = dict(max_new_tokens=22, do_sample=False)
    plain = model.generate(words, use_cache=False, **options)
    usual = model.generate(words, **options)
    static = model.generate(words, cache_implementation="static", **options)
    assert torch.equal(plain, usual)
    return (cached - whole).abs().max().item(), torch.equal(plain, static)


cases = {
    "GPT-Neo, window 8": neo(8),
    "GPT-Neo, window 16, longer than the text": neo(16),
    "GPT-Neo, window 40, wider than the room": neo(40),
    "GPT-Neo, global layers only": neo(8, ("global", "global")),
    "Mistral, window 8": mistral(8),
}
for name, config in cases.items():
    off, same = measured(config)
    print(f"{name:42} logits off by {off:.5f}, same text: {same}")
    wrong = name.endswith(("window 8", "the text")) and "Neo" in name
    assert (off > 0.1) == wrong and same == (not wrong)
PY

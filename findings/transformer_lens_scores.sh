#!/usr/bin/env bash
# transformer-lens 4.3.0 (transformers 5.24.0): hook_attn_scores set to zero, so that attention is uniform.
# Guess: uniform over the words that a word may see; the mask comes after the hook, or -inf in it cannot be lost.
# Seen: the scores in the hook are masked already. Zeros put the hidden words back: the first word attends to all six,
# and its logits depend on the last. Half the scores leave the hidden ones low enough; so does an even row in
# hook_pattern, divided over the visible words by hand. No warning.
# Who meets it: whoever ablates a head to uniform attention to see what its choice is worth, and lets it read ahead.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --no-compile transformer-lens==4.3.0 transformers==5.24.0 torch==2.13.0 numpy==2.4.6
"$folder/venv/bin/python" -I - <<'PY'
import logging
import os
import tempfile
import warnings

os.environ.update(HF_HUB_OFFLINE="1", TRANSFORMERS_VERBOSITY="error")
warnings.simplefilter("ignore")
logging.disable(logging.WARNING)
from importlib.metadata import version

import torch
from tokenizers import Tokenizer, models
from transformer_lens.model_bridge import TransformerBridge
from transformers import GPT2Config, GPT2LMHeadModel, PreTrainedTokenizerFast

print(*(f"{name} {version(name)}" for name in ("transformer-lens", "transformers", "torch")))
torch.set_grad_enabled(False)
torch.manual_seed(0)
with tempfile.TemporaryDirectory() as folder:
    config = GPT2Config(vocab_size=50, n_embd=32, n_layer=2, n_head=4, initializer_range=0.3)
    GPT2LMHeadModel(config).save_pretrained(folder)
    words = Tokenizer(models.WordLevel({f"w{i}": i for i in range(50)}, unk_token="w0"))
    tokenizer = PreTrainedTokenizerFast(tokenizer_object=words, bos_token="w1", eos_token="w1", unk_token="w0")
    tokenizer.save_pretrained(folder)
    model = TransformerBridge.boot_transformers(folder, device="cpu")
text = torch.randint(2, 50, (1, 6))
other = text.clone()
other[0, -1] = (text[0, -1] + 1) % 50
visible = torch.ones(6, 6).tril()
scores, pattern = "blocks.0.attn.hook_attn_scores", "blocks.0.attn.hook_pattern"
changes = {
    "nothing": (scores, lambda s, hook: s),
    "half the scores": (scores, lambda s, hook: s / 2),
    "an even pattern": (pattern, lambda p, hook: (visible / visible.sum(-1, keepdim=True)).expand_as(p)),
    "scores of zero": (scores, lambda s, hook: torch.zeros_like(s)),
}
for name, (place, change) in changes.items():
    rows = []
    look = (pattern, lambda p, hook: rows.append(p[0, 0, 0]))
    answers = [model.run_with_hooks(x, fwd_hooks=[(place, change), look])[0, 0] for x in (text, other)]
    moved = (answers[0] - answers[1]).abs().max().item()
    print(f"{name}: the first word's logits move by {moved:.3f} with the last word;", end=" ")
    print("its row of weights:", rows[0].numpy().round(2))
    assert (moved > 0.1) == (name == "scores of zero")
    assert torch.allclose(rows[0], torch.full((6,), 1 / 6) if moved > 0.1 else torch.eye(6)[0], atol=1e-5)
PY

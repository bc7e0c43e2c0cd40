#!/usr/bin/env bash
# tokenizers 0.23.3: enable_truncation(n) where the post-processor adds two special tokens.
# Guess: at most n tokens come out; where not even the two special ones fit, an error.
# Seen: with n = 2 the special ones alone, with n = 3 one word between them. With n = 1 or 0 nothing is cut at all:
# a text of any length comes out whole, without a word.
# Who meets it: whoever computes n from what room is left, and one day there is none.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --no-compile tokenizers==0.23.3
"$folder/venv/bin/python" -I - <<'PY'
import tokenizers
from tokenizers import Tokenizer, models, pre_tokenizers, processors

print("tokenizers", tokenizers.__version__)
words = ["[UNK]", "[CLS]", "[SEP]", "cat", "eats", "fish"]
tokenizer = Tokenizer(models.WordLevel({word: number for number, word in enumerate(words)}, "[UNK]"))
tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
tokenizer.post_processor = processors.TemplateProcessing(
    single="[CLS] $A [SEP]", special_tokens=[("[CLS]", 1), ("[SEP]", 2)]
)
text = " ".join(["cat eats fish"] * 100)
lengths = {}
for n in (4, 3, 2, 1, 0):
    tokenizer.enable_truncation(n)
    tokens = tokenizer.encode(text).tokens
    lengths[n] = len(tokens)
    print(f"at most {n}: {len(tokens)} tokens, {tokens[:3]} …")
assert lengths == {4: 4, 3: 3, 2: 2, 1: 302, 0: 302}
PY

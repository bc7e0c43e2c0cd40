#!/usr/bin/env bash
# tokenizers 0.23.3: a sign that is not in the vocabulary, and no token for the unknown.
# Guess: an error, whatever the model.
# Seen: WordLevel, WordPiece and Unigram raise; BPE leaves the sign out without a word. "a?b" is even cut as
# "ab" is, so that two letters that never met are merged into one token, and "?" alone gives no token at all.
# Who meets it: whoever builds a small BPE by hand or from a file's vocabulary and merges, and then lines up
# words and rows of attention.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet tokenizers==0.23.3
"$folder/venv/bin/python" -I - <<'PY'
from importlib.metadata import version

from tokenizers import Tokenizer, models

print("tokenizers", version("tokenizers"))
letters = {"a": 0, "b": 1, "ab": 2}
kinds = {
    "WordLevel": models.WordLevel(letters),
    "WordPiece": models.WordPiece(letters),
    "Unigram": models.Unigram([("a", -1.0), ("b", -1.0), ("ab", -1.5)]),
}
for name, model in kinds.items():
    try:
        Tokenizer(model).encode("?")
    except Exception as refusal:
        print(f"{name}: {refusal}")
    else:
        raise AssertionError(name)
bpe = Tokenizer(models.BPE(letters, [("a", "b")]))
for text in ("ab", "a?b", "?"):
    print(f"BPE: {text!r} -> {bpe.encode(text).tokens}")
assert bpe.encode("a?b").tokens == bpe.encode("ab").tokens == ["ab"]
assert bpe.encode("?").tokens == []
PY

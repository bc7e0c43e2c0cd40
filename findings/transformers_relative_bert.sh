#!/usr/bin/env bash
# transformers 5.24.0: BertConfig(position_embedding_type="relative_key"), a documented choice until version 4.
# Guess: scores get the embeddings of relative distances; or, if that is gone, the setting is refused.
# Seen: the setting is taken, kept, saved and loaded again, and has no effect: the table of absolute positions is built
# and used, no distance_embedding exists, and the outputs are bit for bit those of "absolute", or of any made-up word.
# Who meets it: whoever trains or loads a BERT with relative positions, or compares the kinds of positions.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --no-compile transformers==5.24.0 torch==2.13.0 numpy==2.4.6
"$folder/venv/bin/python" -I - "$folder/saved" <<'PY'
import sys

import torch
import transformers
from transformers import AutoConfig, BertConfig, BertModel

print("transformers", transformers.__version__, "torch", torch.__version__)
transformers.logging.set_verbosity_error()
words = torch.arange(6)[None]
outputs, names = {}, {}
for kind in ("absolute", "relative_key", "relative_key_query", "of my own"):
    sizes = dict(vocab_size=50, hidden_size=32, intermediate_size=64, num_hidden_layers=2, num_attention_heads=4)
    config = BertConfig(**sizes, position_embedding_type=kind)
    config.save_pretrained(sys.argv[1])
    kept = AutoConfig.from_pretrained(sys.argv[1]).position_embedding_type
    torch.manual_seed(0)
    model = BertModel(config).eval()
    names[kind] = sorted(name for name, _ in model.named_parameters())
    with torch.no_grad():
        outputs[kind] = model(words).last_hidden_state
    difference = (outputs[kind] - outputs["absolute"]).abs().max().item()
    tables = [name.split(".")[-2] for name in names[kind] if "position" in name or "distance" in name]
    print(f"{kind:20} kept as {kept!r:20} tables {tables}, outputs differ by {difference}")
    assert kept == kind and tables == ["position_embeddings"] and difference == 0
PY

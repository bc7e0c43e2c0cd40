#!/usr/bin/env bash
# transformers 5.24.0: a Llama whose positions are stretched by rope_type "longrope" or "dynamic".
# Guess: the cache saves work and changes nothing: word by word gives what the whole text gives in one pass.
# Seen: beyond the original length the rotation of all positions changes, of the earlier ones, too. Keys in the
# cache were turned in the old way and stay so; in one pass they are all turned in the new way. The outputs of
# the last word part by a tenth or more, where "default" and "yarn" agree to six digits. So what the model
# writes depends on how the prompt was cut.
# Who meets it: whoever scores a long text in one pass and compares with generation, or tests a cache on it.
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
trained_for, d_k = 6, 8
kinds = {
    "default": {},
    "yarn": dict(factor=4.0, original_max_position_embeddings=trained_for),
    "dynamic": dict(factor=4.0),
    "longrope": dict(
        factor=4.0,
        original_max_position_embeddings=trained_for,
        short_factor=[1.0] * (d_k // 2),
        long_factor=[4.0] * (d_k // 2),
    ),
}
words = torch.arange(10)[None]  # longer than what the model was trained for


def model_of(kind):
    torch.manual_seed(0)
    sizes = dict(hidden_size=32, intermediate_size=64, num_hidden_layers=2, num_attention_heads=32 // d_k)
    rope = dict(rope_type=kind, rope_theta=10_000.0, **kinds[kind])
    config = LlamaConfig(
        vocab_size=50, initializer_range=0.5, max_position_embeddings=trained_for, rope_parameters=rope, **sizes
    )
    return LlamaModel(config).eval()


with torch.no_grad():
    for kind in kinds:
        whole = model_of(kind)(words).last_hidden_state[0, -1]
        model, cache = model_of(kind), DynamicCache()
        for word in words.split(1, dim=1):
            last = model(word, cache=cache).last_hidden_state[0, -1]
        difference = (whole - last).abs().max().item()
        print(f"{kind:9} last word, whole against word by word: {difference:.0e}")
        assert difference < 1e-4 if kind in ("default", "yarn") else difference > 0.1
PY

#!/usr/bin/env bash
# transformers 5.24.0: AttentionInterface.register with a function of one's own.
# Guess: a function that does what eager does, under a new name, gives what eager gives.
# Seen: for a name that has no mask function, no mask is made. A copy of eager gets None and lets every word see
# the later ones; a copy of sdpa stays causal, by its flag, but sees the padding. No warning. Registering the
# mask function of the original under the same name (AttentionMaskInterface) cures it.
# Who meets it: whoever wraps eager attention to record or change the weights.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --no-compile transformers==5.24.0 torch==2.13.0 numpy==2.4.6
"$folder/venv/bin/python" -I - <<'PY'
import torch
import transformers
from transformers import AttentionInterface, AttentionMaskInterface, LlamaConfig, LlamaModel
from transformers.masking_utils import eager_mask
from transformers.models.llama.modeling_llama import eager_attention_forward

print("transformers", transformers.__version__, "torch", torch.__version__)
masks = []


def recorded(module, query, key, value, attention_mask, **options):
    masks.append(attention_mask)
    return eager_attention_forward(module, query, key, value, attention_mask, **options)


def model_with(implementation):
    torch.manual_seed(0)
    sizes = dict(hidden_size=32, intermediate_size=64, num_hidden_layers=2, num_attention_heads=4)
    config = LlamaConfig(vocab_size=50, initializer_range=0.5, attn_implementation=implementation, **sizes)
    return LlamaModel(config).eval()


AttentionInterface.register("recorded", recorded)
words = torch.arange(8)[None]
other_end = torch.tensor([[0, 1, 2, 3, 4, 5, 6, 20]])
with torch.no_grad():
    eager, copy = model_with("eager"), model_with("recorded")
    difference = (eager(words).last_hidden_state - copy(words).last_hidden_state).abs().max().item()
    first = [(m(words).last_hidden_state - m(other_end).last_hidden_state)[0, 0].abs().max().item() for m in (eager, copy)]
    print("masks that the copy got:", set(masks), " outputs differ by", round(difference, 2))
    print("first word moves with the last: eager", round(first[0], 2), " copy", round(first[1], 2))
    assert set(masks) == {None} and difference > 0.1 and first[0] == 0 and first[1] > 0.1
    AttentionMaskInterface.register("recorded", eager_mask)
    assert torch.equal(eager(words).last_hidden_state, copy(words).last_hidden_state)
PY

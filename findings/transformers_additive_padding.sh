#!/usr/bin/env bash
# transformers 5.24.0: attention_mask for padding, shape (batch, n), as numbers that are added: 0 and −∞.
# Guess: added, as a mask of four axes is, or refused because 0 and 1 are expected.
# Seen: neither. The numbers are cast to Boolean, where −∞ is True and 0 is False: all real words are hidden and the
# padding alone is seen, without a warning. The logits are exactly those of the mask that is upside down.
# (A mask of shape (batch, 1, n, n) with the same numbers is added.)
# Who meets it: whoever builds one additive mask and hands it to a model of PyTorch and to one of transformers.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --no-compile transformers==5.24.0 torch==2.13.0 numpy==2.4.6
"$folder/venv/bin/python" -I - <<'PY'
import torch
import transformers
from transformers import BertConfig, BertModel, LlamaConfig, LlamaModel

print("transformers", transformers.__version__, "torch", torch.__version__)
sizes = dict(
    vocab_size=50,
    hidden_size=32,
    intermediate_size=64,
    num_hidden_layers=2,
    num_attention_heads=4,
    initializer_range=0.5,
)
words = torch.arange(6)[None]
real = torch.tensor([[0, 0, 1, 1, 1, 1]])
added = torch.zeros(1, 6).masked_fill(real == 0, -torch.inf)
upside_down = 1 - real
causal = torch.ones(6, 6, dtype=torch.bool).tril()


def last_word(model, mask):
    with torch.no_grad():
        return model(words, attention_mask=mask).last_hidden_state[0, -1]


for Config, Model in ((BertConfig, BertModel), (LlamaConfig, LlamaModel)):
    torch.manual_seed(0)
    model = Model(Config(**sizes)).eval()
    right, answer, wrong = (last_word(model, mask) for mask in (real, added, upside_down))
    allowed = real.bool()[:, None, None].expand(1, 1, 6, 6)
    allowed = allowed & causal if Model is LlamaModel else allowed
    four_axes = torch.zeros(1, 1, 6, 6).masked_fill(~allowed, torch.finfo(torch.float32).min)
    gaps = [(answer - other).abs().max().item() for other in (right, wrong)]
    print(f"{Model.__name__}: off the right mask by {gaps[0]:.2f}, off the one upside down by {gaps[1]}")
    assert gaps[0] > 0.1 and gaps[1] == 0
    assert torch.allclose(last_word(model, four_axes), right, atol=1e-5)
PY

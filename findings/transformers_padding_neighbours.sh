#!/usr/bin/env bash
# transformers 5.24.0: a text alone, and the same text padded, with its mask, in MobileBERT and ConvBERT.
# Guess: what attention_mask hides has no influence: both give the same states, as BERT, RoBERTa, ELECTRA and others do.
# Seen: not so. MobileBERT joins each word's embedding with those of its two neighbours, ConvBERT runs a convolution
# beside its attention, and neither looks at the mask: the last words take in the padding, and by attention all words
# do in the next layer. The first word's state, which a classifier reads, depends on the longest text of the batch.
# Who meets it: whoever compares batched with single predictions, or batches of other lengths.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --no-compile transformers==5.24.0 torch==2.13.0 numpy==2.4.6
"$folder/venv/bin/python" -I - <<'PY'
import torch
import transformers
from transformers import AutoModel, BertConfig, ConvBertConfig, ElectraConfig, MobileBertConfig

print("transformers", transformers.__version__, "torch", torch.__version__)
transformers.logging.set_verbosity_error()
sizes = dict(vocab_size=50, hidden_size=32, intermediate_size=32, num_hidden_layers=2, num_attention_heads=4)
torch.manual_seed(0)
words = torch.randint(1, 50, (1, 9))
padded = torch.cat([words, torch.zeros(1, 3, dtype=torch.long)], dim=1)  # 0 is the padding word of all four
real = (padded != 0).long()


@torch.no_grad()
def apart(config):
    """How far the states of the first and the last real word are from those of the text alone."""
    torch.manual_seed(1)
    model = AutoModel.from_config(config).eval()
    for weight in model.parameters():
        weight.add_(0.15 * torch.randn_like(weight))
    alone = model(words).last_hidden_state
    batched = model(padded, attention_mask=real).last_hidden_state[:, :9]
    difference = (alone - batched).abs().amax(-1)[0]
    return difference[0].item(), difference[8].item()


for config in (
    BertConfig(**sizes),
    ElectraConfig(**sizes, embedding_size=32),
    MobileBertConfig(**sizes, embedding_size=32, intra_bottleneck_size=32, num_feedforward_networks=1),
    ConvBertConfig(**sizes, embedding_size=32),
):
    first, last = apart(config)
    print(f"{config.model_type:10} first word off by {first:.6f}, last by {last:.6f}")
    if config.model_type in ("mobilebert", "convbert"):
        assert first > 1e-3 and last > 1e-2
    else:
        assert max(first, last) < 1e-5
PY

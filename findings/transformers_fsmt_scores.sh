#!/usr/bin/env bash
# transformers 5.24.0: FSMT, the translators of WMT19, asked for the logits of a given translation.
# Guess: the decoder is causal: the logits of each word depend on the words before it, whatever flags are set.
# Seen: not in a plain call. use_cache is on by default, and then no causal mask is made, as if one word came at a time:
# each word's logits read the words after it. With use_cache=False, or with labels (which switch it off), the decoder is
# causal, and the loss is another one: model(…, labels=…).loss and the same loss taken from plain logits differ.
# Generating, word by word, is right. BART, built alike, is causal in every call.
# Who meets it: whoever scores or compares given translations, or looks at the decoder's attention, by a plain call.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --no-compile transformers==5.24.0 torch==2.13.0 numpy==2.4.6
"$folder/venv/bin/python" -I - <<'PY'
import torch
import transformers
from torch.nn import functional as F
from transformers import BartConfig, BartForConditionalGeneration, FSMTConfig, FSMTForConditionalGeneration

print("transformers", transformers.__version__, "torch", torch.__version__)
transformers.logging.set_verbosity_error()
sizes = dict(d_model=32, encoder_layers=2, decoder_layers=2, encoder_ffn_dim=32, decoder_ffn_dim=32)
sizes |= dict(encoder_attention_heads=4, decoder_attention_heads=4, max_position_embeddings=64, pad_token_id=1)
sizes |= dict(decoder_start_token_id=2, eos_token_id=2, bos_token_id=0)
configs = {
    FSMTForConditionalGeneration: FSMTConfig(langs=["en", "de"], src_vocab_size=50, tgt_vocab_size=50, **sizes),
    BartForConditionalGeneration: BartConfig(vocab_size=50, **sizes),
}
torch.manual_seed(0)
source, target = torch.randint(3, 50, (1, 7)), torch.randint(3, 50, (1, 6))
given = torch.cat([torch.tensor([[2]]), target[:, :-1]], dim=1)  # the start, then all but the last word
other_last = given.clone()
other_last[0, -1] = (given[0, -1] + 1) % 47 + 3


@torch.no_grad()
def measured(model, **flags):
    """How much a later word moves the logits before it; the loss of the target from these logits."""
    logits = model(source, decoder_input_ids=given, **flags).logits
    moved = (model(source, decoder_input_ids=other_last, **flags).logits - logits)[:, :-1].abs().max().item()
    return moved, F.cross_entropy(logits[0], target[0]).item()


for kind, config in configs.items():
    torch.manual_seed(1)
    model = kind(config).eval()
    with torch.no_grad():
        for weight in model.parameters():
            weight.add_(0.15 * torch.randn_like(weight))
        own = model(source, decoder_input_ids=given, labels=target).loss.item()
    plain, careful = measured(model), measured(model, use_cache=False)
    print(f"{config.model_type}: a later word moves earlier logits by {plain[0]:.3f}, without cache {careful[0]:.3f}")
    print(f"      loss from a plain call {plain[1]:.3f}, without cache {careful[1]:.3f}, by labels {own:.3f}")
    assert careful[0] < 1e-5 and abs(careful[1] - own) < 1e-5
    if config.model_type == "fsmt":
        assert plain[0] > 0.1 and abs(plain[1] - own) > 1e-3
    else:
        assert plain[0] < 1e-5 and abs(plain[1] - own) < 1e-5
PY

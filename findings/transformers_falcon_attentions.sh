#!/usr/bin/env bash
# transformers 5.24.0: a Falcon as it is built by default (sdpa), asked for its attention weights.
# Guess: output_attentions=True changes no logits; or, as for other models under sdpa, no weights come.
# Seen: weights come, and they are not causal. The mask that was made for sdpa is Boolean; asked for weights, the layer
# computes by hand and adds it to the scores, as 0 and 1. Words read ahead, padding is attended to, logits and loss are
# others. set_attn_implementation("eager") afterwards does not help: it stays sdpa, with a line in the log. Built with
# attn_implementation="eager" all is well.
# Who meets it: whoever draws the attention of a Falcon, or computes a loss while collecting weights.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --no-compile transformers==5.24.0 torch==2.13.0 numpy==2.4.6
"$folder/venv/bin/python" -I - <<'PY'
import torch
import transformers
from transformers import AutoModelForCausalLM, FalconConfig

print("transformers", transformers.__version__, "torch", torch.__version__)
transformers.logging.set_verbosity_error()
torch.manual_seed(0)
words = torch.randint(3, 50, (1, 6))
other_last = words.clone()
other_last[0, -1] = (words[0, -1] + 1) % 47 + 3


@torch.no_grad()
def measured(built, then=None):
    """Weight above the diagonal; change of logits by asking; what a later word changes, asked and not asked."""
    torch.manual_seed(0)
    config = FalconConfig(vocab_size=50, hidden_size=32, num_hidden_layers=2, num_attention_heads=4)
    model = AutoModelForCausalLM.from_config(config, attn_implementation=built).eval()
    for weight in model.parameters():
        weight.add_(0.15 * torch.randn_like(weight))
    if then:
        model.set_attn_implementation(then)
    asked, plain = model(words, output_attentions=True), model(words)
    later = max(layer.triu(1).max().item() for layer in asked.attentions)
    by_asking = (asked.logits - plain.logits).abs().max().item()
    heard_asked = (model(other_last, output_attentions=True).logits - asked.logits)[:, :-1].abs().max().item()
    heard_plain = (model(other_last).logits - plain.logits)[:, :-1].abs().max().item()
    return later, by_asking, heard_asked, heard_plain


print("weight on later words, logits moved by asking, by a later word when asked, when not")
for built, then in ((None, None), ("sdpa", "eager"), ("eager", None)):
    seen = measured(built, then)
    print(f"built with {built or 'the default'}, {then or 'left so'}:", *(f"{x:.3f}" for x in seen))
    assert seen[3] == 0
    if built == "eager":
        assert seen == (0, 0, 0, 0)
    else:
        assert seen[0] > 0.2 and seen[1] > 0.3 and seen[2] > 0.3
PY

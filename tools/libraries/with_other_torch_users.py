"""curated-transformers, and what TransformerLens puts in place of GPT-2's attention."""

import tempfile

import torch
from child import Adapter
from curated_transformers.layers import attention as curated
from tokenizers import Tokenizer, models
from transformer_lens.model_bridge import TransformerBridge
from transformers import AutoTokenizer, GPT2Config, GPT2LMHeadModel, PreTrainedTokenizerFast
from with_torch import back, convert, one_text, transparent  # noqa: F401


def curated_transformers(q, k, v, mask, causal):
    scorer = curated.ScaledDotProductAttention(dropout_prob=0.1, linear_biases=None).eval()
    nothing_hidden = torch.ones(1, 1, 1, k.shape[-2]).bool()
    mask = curated.AttentionMask(nothing_hidden if mask is None else mask)
    return scorer(query=q, key=k, value=v, attention_mask=mask, use_causal_mask=causal)


def tokenizer_of_one_word():
    """Without one TransformerLens asks a hub for GPT-2's; it must come from a folder."""
    made = Tokenizer(models.WordLevel({"a": 0}, unk_token="a"))
    tokens = dict.fromkeys(("unk_token", "bos_token", "eos_token", "pad_token"), "a")
    with tempfile.TemporaryDirectory() as folder:
        PreTrainedTokenizerFast(tokenizer_object=made, **tokens).save_pretrained(folder)
        return AutoTokenizer.from_pretrained(folder, add_bos_token=True)


def lens(compatible):
    """GPT-2's layer is always causal, unless a mask of four axes says what is seen."""

    def attend(q, k, v, mask, causal, heads):
        x, matrices = one_text(q, k, v)
        config = GPT2Config(n_embd=x.shape[-1], n_head=3 * heads, n_layer=1, vocab_size=1, n_positions=9)
        model = GPT2LMHeadModel(config).to(q.dtype).eval()
        layer = model.transformer.h[0].attn
        with torch.no_grad():
            transparent(layer.c_proj)
            layer.c_attn.weight.copy_(matrices.T)
        bridge = TransformerBridge.boot_transformers("gpt2", hf_model=model, tokenizer=TOKENIZER)
        if compatible:
            bridge.enable_compatibility_mode(disable_warnings=True, no_processing=True)
        if mask is None and not causal:
            mask = torch.ones(1, 1, *2 * q.shape[1:2]).bool()
        return bridge.blocks[0].attn(x, attention_mask=mask)[0][..., : q.shape[-1]]

    return Adapter(attend, "b n hd", 4)


TOKENIZER = tokenizer_of_one_word()
CALLABLES = {
    "curated-transformers": {
        "curated_transformers ScaledDotProductAttention": Adapter(curated_transformers, mask_axes=4)
    },
    "transformer-lens": {
        "transformer_lens, bridge of GPT-2": lens(compatible=False),
        "transformer_lens, compatibility mode": lens(compatible=True),
    },
}

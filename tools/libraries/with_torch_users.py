"""transformers, timm and x-transformers."""

import torch

if torch.version.cuda is None:  # torchvision's wheel needs another build of torch, and timm only its names
    for name in ("nms", "qnms"):
        torch.library.define(f"torchvision::{name}", "(Tensor a, Tensor b, float c) -> Tensor")

import timm.layers
import x_transformers.attend
from child import Adapter
from transformers import LlamaConfig
from transformers.models.llama import modeling_llama
from with_torch import back, convert, one_text, transparent  # noqa: F401


def transformers_by(implementation):
    """As a Llama's layer calls it; a mask is what its model hands to the layer, of four axes."""

    def attend(q, k, v, mask, causal):
        sizes = {"num_attention_heads": q.shape[1], "num_key_value_heads": k.shape[1]}
        sizes |= {"hidden_size": q.shape[1] * q.shape[-1]}
        config = LlamaConfig(**sizes, attn_implementation=implementation)
        layer = modeling_llama.LlamaAttention(config, 0).eval()
        eager = modeling_llama.eager_attention_forward
        function = modeling_llama.ALL_ATTENTION_FUNCTIONS.get_interface(implementation, eager)
        options = {"scaling": layer.scaling, "is_causal": causal}
        return function(layer, q, k, v, mask, **options)[0].transpose(1, 2)

    return Adapter(attend, mask_axes=4)


def timm_attention(fused):
    def attend(q, k, v, mask, causal, heads):
        x, matrices = one_text(q, k, v)
        layer = timm.layers.Attention(x.shape[-1], 3 * heads).to(q.dtype).eval()
        layer.fused_attn = fused
        with torch.no_grad():
            transparent(layer.proj)
            layer.qkv.weight.copy_(matrices)
        return layer(x, attn_mask=mask, is_causal=causal)[..., : q.shape[-1]]

    return Adapter(attend, "b n hd")


def x_transformers_by(flash):
    def attend(q, k, v, mask, causal):
        layer = x_transformers.attend.Attend(causal=causal, flash=flash, heads=q.shape[1]).eval()
        return layer(q, k, v, mask=mask)[0]

    return Adapter(attend, mask_axes=4)


CALLABLES = {
    "transformers": {f"transformers, {name}": transformers_by(name) for name in ("eager", "sdpa")},
    "timm": {
        "timm.layers.Attention, fused": timm_attention(True),
        "timm.layers.Attention, not fused": timm_attention(False),
    },
    "x-transformers": {
        "x_transformers.Attend, flash": x_transformers_by(True),
        "x_transformers.Attend": x_transformers_by(False),
    },
}

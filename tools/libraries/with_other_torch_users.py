"""torchtune, curated-transformers and labml."""

import torch
from child import Adapter
from curated_transformers.layers import attention as curated
from labml import tracker
from labml_nn.transformers import mha
from torch import nn
from torchtune.modules import MultiHeadAttention
from with_torch import back, convert, transparent  # noqa: F401

tracker.debug = lambda *_: None  # labml's newest release has it no longer, and labml-nn's newest asks for it


def torchtune(q, k, v, mask, causal, heads):
    """Keys and values come from one text, so they stand side by side in it, and matrices part them."""
    wide, narrow, d = q.shape[-1], k.shape[-1], q.shape[-1] // heads
    width = wide + 2 * narrow
    layer = MultiHeadAttention(
        embed_dim=width, num_heads=heads, num_kv_heads=narrow // d, head_dim=d, is_causal=causal,
        q_proj=nn.Linear(width, wide), k_proj=nn.Linear(width, narrow), v_proj=nn.Linear(width, narrow),
        output_proj=nn.Identity(),
    ).to(q.dtype).eval()  # fmt: skip
    eye = torch.eye(width, dtype=q.dtype)
    with torch.no_grad():
        for part, start in ((layer.q_proj, 0), (layer.k_proj, 0), (layer.v_proj, narrow)):
            part.weight.copy_(eye[start : start + part.out_features])
            part.bias.zero_()
    texts = (q, torch.cat([k, v], dim=-1))
    return layer(*(nn.functional.pad(text, (0, width - text.shape[-1])) for text in texts), mask=mask)


def curated_transformers(q, k, v, mask, causal):
    scorer = curated.ScaledDotProductAttention(dropout_prob=0.1, linear_biases=None).eval()
    nothing_hidden = torch.ones(1, 1, 1, k.shape[-2]).bool()
    mask = curated.AttentionMask(nothing_hidden if mask is None else mask)
    return scorer(query=q, key=k, value=v, attention_mask=mask, use_causal_mask=causal)


def labml(q, k, v, mask, causal, heads):
    layer = transparent(mha.MultiHeadAttention(heads, q.shape[-1])).to(q.dtype).eval()
    return layer(query=q, key=k, value=v, mask=None if mask is None else mask[..., None])


CALLABLES = {
    "torchtune": {"torchtune.modules.MultiHeadAttention": Adapter(torchtune, "b n hd", 3)},
    "curated-transformers": {
        "curated_transformers ScaledDotProductAttention": Adapter(curated_transformers, mask_axes=4)
    },
    "labml-nn": {
        "labml_nn.transformers.MultiHeadAttention": Adapter(
            labml, "n b hd", takes_flag=False, shares_heads=False
        )
    },
}

"""torchtune, curated-transformers and labml."""

import torch
from child import no_flag, one_number_of_heads, wide
from curated_transformers.layers import attention as curated
from labml import tracker
from labml_nn.transformers import mha
from torch import nn
from torchtune.modules import MultiHeadAttention
from with_torch import back, convert, merged, split, transparent  # noqa: F401

tracker.debug = lambda *_: None  # labml's newest release has it no longer, and labml-nn's newest asks for it


def torchtune(q, k, v, mask, causal):
    """Keys and values come from one text, so they stand side by side in it, and matrices part them."""
    x, y = merged(q), torch.cat([merged(k), merged(v)], dim=-1)
    wide, narrow = x.shape[-1], y.shape[-1] // 2
    width = wide + 2 * narrow
    eye = torch.eye(width, dtype=q.dtype)
    sizes = {"num_heads": q.shape[1], "num_kv_heads": k.shape[1], "head_dim": q.shape[-1]}
    layer = MultiHeadAttention(
        embed_dim=width, **sizes, is_causal=causal,
        q_proj=nn.Linear(width, wide), k_proj=nn.Linear(width, narrow), v_proj=nn.Linear(width, narrow),
        output_proj=nn.Identity(),
    ).to(q.dtype).eval()  # fmt: skip
    starts = {layer.q_proj: 0, layer.k_proj: 0, layer.v_proj: narrow}
    with torch.no_grad():
        for part, start in starts.items():
            part.weight.copy_(eye[start : start + part.out_features])
            part.bias.zero_()
    x, y = (nn.functional.pad(text, (0, width - text.shape[-1])) for text in (x, y))
    return split(layer(x, y, mask=None if mask is None else mask[None]), q)


def curated_transformers(q, k, v, mask, causal):
    scorer = curated.ScaledDotProductAttention(dropout_prob=0.1, linear_biases=None).eval()
    nothing_hidden = torch.ones(1, 1, 1, k.shape[-2]).bool()
    mask = curated.AttentionMask(nothing_hidden if mask is None else wide(mask))
    return scorer(query=q, key=k, value=v, attention_mask=mask, use_causal_mask=causal)


def labml(q, k, v, mask, causal):
    no_flag(causal)
    one_number_of_heads(q, k)
    layer = transparent(mha.MultiHeadAttention(q.shape[1], q.shape[1] * q.shape[-1])).to(q.dtype).eval()
    query, key, value = (merged(x).transpose(0, 1) for x in (q, k, v))  # (n, b, h·d)
    mask = None if mask is None else mask[..., None]
    return split(layer(query=query, key=key, value=value, mask=mask).transpose(0, 1), q)


CALLABLES = {
    "torchtune": {"torchtune.modules.MultiHeadAttention": torchtune},
    "curated-transformers": {"curated_transformers ScaledDotProductAttention": curated_transformers},
    "labml-nn": {"labml_nn.transformers.MultiHeadAttention": labml},
}

"""PyTorch's own paths, each by itself."""

import torch
from child import Adapter, NotAsked
from torch import nn
from torch.nn import functional as F
from torch.nn.attention import SDPBackend, bias, flex_attention, sdpa_kernel


def convert(array, dtype):
    return torch.tensor(array).to(getattr(torch, dtype))


def back(output):
    return output.detach().float().numpy()


def fused(q, k, v, mask, causal):
    shared = q.shape[1] != k.shape[1]
    return F.scaled_dot_product_attention(q, k, v, mask, is_causal=causal, enable_gqa=shared)


def lower_right(q, k, v, mask, causal):
    if causal and mask is not None:
        raise NotAsked("one argument takes the mask or causal_lower_right(n_q, n_k), not both")
    mask = bias.causal_lower_right(q.shape[-2], k.shape[-2]) if causal else mask
    return fused(q, k, v, mask, causal=False)


def flex(q, k, v, mask, causal):
    """Its masks are functions of places: a bool mask goes into mask_mod, a mask of numbers into score_mod."""
    n_q, n_k = q.shape[-2], k.shape[-2]
    hides = mask is not None and mask.dtype == torch.bool
    kept = mask if hides else torch.ones(n_q, n_k).bool()
    added = torch.zeros(n_q, n_k) if mask is None or hides else mask

    def allowed(b, h, i, j):
        return kept[i, j] & ((i >= j) | (not causal))

    def score(scores, b, h, i, j):
        return scores + added[i, j]

    block = flex_attention.create_block_mask(allowed, None, None, n_q, n_k, device="cpu")
    shared = q.shape[1] != k.shape[1]
    return flex_attention.flex_attention(q, k, v, score, block_mask=block, enable_gqa=shared)


def transparent(layer):
    """Identity matrices, and no biases: what goes in is what the heads get, what they give comes out."""
    with torch.no_grad():
        for parameter in layer.parameters():
            parameter.zero_()
            if parameter.dim() == 2:  # of W_Q, W_K and W_V above each other each is the identity
                parameter += torch.eye(parameter.shape[1]).repeat(parameter.shape[0] // parameter.shape[1], 1)
    return layer


def layer_of(need_weights):
    def attend(q, k, v, mask, causal, heads):
        layer = transparent(nn.MultiheadAttention(q.shape[-1], heads, batch_first=True)).to(q.dtype)
        return layer(q, k, v, attn_mask=mask, is_causal=causal, need_weights=need_weights)[0]

    return Adapter(attend, "b n hd", shares_heads=False)


def one_text(q, k, v):
    """Return query, key and value side by side, and W_Q, W_K, W_V that part them again."""
    if q.shape != k.shape:
        raise NotAsked("it takes one text, so there are as many keys as queries, in as many heads")
    width = q.shape[-1]
    matrices = torch.zeros(3, 3 * width, 3 * width, dtype=q.dtype)
    for part in range(3):
        matrices[part, :width, part * width : (part + 1) * width] = torch.eye(width)
    return torch.cat([q, k, v], dim=-1), matrices.flatten(0, 1)


@torch.no_grad()
def fast_path(q, k, v, mask, causal, heads):
    x, matrices = one_text(q, k, v)
    layer = transparent(nn.MultiheadAttention(x.shape[-1], 3 * heads, batch_first=True)).to(q.dtype).eval()
    layer.in_proj_weight.copy_(matrices)
    output = layer(x, x, x, attn_mask=mask, is_causal=causal, need_weights=False)[0]
    return output[..., : q.shape[-1]]


CALLABLES = {
    "torch": {
        "F.scaled_dot_product_attention": Adapter(fused),
        "F.scaled_dot_product_attention, math": Adapter(sdpa_kernel(SDPBackend.MATH)(fused)),
        "F.scaled_dot_product_attention, causal_lower_right": Adapter(lower_right),
        "nn.MultiheadAttention, weights asked for": layer_of(True),
        "nn.MultiheadAttention, no weights": layer_of(False),
        "nn.MultiheadAttention, in eval and no_grad": Adapter(fast_path, "b n hd"),
        "flex_attention": Adapter(flex),
    }
}

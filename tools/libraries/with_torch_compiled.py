"""What PyTorch compiles: its function, and flex_attention, which is slow where it is not compiled."""

import torch
from child import Adapter
from torch.nn.attention import flex_attention
from with_torch import back, convert, fused  # noqa: F401


def compiled(q, k, v, mask, causal):
    torch.compiler.reset()  # or after eight kinds of input it would no longer compile
    return torch.compile(fused)(q, k, v, mask, causal)


def flex(q, k, v, mask, causal):
    """Its masks are functions of places: a bool mask goes into mask_mod, a mask of numbers into score_mod."""

    hides = mask is not None and mask.dtype == torch.bool
    adds = mask is not None and not hides

    def allowed(b, h, i, j):
        return ((i >= j) | (not causal)) & (mask[i, j] if hides else True)

    def score(scores, b, h, i, j):
        return scores + mask[i, j] if adds else scores

    block = None
    if causal or hides:
        block = flex_attention.create_block_mask(allowed, None, None, q.shape[-2], k.shape[-2], device="cpu")
    shared = q.shape[1] != k.shape[1]
    return flex_attention.flex_attention(q, k, v, score, block_mask=block, enable_gqa=shared)


CALLABLES = {
    "torch": {
        "F.scaled_dot_product_attention, compiled": Adapter(compiled),
        "flex_attention": Adapter(flex),
    }
}

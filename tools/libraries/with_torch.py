"""PyTorch's own paths, each by itself."""

import torch
from child import Adapter, NotAsked
from torch import nn
from torch.nn import functional as F
from torch.nn.attention import SDPBackend, bias, sdpa_kernel


def convert(array, dtype):
    return torch.tensor(array).to(getattr(torch, dtype))


def back(output):
    return output.detach().float().numpy()


def fused(q, k, v, mask, causal):
    shared = q.shape[1] != k.shape[1]
    return F.scaled_dot_product_attention(q, k, v, mask, is_causal=causal, enable_gqa=shared)


def by(backend):
    def attend(*given):
        with sdpa_kernel(backend):
            return fused(*given)

    return Adapter(attend)


def lower_right(q, k, v, mask, causal):
    if causal and mask is not None:
        raise NotAsked("one argument takes the mask or causal_lower_right(n_q, n_k), not both")
    mask = bias.causal_lower_right(q.shape[-2], k.shape[-2]) if causal else mask
    return fused(q, k, v, mask, causal=False)


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


def fast_path(q, k, v, mask, causal, heads):
    x, matrices = one_text(q, k, v)
    layer = transparent(nn.MultiheadAttention(x.shape[-1], 3 * heads, batch_first=True)).to(q.dtype).eval()
    with torch.no_grad():
        layer.in_proj_weight.copy_(matrices)
        output = layer(x, x, x, attn_mask=mask, is_causal=causal, need_weights=False)[0]
    return output[..., : q.shape[-1]]


def encoder_layer(training):
    """The norm at its end is undone by two features that are known."""

    def attend(q, k, v, mask, causal, heads):
        if q.dtype != torch.float32:
            raise NotAsked("through a norm the weights are not seen in half precision")
        x, matrices = one_text(q, k, v)
        width = x.shape[-1]
        known = torch.zeros_like(x)
        known[..., 0], known[..., 1] = 4, -4
        x = torch.cat([x, known], dim=-1)
        layer = nn.TransformerEncoderLayer(2 * width, 6 * heads, 1, dropout=0.0, batch_first=True)
        with torch.no_grad():
            transparent(layer.self_attn).in_proj_weight.zero_()
            for part, rows in enumerate(matrices.chunk(3)):
                layer.self_attn.in_proj_weight[2 * part * width :][:width, :width] = rows
            transparent(layer.linear2).weight.zero_()
        layer.train(training)
        with torch.set_grad_enabled(training):
            output = layer(x, src_mask=mask, is_causal=causal)
        first, second = output[..., width, None], output[..., width + 1, None]
        output = (output - (first + second) / 2) * 8 / (first - second)
        return (output - x)[..., : q.shape[-1]]

    return Adapter(attend, "b n hd")


CALLABLES = {
    "torch": {
        "F.scaled_dot_product_attention": Adapter(fused),
        "F.scaled_dot_product_attention, math": by(SDPBackend.MATH),
        "F.scaled_dot_product_attention, flash": by(SDPBackend.FLASH_ATTENTION),
        "F.scaled_dot_product_attention, causal_lower_right": Adapter(lower_right),
        "nn.MultiheadAttention, weights asked for": layer_of(True),
        "nn.MultiheadAttention, no weights": layer_of(False),
        "nn.MultiheadAttention, in eval and no_grad": Adapter(fast_path, "b n hd"),
        "nn.TransformerEncoderLayer, in training": encoder_layer(True),
        "nn.TransformerEncoderLayer, in eval and no_grad": encoder_layer(False),
    }
}

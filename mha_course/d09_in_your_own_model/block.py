"""The class of the course in the place of ``nn.MultiheadAttention`` inside PyTorch's own blocks."""

import torch

from mha_helpers import (
    MultiHeadAttention,
    attention_scores,
    attention_weights,
    merge_heads,
    scale_scores,
    split_heads,
    weighted_values,
)


class InPyTorchsBlock(MultiHeadAttention):
    """Attention that is called as PyTorch's blocks call theirs, and keeps its last ``weights``.

    ``InPyTorchsBlock.from_torch(module)`` takes the place of the module in ``nn.TransformerEncoderLayer`` or
    ``nn.TransformerDecoderLayer``. Masks are PyTorch's: True = hidden, and numbers are added to the scores.

    Shapes: query ``(b, n_q, d_model)``, key and value ``(b, n_k, d_model)``, with b second unless
    ``batch_first``, or all without b; attn_mask ``(n_q, n_k)`` or ``(b·h, n_q, n_k)``, key_padding_mask
    ``(b, n_k)`` -> output as query, weights ``(b, h, n_q, n_k)``.
    Taught in notebook deeper/09_in_your_own_model. Source: ``nn.MultiheadAttention.forward``.
    Raises ``ValueError`` if value is not key, since this class makes both from one text,
    ``RuntimeError`` in an ``nn.TransformerEncoder`` that was built from other layers and goes round this one.
    """

    batch_first = True
    # Blocks ask for these two, and then leave out a fast path that would go round our forward.
    in_proj_bias, _qkv_same_embed_dim = None, False

    @property
    def in_proj_weight(self):
        switch = "torch.backends.mha.set_fastpath_enabled(False)"
        raise RuntimeError(f"this encoder takes a fast path round its layers: call {switch} first.")

    @classmethod
    def from_torch(cls, module):
        copy = super().from_torch(module)
        copy.batch_first = module.batch_first
        return copy

    def forward(self, query, key, value, attn_mask=None, key_padding_mask=None, **options):
        if value is not key:
            raise ValueError("keys and values are made from one text here: hand over the same tensor twice.")
        second = query.dim() == 3 and not self.batch_first  # (n, b, d_model)
        if second:
            query, key = query.transpose(0, 1), key.transpose(0, 1)
        texts = {self.w_q: query, self.w_k: key, self.w_v: key}
        q, k, v = (split_heads(projection(text), self.num_heads) for projection, text in texts.items())
        scores = scale_scores(attention_scores(q, k), self.d_k)  # (b, h, n_q, n_k)
        if attn_mask is not None:
            each_head = attn_mask.dim() == 3  # (b·h, n_q, n_k)
            scores = _masked(scores, attn_mask.view(scores.shape) if each_head else attn_mask)
        if key_padding_mask is not None:
            scores = _masked(scores, key_padding_mask[..., None, None, :])  # (b, n_k) -> (b, 1, 1, n_k)
        weights = attention_weights(scores)
        self.weights = weights.detach()  # without a history, which nobody could copy
        output = self.w_o(merge_heads(weighted_values(weights, v)))
        return (output.transpose(0, 1) if second else output), weights


def _masked(scores, mask):
    if mask.dtype == torch.bool:
        return scores.masked_fill(mask, -torch.inf)
    return scores + mask.to(scores.dtype)

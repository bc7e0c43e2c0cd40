"""Helpers of the notebook course on multi-head attention.

``attention`` and ``masks`` hold the mathematics and are meant to be read from top to bottom; ``checks`` says
what is wrong with an input. The rest draws: static pictures, and ``Panel``, which moves. What belongs to the
pages of the course stands beside it, in ``mha_course``.
"""

from mha_helpers.attention import (
    AttentionTrace,
    MultiHeadAttention,
    attention_scores,
    attention_weights,
    mask_scores,
    merge_heads,
    project_qkv,
    scale_scores,
    scaled_dot_product_attention,
    split_heads,
    weighted_values,
)
from mha_helpers.attention_view import attention_view
from mha_helpers.golden import GoldenExample, golden_example
from mha_helpers.heatmaps import head_heatmaps, heatmap
from mha_helpers.masks import causal_mask, padding_mask, sliding_window_mask
from mha_helpers.panel import Panel
from mha_helpers.pipeline import pipeline_map
from mha_helpers.sentence import fixed_matrix, hand_made_heads, sentence_vectors, tokenize
from mha_helpers.tables import matrix_table, product_table, side_by_side

__all__ = [
    "AttentionTrace", "GoldenExample", "MultiHeadAttention", "Panel", "attention_scores",
    "attention_view", "attention_weights", "causal_mask", "fixed_matrix", "golden_example", "hand_made_heads",
    "head_heatmaps", "heatmap", "mask_scores", "matrix_table", "merge_heads", "padding_mask",
    "pipeline_map", "product_table", "project_qkv", "scale_scores", "scaled_dot_product_attention",
    "sentence_vectors", "side_by_side", "sliding_window_mask", "split_heads", "tokenize",
    "weighted_values",
]  # fmt: skip

"""Helpers of the notebook course on multi-head attention.

``attention`` and ``masks`` hold the mathematics and are meant to be read from top to bottom; ``checks`` says
what is wrong with an input. What draws, as static pictures and ``Panel`` do, is loaded when it is first asked
for, so that the mathematics needs PyTorch alone. What belongs to the pages is in ``mha_course``.
"""

import importlib
from typing import TYPE_CHECKING

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
from mha_helpers.golden import GoldenExample, golden_example
from mha_helpers.masks import causal_mask, padding_mask, sliding_window_mask
from mha_helpers.record import record_attention
from mha_helpers.sentence import fixed_matrix, hand_made_heads, sentence_vectors, tokenize
from mha_helpers.tables import matrix_table, product_table, side_by_side

if TYPE_CHECKING:  # what an editor reads
    from mha_helpers.heatmaps import head_heatmaps, heatmap
    from mha_helpers.panel import Panel
    from mha_helpers.pipeline import pipeline_map
    from mha_helpers.probing import moves, probe
    from mha_helpers.weights_view import attention_view

__all__ = [
    "AttentionTrace", "GoldenExample", "MultiHeadAttention", "Panel", "attention_scores",
    "attention_view", "attention_weights", "causal_mask", "fixed_matrix", "golden_example", "hand_made_heads",
    "head_heatmaps", "heatmap", "mask_scores", "matrix_table", "merge_heads", "moves", "padding_mask",
    "pipeline_map", "probe", "product_table", "project_qkv", "record_attention", "scale_scores",
    "scaled_dot_product_attention", "sentence_vectors", "side_by_side", "sliding_window_mask", "split_heads",
    "tokenize", "weighted_values",
]  # fmt: skip

_LATER = {  # needs matplotlib or ipywidgets, or is asked for on few pages: name -> module
    "Panel": "panel",
    "attention_view": "weights_view",
    "head_heatmaps": "heatmaps",
    "heatmap": "heatmaps",
    "moves": "probing",
    "pipeline_map": "pipeline",
    "probe": "probing",
}


def __getattr__(name):
    if name not in _LATER:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    globals()[name] = getattr(importlib.import_module(f"{__name__}.{_LATER[name]}"), name)
    return globals()[name]


def __dir__():
    return sorted({*globals(), *__all__})

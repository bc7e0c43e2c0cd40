"""Helpers of the notebook course on multi-head attention.

``attention`` and ``masks`` hold the mathematics and are meant to be read from top to bottom. Everything
else, above all what draws (seaborn, matplotlib, ipywidgets), is imported only when it is first used.
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
from mha_helpers.lazy import lazy_names
from mha_helpers.masks import causal_mask, padding_mask, sliding_window_mask

# The other public names, and the module that has each: some cost an import of seaborn or ipywidgets, and no
# page needs all of the examples.
_LAZY = {
    "GoldenExample": "examples",
    "fixed_matrix": "examples",
    "golden_example": "examples",
    "head_projections": "examples",
    "sentence_vectors": "examples",
    "shape_example": "examples",
    "sinusoidal_positions": "examples",
    "token_vectors": "examples",
    "tokenize": "examples",
    "Picture": "figures",
    "heatmap": "figures",
    "head_heatmaps": "figures",
    "pipeline_map": "figures",
    "matrix_table": "inspector",
    "product_table": "inspector",
    "side_by_side": "inspector",
    "check_environment": "environment",
    "Panel": "panel",
    "attention_explorer": "explorers",
    "shapes_explorer": "explorers",
    "projection_explorer": "explorers",
    "scores_explorer": "explorers",
    "scaling_explorer": "explorers",
    "mask_explorer": "explorers",
    "softmax_explorer": "explorers",
    "values_explorer": "explorers",
    "splitting_explorer": "explorers",
    "trained_explorer": "explorers",
    "real_model_explorer": "explorers",
    "TinyModel": "trained",
    "trained_model": "trained",
    "train_live": "training_view",
}

__all__ = [
    "AttentionTrace",
    "MultiHeadAttention",
    "attention_scores",
    "attention_weights",
    "causal_mask",
    "mask_scores",
    "merge_heads",
    "padding_mask",
    "project_qkv",
    "scale_scores",
    "scaled_dot_product_attention",
    "sliding_window_mask",
    "split_heads",
    "weighted_values",
    *_LAZY,
]

__getattr__, __dir__ = lazy_names(__name__, _LAZY, __all__)

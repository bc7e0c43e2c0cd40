"""One explorer for each notebook: a function that returns a ``Panel`` and needs no argument.

Each lives in a module of its own and is imported when it is first asked for, because widgets and
figures take a second to load.
"""

from mha_helpers.lazy import lazy_names

_MODULES = {
    "attention_explorer": "whole",  # notebooks 00 and 09
    "shapes_explorer": "e01_inputs_and_shapes",
    "projection_explorer": "e02_qkv_projection",
    "scores_explorer": "e03_qk_scores",
    "scaling_explorer": "e04_scaling",
    "mask_explorer": "e05_causal_mask",
    "softmax_explorer": "e06_softmax",
    "values_explorer": "e07_weighted_values",
    "splitting_explorer": "e08_splitting_heads",
    "trained_explorer": "e10_trained_heads",
    "real_model_explorer": "e11_real_model",
}

__all__ = list(_MODULES)

__getattr__, __dir__ = lazy_names(__name__, _MODULES, __all__)

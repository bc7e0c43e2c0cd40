"""The explorers, one file a page: what is computed, what is drawn, what is said.

Each is a function without arguments that returns a ``Panel``; ``e00_attention`` serves pages 00 and 09.
"""

from mha_helpers.explorers.e00_attention import attention_explorer
from mha_helpers.explorers.e00_cat_eats_fish import cat_eats_fish_heads
from mha_helpers.explorers.e01_shapes import shapes_explorer
from mha_helpers.explorers.e02_projection import projection_explorer
from mha_helpers.explorers.e03_scores import scores_explorer
from mha_helpers.explorers.e04_scaling import scaling_explorer
from mha_helpers.explorers.e05_masks import mask_explorer
from mha_helpers.explorers.e06_softmax import softmax_explorer
from mha_helpers.explorers.e07_values import values_explorer
from mha_helpers.explorers.e08_splitting import splitting_explorer
from mha_helpers.explorers.e10_trained import trained_explorer
from mha_helpers.explorers.e11_real_model import real_model_explorer
from mha_helpers.explorers.e12_bugs import bugs_explorer

__all__ = [
    "attention_explorer",
    "bugs_explorer",
    "cat_eats_fish_heads",
    "mask_explorer",
    "projection_explorer",
    "real_model_explorer",
    "scaling_explorer",
    "scores_explorer",
    "shapes_explorer",
    "softmax_explorer",
    "splitting_explorer",
    "trained_explorer",
    "values_explorer",
]

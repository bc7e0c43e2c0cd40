"""Static pictures that belong to one page. Each function returns a ``Picture``: a figure and its words."""

from mha_helpers.pictures.p07_values import value_hull
from mha_helpers.pictures.p08_splitting import heads_cut
from mha_helpers.pictures.p09_output import contribution_bars
from mha_helpers.pictures.p09_summary import summary_picture
from mha_helpers.pictures.p10_trained import circuit_maps, model_map
from mha_helpers.pictures.pipeline import pipeline_map

__all__ = [
    "circuit_maps",
    "contribution_bars",
    "heads_cut",
    "model_map",
    "pipeline_map",
    "summary_picture",
    "value_hull",
]

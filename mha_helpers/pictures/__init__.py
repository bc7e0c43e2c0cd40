"""Static pictures that belong to one page. Each function returns a ``Picture``: a figure and its words."""

from mha_helpers.pictures.p10_trained import circuit_maps, model_map
from mha_helpers.pictures.pipeline import pipeline_map

__all__ = ["circuit_maps", "model_map", "pipeline_map"]

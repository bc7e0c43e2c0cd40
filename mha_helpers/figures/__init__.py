"""Static figures. Each is a ``Picture``: an image together with a text made from its data."""

from mha_helpers.lazy import lazy_names

# Public names and the module that has each; seaborn is imported when the first is used.
_LAZY = {
    "Picture": "picture",
    "heatmap": "heatmaps",
    "head_heatmaps": "heatmaps",
    "pipeline_map": "pipeline",
}

__all__ = [*_LAZY]

__getattr__, __dir__ = lazy_names(__name__, _LAZY, __all__)

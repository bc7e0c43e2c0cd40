"""Static figures. Each is a ``Picture``: an image together with a text made from its data."""

from importlib import import_module

# Public names and the module that has each; seaborn is imported when the first is used.
_LAZY = {
    "Picture": "picture",
    "heatmap": "heatmaps",
    "head_heatmaps": "heatmaps",
    "pipeline_map": "pipeline",
}

__all__ = [*_LAZY]


def __getattr__(name):
    if name in _LAZY:
        return getattr(import_module(f"mha_helpers.figures.{_LAZY[name]}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__():
    return sorted(__all__)

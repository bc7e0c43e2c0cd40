"""Figures of notebook 10."""

import numpy as np
import torch
from matplotlib.colors import to_hex

from mha_helpers import style
from mha_helpers.figures.f10_trained_heads import BOX, STEPS, model_map, pairs_picture


def test_the_map_names_every_stage_and_its_shape():
    picture = model_map()
    for words in ("letters (b, n)", "layer 1 4 heads (b, n, d_model)", "(b, n, 26)", "added to its output"):
        assert words in picture.alt
    box = picture.figure.bbox
    renderer = picture.figure.canvas.get_renderer()
    for text in picture.figure.axes[0].texts:
        extent = text.get_window_extent(renderer)
        assert box.x0 <= extent.x0 and extent.x1 <= box.x1 and box.y0 <= extent.y0 and extent.y1 <= box.y1
        if text.get_text() in [words for words, _, _ in STEPS]:  # it stands in a box
            assert extent.width <= BOX - 4


def test_no_box_has_the_colour_of_a_query_a_key_or_a_value():
    edges = {to_hex(patch.get_edgecolor()).upper() for patch in model_map().figure.axes[0].patches}
    assert not edges & {style.COLOURS[role] for role in ("query", "key", "value")}


def test_pairs_are_drawn_and_told_as_they_are():
    accuracies = torch.tensor([[0.9, 0.1, 0.8], [0.1, 0.7, 0.6], [0.8, 0.6, 0.95]])
    picture = pairs_picture(accuracies, ["1.1", "1.2", "2.1"])
    assert picture.alt == (
        "Accuracy with heads off. One head: 1.1 0.90, 1.2 0.70, 2.1 0.95. Worst pair: 1.1 and 1.2, 0.10."
    )
    axes = picture.figure.axes[0]
    assert np.allclose(axes.collections[0].get_array().reshape(3, 3), accuracies)
    assert [text.get_text() for text in axes.texts][:3] == ["0.90", "0.10", "0.80"]
    assert (axes.get_xlabel(), axes.get_ylabel()) == ("head switched off", "and this one")

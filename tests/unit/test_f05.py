"""Masks side by side: the words say what the masks say, and what does not fit is refused."""

import numpy as np
import pytest
import torch

from mha_helpers import causal_mask, padding_mask
from mha_helpers.figures.f05_causal_mask import mask_maps

TOKENS = ["cat", "eats", "fish"]


def test_the_words_count_the_cells_of_each_row():
    masks = {"causal": causal_mask(3), "padding": padding_mask([2], 3)}
    assert mask_maps(masks, TOKENS).alt.splitlines() == [
        "causal: masked in 3 of 9 cells; may attend in each row: cat 1, eats 2, fish 3.",
        "padding: masked in 3 of 9 cells; may attend in each row: cat 2, eats 2, fish 2.",
    ]


def test_other_words_and_axes():
    picture = mask_maps(
        {"no mask": causal_mask(3)}, TOKENS, axes=("output of", "changed"), words=("moves", "stays")
    )
    assert picture.alt == "no mask: stays in 3 of 9 cells; moves in each row: cat 1, eats 2, fish 3."
    axes = picture.figure.axes[0]
    assert (axes.get_ylabel(), axes.get_xlabel()) == ("output of", "changed")


def test_what_is_false_is_left_to_the_hatching():
    axes = mask_maps({"causal": causal_mask(3)}, TOKENS).figure.axes[0]
    drawn = np.ma.getmaskarray(axes.collections[0].get_array()).reshape(3, 3)
    assert np.array_equal(drawn, ~causal_mask(3).numpy())
    assert axes.patch.get_hatch()
    assert axes.yaxis_inverted()  # the first query stands on top


@pytest.mark.parametrize("count, across", [(1, 1), (3, 3), (4, 4), (5, 3)])
def test_panels_stand_in_rows_and_nothing_is_cut(count, across):
    picture = mask_maps({f"mask {i}": causal_mask(3) for i in range(count)}, TOKENS)
    panels = picture.figure.axes
    assert len({round(panel.get_position().x0, 3) for panel in panels}) == across
    box = picture.figure.get_tightbbox()
    width, height = picture.figure.get_size_inches()
    assert box.x0 >= 0 and box.y0 >= 0 and box.x1 <= width and box.y1 <= height


@pytest.mark.parametrize(
    "mask, error, words",
    [
        (torch.ones(3, 3), TypeError, 'the mask "m" must be a bool tensor'),
        ([[True]], TypeError, 'the mask "m" must be a bool tensor'),
        (causal_mask(4), ValueError, r"\(4, 4\) does not broadcast to one picture of 3 × 3"),
        (padding_mask([1, 2], 3), ValueError, r"\(2, 1, 1, 3\) does not broadcast"),
    ],
)
def test_what_does_not_fit_is_refused(mask, error, words):
    with pytest.raises(error, match=words):
        mask_maps({"m": mask}, TOKENS)

"""Masks side by side: the words say what the masks say, and what does not fit is refused."""

import itertools

import numpy as np
import pytest
import torch

from mha_helpers import causal_mask, padding_mask
from mha_helpers.figures.f05_causal_mask import mask_maps

TOKENS = ["cat", "eats", "fish"]


def test_the_words_name_the_columns_of_each_row():
    masks = {"causal": causal_mask(3), "padding": padding_mask([2], 3)}
    assert mask_maps(masks, TOKENS).alt.splitlines() == [
        "Rows: query; columns: key.",
        "causal: masked in 3 of 9 cells. Row by row, the columns of “may attend”: cat 1; eats 1–2; fish 1–3.",
        "padding: masked in 3 of 9 cells. Row by row, the columns of “may attend”: cat 1–2; eats 1–2; fish 1–2.",
    ]


def test_words_tell_masks_apart_that_leave_as_many_cells():
    right = mask_maps({"m": causal_mask(3)}, TOKENS).alt
    wrong = mask_maps({"m": causal_mask(3).flip(1)}, TOKENS).alt
    assert right.endswith("cat 1; eats 1–2; fish 1–3.")
    assert wrong.endswith("cat 3; eats 2–3; fish 1–3.")
    broken = torch.tensor([[True, False, True], [False] * 3, [True] * 3])
    assert mask_maps({"m": broken}, TOKENS).alt.endswith("cat 1, 3; eats none; fish 1–3.")


def test_other_words_and_axes():
    picture = mask_maps(
        {"no mask": causal_mask(3)}, TOKENS, axes=("output of", "changed"), words=("moves", "stays")
    )
    assert picture.alt == (
        "Rows: output of; columns: changed.\n"
        "no mask: stays in 3 of 9 cells. Row by row, the columns of “moves”: cat 1; eats 1–2; fish 1–3."
    )
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
        (torch.ones(3, 3), TypeError, "the mask “m” must be a bool tensor"),
        ([[True]], TypeError, "the mask “m” must be a bool tensor"),
        (causal_mask(4), ValueError, r"\(4, 4\) does not broadcast to one picture of 3 × 3"),
        (padding_mask([1, 2], 3), ValueError, r"\(2, 1, 1, 3\) does not broadcast"),
    ],
)
def test_what_does_not_fit_is_refused(mask, error, words):
    with pytest.raises(error, match=words):
        mask_maps({"m": mask}, TOKENS)


def test_labels_of_many_tokens_do_not_overlap():
    tokens = [f"w{i}" for i in range(64)]
    picture = mask_maps({"a": causal_mask(64), "b": causal_mask(64)}, tokens)
    picture.figure.canvas.draw()
    axes = picture.figure.axes[0]
    for labels, side in ((axes.get_yticklabels(), "y"), (axes.get_xticklabels(), "x")):
        assert [label.get_text() for label in labels] == tokens[::3]
        boxes = [label.get_window_extent() for label in labels]
        starts = sorted((getattr(box, f"{side}0"), getattr(box, f"{side}1")) for box in boxes)
        assert all(one[1] <= other[0] for one, other in itertools.pairwise(starts))


def test_long_titles_do_not_overlap():
    titles = ["a rather long title for a mask", "another long title for a mask", "short", "W" * 40]
    picture = mask_maps(dict.fromkeys(titles, causal_mask(2)), ["a", "b"])
    picture.figure.canvas.draw()
    boxes = [axes._left_title.get_window_extent() for axes in picture.figure.axes]
    assert all(one.x1 < other.x0 for one, other in itertools.pairwise(boxes))
    for box in boxes:
        assert box.x1 <= picture.figure.bbox.width and box.y1 <= picture.figure.bbox.height


@pytest.mark.parametrize(
    "masks, tokens, words", [({}, ["a"], "got 0 and 1"), ({"m": causal_mask(1)}, [], "got 1 and 0")]
)
def test_nothing_to_draw_is_said(masks, tokens, words):
    with pytest.raises(ValueError, match=f"at least one mask and one token are needed; {words}"):
        mask_maps(masks, tokens)

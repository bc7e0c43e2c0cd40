"""Every token has its label as long as small type makes it fit: an axis that skips letters spells another line."""

import itertools

import pytest
import torch

from mha_helpers import head_heatmaps, style
from mha_helpers.figures.layout import SMALL_TYPE

LINE = list("KQWMADZT" * 3)
SENTENCE = ["[CLS]", "the", "cat", "eats", "the", "fish", "because", "it", "is", "hungry", "[SEP]"]


def labels_of(picture):
    """The labels of each axis that has any, as they are drawn."""
    with style.drawing():
        picture.figure.canvas.draw()
    axes = [ax for ax in picture.figure.axes if ax.get_label() != "colour bar"]
    return [labels for ax in axes for labels in (ax.get_yticklabels(), ax.get_xticklabels()) if labels]


# What stands on pages 10 and 11.
@pytest.mark.parametrize(("heads", "tokens"), [(4, LINE), (2, LINE), (12, SENTENCE)])
def test_no_label_is_left_out_where_smaller_type_makes_room(heads, tokens):
    for labels in labels_of(head_heatmaps(torch.rand(heads, len(tokens), len(tokens)), tokens)):
        assert [label.get_text() for label in labels] == tokens
        assert {label.get_fontsize() for label in labels} != {style.FONT_SIZE}
        assert min(label.get_fontsize() for label in labels) >= SMALL_TYPE
        for one, other in itertools.pairwise(label.get_window_extent() for label in labels):
            assert one.y0 - other.y1 >= -2 or other.x0 - one.x1 >= -2  # a box is higher than its letters


@pytest.mark.parametrize(("heads", "tokens"), [(1, 60), (2, 40), (8, 24), (4, 40)])
def test_where_no_size_would_do_the_labels_stay_large(heads, tokens):
    picture = head_heatmaps(torch.rand(heads, tokens, tokens), range(tokens))
    assert picture.figure.bbox.height < 600  # nothing would be gained by larger panels
    for labels in labels_of(picture):
        assert len(labels) < tokens
        assert {label.get_fontsize() for label in labels} == {style.FONT_SIZE}


def test_few_tokens_keep_their_type_and_stand_in_one_row():
    picture = head_heatmaps(torch.rand(4, 12, 12), LINE[:12])
    assert len({ax.get_position().y0 for ax in picture.figure.axes if ax.get_label() != "colour bar"}) == 1
    for labels in labels_of(head_heatmaps(torch.rand(3, 3, 3), LINE[:3])):
        assert {label.get_fontsize() for label in labels} == {style.FONT_SIZE}


def test_no_letter_is_turned_since_z_would_read_as_n():
    for tokens, angle in ((LINE, 0), ([f"{letter}x" for letter in LINE], 90)):
        _, keys = labels_of(head_heatmaps(torch.rand(2, len(tokens), len(tokens)), tokens))[:2]
        assert {label.get_rotation() for label in keys} == {angle}

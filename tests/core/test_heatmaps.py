"""What the static pictures promise beyond those that test_every_panel.py keeps: one scale, frames, sizes, words."""

import base64
import io
import itertools
import re
import warnings

import pytest
import torch
from matplotlib.colors import to_hex
from PIL import Image

from mha_helpers.heatmaps import head_heatmaps, heatmap
from mha_helpers.masks import causal_mask
from mha_helpers.picture import drawable
from mha_helpers.pipeline import pipeline_map
from mha_helpers.style import COLOURS
from mha_helpers.svg import Drawing
from mha_helpers.tables import matrix_table, side_by_side

TOKENS = ["cat", "eats", "fish"]
SCORES = torch.tensor([[4.0, 0, 2], [4, -1, 0], [2, 0, 1]])


def scales(picture):
    return [ax.collections[0].get_clim() for ax in picture.figure.axes]


def cells_with_a_number(picture):
    """By column and row."""
    return {tuple(map(int, text.get_position())) for text in picture.figure.axes[0].texts}


def test_heatmaps_side_by_side_share_one_scale():
    alone = heatmap(-SCORES / 2, TOKENS, kind="scores")
    pair = side_by_side(heatmap(SCORES, TOKENS, kind="scores"), alone)
    assert scales(pair) == [(-4, 4), (-4, 4)]
    assert scales(alone) == [(-2, 2)] and scales(heatmap(0 * SCORES, kind="scores")) == [(-1, 1)]
    assert scales(heatmap(0.3 * torch.eye(3), TOKENS)) == [(0, 1)]  # weights: that of all pages
    of_two_kinds = side_by_side(alone, heatmap(8 * SCORES, kind="vectors", colour="query"))
    assert scales(of_two_kinds) == [(-2, 2), (-32, 32)]


def test_minus_infinity_is_an_empty_cell():
    picture = heatmap(SCORES.masked_fill(~causal_mask(3), -torch.inf), TOKENS, kind="scores", axes=("a", "b"))
    assert cells_with_a_number(picture) == {(0, 0), (0, 1), (1, 1), (0, 2), (1, 2), (2, 2)}
    assert picture.figure.axes[0].get_ylabel() == "a" and picture.figure.axes[0].get_xlabel() == "b"


def test_numbers_only_where_they_fit():
    assert cells_with_a_number(heatmap(torch.eye(8))) and not cells_with_a_number(heatmap(torch.eye(9)))
    assert not cells_with_a_number(head_heatmaps(torch.eye(8).expand(4, 8, 8)))  # the cells are too narrow
    left, right = sorted(heatmap(torch.eye(9)).figure.axes[-1].texts, key=lambda text: text.get_position())
    assert (left.get_text(), right.get_text()) == ("0", "1")  # the small scale that stands for them


def test_beside_the_colour_of_a_role_what_is_negative_is_grey():
    colours = heatmap(SCORES, kind="vectors", colour="query").figure.axes[0].collections[0].cmap
    assert [to_hex(colours(end)).upper() for end in (0.0, 1.0)] == [COLOURS["below"], COLOURS["query"]]
    colours = heatmap(SCORES, kind="scores").figure.axes[0].collections[0].cmap
    assert [to_hex(colours(end)).upper() for end in (0.0, 1.0)] == [COLOURS["negative"], COLOURS["positive"]]


@pytest.mark.parametrize(("chosen", "frame"), [((1, 2), (2, 1, 1, 1)), ((None, 2), (2, 0, 1, 2))])
def test_the_frame_is_around_what_was_chosen(chosen, frame):
    outline = heatmap(SCORES[:2], TOKENS[:2], kind="scores", chosen=chosen).figure.axes[0].patches[-1]
    assert (*outline.get_xy(), outline.get_width(), outline.get_height()) == frame


def test_a_token_between_dollars_is_no_formula():
    assert drawable(["$x$", "", "GPT模型", "internationalisation"]) == [r"\$x\$", "", "3", "international…"]


def test_a_token_that_the_font_lacks_is_its_number_and_a_title_goes_without_it():
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # that a sign has no glyph
        picture = head_heatmaps(torch.eye(2).expand(1, 2, 2), ["cat", "谁"], ["谁 acts"])
        assert picture.png()
    ax = picture.figure.axes[0]
    assert [label.get_text() for label in ax.get_yticklabels()] == ["cat", "2"]
    assert ax.get_title(loc="left") == "head 1:  acts"


def test_words_find_the_largest_number_that_may_be_seen():
    picture = heatmap(SCORES, TOKENS, kind="scores", mask=[[0, 1, 1]])
    assert picture.words == "Heatmap of scores, 3 × 3, and its largest number: cat → fish (2)."
    assert heatmap(SCORES, TOKENS, kind="vectors").words.endswith("cat → 1 (4).")  # features are no tokens


def test_a_picture_is_sharp_transparent_and_the_same_each_time():
    first, second = (heatmap(SCORES, TOKENS, kind="scores", chosen=1) for _ in range(2))
    assert first.png() == second.png() == first.png()
    data, metadata = first._repr_mimebundle_()
    image, shown = Image.open(io.BytesIO(base64.b64decode(data["image/png"]))), metadata["image/png"]
    assert image.width == 2 * shown["width"] and image.mode == "RGBA"
    assert "height" not in shown  # where a column is narrower than the picture, it follows
    assert data["text/plain"] == repr(first) == shown["alt"] and "Software" not in image.info


def test_the_longest_sentence_and_all_heads_stay_within_the_column_and_apart():
    picture = head_heatmaps(torch.rand(4, 16, 16), [f"word{i}" for i in range(16)], ["previous word"] * 4)
    image = Image.open(io.BytesIO(picture.png()))
    assert image.width <= 2 * 900 and image.height <= 2 * 340
    eight = head_heatmaps(torch.rand(8, 3, 3), TOKENS, ["previous word, or itself"] * 8)
    boxes = [ax.get_tightbbox() for ax in eight.figure.axes]
    assert not any(box.overlaps(other) for box, other in itertools.combinations(boxes, 2))


def test_names_stand_at_each_heatmap_of_other_rows_and_below_the_last_of_the_same_columns():
    names = [(TOKENS, TOKENS), (TOKENS, "abc"), ("def", "abc"), (TOKENS, TOKENS), (TOKENS, TOKENS)]
    picture = side_by_side(*(heatmap(SCORES, *of_both, kind="scores") for of_both in names))
    said = [[len(ax.get_yticks()), len(ax.get_xticks())] for ax in picture.figure.axes]
    assert said == [[3, 0], [0, 3], [3, 3], [3, 3], [0, 3]]


def test_the_map_writes_each_step_in_symbols_as_the_formula_has_them():
    written = " ".join(text.get_text() for text in pipeline_map(4).figure.axes[0].texts)
    formula = ["tokens x", "project Q K V", "scores Q Kᵀ", r"scaled $÷\,\sqrt{d_k}$", "masked −∞"]
    formula += ["weights softmax", "one head · V", "all heads × h", "output $W_O$"]
    assert re.findall(r"\d\d (.*?) \((?:n|h),", written) == formula


@pytest.mark.parametrize("draw", [heatmap, matrix_table])
def test_what_does_not_exist_is_named_in_pictures_and_tables(draw):
    for chosen, words in ((-1, "row -1"), (5, "row 5"), ((0, 3), r"column 3, .* from 0 to 2")):
        with pytest.raises(ValueError, match=rf"chosen is {words}"):
            draw(SCORES, chosen=chosen)
    with pytest.raises(ValueError, match=r"colour must be “#rrggbb” or one of query, .*got 'red'"):
        draw(SCORES, colour="red")
    with pytest.raises(ValueError, match=r"mask \(2,\) does not fit the matrix \(3, 3\)"):
        draw(SCORES, mask=[True, False])
    with pytest.raises(ValueError, match="tables or heatmaps, not both"):
        side_by_side(draw(SCORES), heatmap(SCORES), matrix_table(SCORES))
    with pytest.raises(ValueError, match="rows must hold 3 labels, one for each; got 2"):
        draw(SCORES, ["cat", "eats"])
    with pytest.raises(ValueError, match=r"a heatmap needs a matrix \(rows, columns\), got \(3,\)"):
        head_heatmaps(SCORES)
    for each in (heatmap, lambda *given, **kind: Drawing(9, 9).heatmap((0, 0, 9, 9), *given, **kind)):
        with pytest.raises(ValueError, match="one of weights, scores, vectors, mask; got 'score'"):
            each(SCORES, TOKENS, TOKENS, kind="score")

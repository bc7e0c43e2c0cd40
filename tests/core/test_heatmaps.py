"""What the static pictures promise: one scale, empty cells where nothing may be seen, the right frame and words."""

import base64
import io
import itertools

import pytest
import torch
from PIL import Image

from mha_helpers.golden import golden_example
from mha_helpers.heatmaps import head_heatmaps, heatmap
from mha_helpers.masks import causal_mask
from mha_helpers.picture import drawable
from mha_helpers.pipeline import pipeline_map
from mha_helpers.style import COLOURS
from mha_helpers.tables import side_by_side

TOKENS = ["cat", "eats", "fish"]
SCORES = torch.tensor([[4.0, 0, 2], [4, -1, 0], [2, 0, 1]])


def cells(picture, panel=0):
    """Return what seaborn drew, and the texts in cells by (row, column)."""
    ax = picture.figure.axes[panel]
    texts = {(int(text.get_position()[1]), int(text.get_position()[0])): text for text in ax.texts}
    return ax.collections[0], texts


def rgb(picture, row, column, panel=0):
    mesh, _ = cells(picture, panel)
    return mesh.cmap(mesh.norm(mesh.get_array()))[row, column, :3].tolist()


def test_heatmaps_side_by_side_share_one_scale():
    alone = heatmap(SCORES / 2, TOKENS, kind="scores")
    pair = side_by_side(heatmap(SCORES, TOKENS, kind="scores"), alone)
    first, second = (cells(pair, panel)[0].get_clim() for panel in (0, 1))
    assert first == second == (-4, 4)
    assert cells(alone)[0].get_clim() == (-2, 2)


def test_a_weight_of_nothing_is_white_and_a_score_of_nothing_too():
    assert rgb(heatmap(torch.eye(2)), 0, 1) == [1, 1, 1]
    assert min(rgb(heatmap(SCORES, kind="scores"), 1, 2)) > 0.98


def test_larger_weights_are_darker():
    picture = heatmap([[0.0, 0.2, 0.4, 0.6, 0.8, 1.0]], ["eats"])
    sums = [sum(rgb(picture, 0, column)) for column in range(6)]
    assert sums == sorted(sums, reverse=True) and len(set(sums)) == 6


@pytest.mark.parametrize("how", ["mask", "minus infinity"])
def test_masked_cells_are_empty(how):
    mask = causal_mask(3)
    scores, mask = (SCORES, mask) if how == "mask" else (SCORES.masked_fill(~mask, -torch.inf), None)
    picture = heatmap(scores, TOKENS, kind="scores", mask=mask)
    assert set(cells(picture)[1]) == {(0, 0), (1, 0), (1, 1), (2, 0), (2, 1), (2, 2)}
    assert picture.figure.axes[0].patch.get_hatch()


def test_numbers_are_readable_on_their_cells():
    _, texts = cells(heatmap([[0.98, 0.02]], ["eats"]))
    assert [texts[0, 0].get_color(), texts[0, 1].get_color()] == ["white", "black"]


def test_numbers_only_where_they_fit():
    assert cells(heatmap(torch.eye(8)))[1] and not cells(heatmap(torch.eye(9)))[1]


@pytest.mark.parametrize(
    ("chosen", "frame"), [(1, (0, 1, 3, 1)), ((1, 2), (2, 1, 1, 1)), ((None, 2), (2, 0, 1, 2))]
)
def test_the_frame_is_around_what_was_chosen(chosen, frame):
    picture = heatmap(SCORES[:2], TOKENS[:2], TOKENS, kind="scores", chosen=chosen)
    outline = picture.figure.axes[0].patches[-1]
    assert (*outline.get_xy(), outline.get_width(), outline.get_height()) == frame


def test_each_head_has_its_colour_and_its_words_say_where_it_looks():
    example = golden_example()
    weights = example.attention().trace(example.x).weights
    picture = head_heatmaps(weights, example.tokens, example.head_names, chosen=1)
    assert "head 1: who acts, framed eats → cat (0.92)" in picture.words
    darkest = {tuple(rgb(picture, 1, int(weights[head, 1].argmax()), head)) for head in range(3)}
    assert len(darkest) == 3
    titles = [ax.get_title(loc="left") for ax in picture.figure.axes]
    assert titles == ["head 1: who acts", "head 2: what is eaten", "head 3: previous word"]


def test_a_token_between_dollars_is_no_formula():
    assert drawable(["$x$"]) == [r"\$x\$"]


def test_words_find_the_largest_number_that_may_be_seen():
    picture = heatmap(SCORES, TOKENS, kind="scores", mask=[[False, True, True]])
    assert picture.words == "Heatmap of scores, 3 × 3, and its largest number: cat → fish (2)."


def test_query_and_key_have_their_colours():
    ax = heatmap(SCORES, TOKENS, kind="scores").figure.axes[0]
    assert (ax.get_ylabel(), ax.yaxis.label.get_color()) == ("query", COLOURS["query"])
    assert (ax.get_xlabel(), ax.xaxis.label.get_color()) == ("key", COLOURS["key"])


def test_a_picture_is_sharp_transparent_and_the_same_each_time():
    first, second = (heatmap(SCORES, TOKENS, kind="scores", chosen=1) for _ in range(2))
    assert first.png() == second.png() == first.png()
    data, metadata = first._repr_mimebundle_()
    image, shown = Image.open(io.BytesIO(base64.b64decode(data["image/png"]))), metadata["image/png"]
    assert image.size == (2 * shown["width"], 2 * shown["height"]) and image.mode == "RGBA"
    assert data["text/plain"] == repr(first)


def test_the_longest_sentence_and_all_heads_stay_within_the_column():
    tokens = [f"word{place}" for place in range(16)]
    _, metadata = head_heatmaps(torch.rand(4, 16, 16), tokens, ["previous word"] * 4)._repr_mimebundle_()
    assert metadata["image/png"]["width"] <= 900 and metadata["image/png"]["height"] <= 340


def test_the_titles_of_a_second_line_leave_the_maps_above_free():
    boxes = [ax.get_tightbbox() for ax in head_heatmaps(torch.rand(8, 3, 3), TOKENS).figure.axes]
    assert not any(one.overlaps(other) for one, other in itertools.combinations(boxes, 2))


def test_sizes_that_do_not_fit_are_named():
    with pytest.raises(ValueError, match="rows must hold 3 labels, one for each; got 2"):
        heatmap(SCORES, ["cat", "eats"], kind="scores")
    with pytest.raises(ValueError, match=r"\(h, n_q, n_k\), got \(3, 3\)"):
        head_heatmaps(SCORES)


@pytest.mark.parametrize("page", range(1, 10))
def test_the_map_lights_the_step_of_the_page(page):
    picture = pipeline_map(page)
    ax = picture.figure.axes[0]
    lit = [place for place, patch in enumerate(ax.patches, start=1) if patch.get_linewidth() > 2]
    assert lit == [page]
    assert f"Page {page:02}" in picture.words

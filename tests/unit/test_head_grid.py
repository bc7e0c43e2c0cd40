"""HeadGrid: what the picture of all heads shows."""

import matplotlib
import matplotlib.text
import numpy as np
import pytest
import torch
from sample_panel import pixels, weights_of

from mha_helpers import style
from mha_helpers.head_grid import HeadGrid
from mha_helpers.panel import Panel
from mha_helpers.placement import POINTS, Placement, fitting, text_width
from mha_helpers.renderer import encode_png

pytestmark = pytest.mark.usefixtures("warnings_are_errors")


@pytest.mark.parametrize("channels", [3, 4])
def test_png_keeps_every_pixel(channels):
    image = np.random.default_rng(0).integers(0, 256, (5, 7, channels), dtype=np.uint8)
    assert (pixels(encode_png(image))[..., :3] == image[..., :3]).all()


def drawn(**state):
    made = Panel({}, lambda: state, HeadGrid(), lambda s: "")
    png = made.png()
    layouts = made._renderer._drawn
    figure = next(iter(layouts.values()))[0].figure if layouts else None
    return pixels(png), figure


@pytest.mark.parametrize(("heads", "n"), [(1, 4), (2, 16), (9, 8), (2, 100)])
def test_every_cell_has_the_colour_of_its_weight_and_masked_cells_are_hatched(heads, n):
    """At every size: row 0 on top, column 0 on the left."""
    weights = torch.zeros(heads, n, n)
    weights[:, 0, n - 1] = 1.0  # the upper right corner
    mask = torch.ones(n, n, dtype=torch.bool)
    mask[n // 2 :, : n // 2] = False  # the lower left quarter
    image, _ = drawn(weights=weights, mask=mask)
    labels = tuple(str(i + 1) for i in range(n))
    place = Placement(heads, n, n, labels, labels)
    cmap = matplotlib.colormaps[style.WEIGHT_CMAP]
    light, dark = (np.array(cmap(value)[:3]) * 255 for value in (0.0, 1.0))
    for head in range(heads):
        left, top = place.left(head), place.top(head)
        near = max(2, round(place.cell * 0.2))  # off the middle, where the number stands

        def at(row, column, left=left, top=top, near=near):
            return image[
                round(top + row * place.cell_height) + (near if place.cell > 6 else round(place.cell / 2)),
                round(left + column * place.cell_width) + (near if place.cell > 6 else round(place.cell / 2)),
            ]

        assert np.abs(at(0, n - 1) - dark).max() <= 2
        assert np.abs(at(n - 1, n - 1) - light).max() <= 2
        assert np.abs(at(0, 0) - light).max() <= 2
        half = round(place.side_height / 2)
        quarter = image[top + half + 4 : top + 2 * half - 4, left + 4 : left + half - 4].reshape(-1, 3)
        assert np.ptp(quarter, axis=1).max() <= 8, "masked cells must be grey"
        assert len(np.unique(quarter[:, 0])) > 1, "masked cells must be hatched"


@pytest.mark.parametrize(
    ("heads", "across"), [(1, 1), (3, 3), (4, 4), (8, 4), (9, 6), (18, 6), (19, 8), (24, 8)]
)
def test_heads_stand_in_rows_of_at_most_eight(heads, across):
    place = Placement(heads, 2, 2, ("a", "b"), ("a", "b"))
    assert place.across == across and place.down == -(-heads // across)


@pytest.mark.parametrize(("heads", "n", "points"), [(1, 8, 10), (4, 24, 10), (2, 48, 8), (12, 20, 8)])
def test_letters_are_smaller_only_where_labels_stand_close(heads, n, points):
    """In the second, every other token has its label, which leaves room for the large letters."""
    labels = tuple(str(i + 1) for i in range(n))
    assert Placement(heads, n, n, labels, labels).points == points


def test_numbers_are_written_into_cells_that_hold_them():
    few = HeadGrid()
    artists = few.draw({"weights": weights_of(4)})[1]
    assert all(head["cells"].decimals == 2 for head in artists["heads"])
    many = few.draw({"weights": weights_of(40)})[1]
    assert all(head["cells"].decimals is None for head in many["heads"])


def test_one_colour_bar_and_one_fixed_scale_for_all_heads():
    for heads, n in ((3, 4), (12, 4)):
        figure, artists = HeadGrid().draw({"weights": weights_of(n, heads)})
        limits = {(head["cells"].norm.vmin, head["cells"].norm.vmax) for head in artists["heads"]}
        assert limits == {(0.0, 1.0)}
        assert [axes.get_ylabel() for axes in figure.axes].count("weight") == 1


def test_scores_have_zero_in_the_middle_and_a_round_scale():
    grid = HeadGrid("scores", kind="scores")
    state = {"scores": torch.tensor([[3.0, -1.0], [0.0, -float("inf")]])}
    artists = grid.draw(state)[1]
    norm = artists["heads"][0]["cells"].norm
    assert (norm.vmin, norm.vmax) == (-5.0, 5.0)
    assert grid.layout(state) != grid.layout({"scores": state["scores"] * 2})
    with pytest.raises(ValueError, match="kind must be one of"):
        HeadGrid(kind="colours")


def test_no_label_is_cut_or_drawn_as_a_box():
    tokens = ["猫", "🐟", "a$b$c", "x_{1}^2", "internationalisation", "\x07bell", "\\frac"]
    image, figure = drawn(weights=weights_of(7, heads=6), tokens=tokens)
    height, width = image.shape[:2]
    renderer = figure.canvas.get_renderer()
    for text in figure.findobj(lambda artist: hasattr(artist, "get_text") and artist.get_text()):
        if text.get_visible():
            box = text.get_window_extent(renderer)
            assert box.x0 >= -1 and box.y0 >= -1 and box.x1 <= width + 1 and box.y1 <= height + 1, text
    words = {text.get_text() for text in figure.texts}
    assert {"query", "key", "head 6"} <= words
    assert "🐟" not in "".join(words)
    assert "🐟" in HeadGrid().legend({"weights": weights_of(7), "tokens": tokens})


def test_a_head_that_is_off_is_faded():
    on, _ = drawn(weights=weights_of(3), heads_on=[True, True])
    off, _ = drawn(weights=weights_of(3), heads_on=[True, False])
    assert (on != off).any() and off.mean() > on.mean()


def test_half_precision_and_one_head_without_an_axis_can_be_drawn():
    for dtype in (torch.bfloat16, torch.float16, torch.float64):
        drawn(weights=torch.eye(3, dtype=dtype))
    drawn(weights=torch.eye(3, requires_grad=True))


def test_other_names_of_the_heads_are_drawn_anew():
    state = {"weights": weights_of(3), "tokens": ["a", "b", "c"], "head_names": ["who acts", "what"]}
    others = {**state, "head_names": ["who acts", "where"]}
    assert HeadGrid().layout(state) == HeadGrid().layout(dict(state)) != HeadGrid().layout(others)


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        ({"tokens": list("abcde")}, r"^tokens must hold 3, one for each row of weights; got 5\.$"),
        ({"tokens": ["a", "b"]}, "tokens must hold 3, .*; got 2"),
        (
            {"row_labels": list("abc"), "column_labels": ["a"]},
            "column_labels must hold 3, one for each column of weights; got 1",
        ),
        ({"head_names": ["one"]}, r"^head_names must hold 2, one for each head; got 1\.$"),
        ({"heads_on": [True]}, "heads_on must hold 2, one for each head; got 1"),
        ({"weights": torch.ones(2, 2, 3, 3)}, r"^weights \(2, 2, 3, 3\) holds more .* Try weights\[0\]\.$"),
        ({"mask": torch.ones(2, 1, 3, 3, dtype=torch.bool)}, r"^mask \(2, 1, 3, 3\) holds more"),
    ],
)
def test_what_does_not_belong_together_is_not_drawn(wrong, words):
    state = {"weights": weights_of(3), **wrong}
    with pytest.raises(ValueError, match=words):
        HeadGrid().draw(state)


def test_one_sentence_of_a_batch_can_be_drawn():
    drawn(weights=weights_of(3).tolist(), tokens=list("abc"))
    drawn(weights=weights_of(3)[None], mask=torch.ones(1, 1, 1, 3, dtype=torch.bool), tokens=list("abc"))


@pytest.mark.parametrize("text", ["internationalisation", "head 10", "猫吃鱼"])
def test_a_title_is_cut_to_the_longest_that_fits(text):
    lengths = set()
    for width in range(0, 200, 3):
        cut = fitting(text, width)
        lengths.add(len(cut))
        if len(cut) > 1:
            assert text_width((cut,), POINTS) <= width
        if cut != text:
            longer = style.short(text, len(cut) + 1)
            assert text_width((longer,), POINTS) > width
            assert cut == (text[: len(cut) - 1] + "…" if len(cut) > 1 else text[:1])
    assert lengths == set(range(1, len(text) + 1))

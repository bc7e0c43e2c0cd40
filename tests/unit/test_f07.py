"""The stack of α·v and the hull: what is drawn and said is what the numbers say."""

import math

import matplotlib
import pytest
import torch
from matplotlib.colors import to_hex

from mha_helpers import style
from mha_helpers.figures.f07_weighted_values import Stack, value_hull, value_stack
from mha_helpers.figures.hull import arrow, hull_of, outside_by
from mha_helpers.figures.plane import Plane, pixel_figure

TOKENS = ["cat", "eats", "fish"]
V = torch.tensor([[2.0, 2.0], [0.0, -1.0], [-1.0, 1.0]])
WEIGHTS = torch.tensor([0.9, 0.06, 0.04])


def test_the_stack_says_every_share_and_the_sum():
    assert value_stack(WEIGHTS, V, TOKENS, "eats").alt == (
        "Output of eats: 0.90 of cat (2, 2) gives (1.8, 1.8); 0.06 of eats (0, −1) gives (0, −0.06);"
        " 0.04 of fish (−1, 1) gives (−0.04, 0.04). Together (1.76, 1.78)."
    )


@pytest.mark.parametrize("d_v", [1, 2, 3])
def test_each_bar_begins_where_the_one_above_ended(d_v):
    v = torch.tensor([[2.0, -1.0, 0.0], [-3.0, 2.0, 1.0], [1.0, 1.0, -2.0]])[:, :d_v]
    weights = torch.tensor([0.5, 0.3, 0.2])
    stack = Stack(3, d_v, (-2.0, 2.0))
    _, ax = pixel_figure(stack.width, stack.height)
    artists = stack.add(ax, 0, 0)
    stack.place(artists, TOKENS, weights, v)
    bars = [path.vertices for path in artists[1].get_paths()]
    assert len(bars) == d_v * 4
    shares = weights[:, None] * v
    for feature in range(d_v):
        *parts, total = bars[4 * feature : 4 * feature + 4]
        zero = stack._x(feature, 0.0)
        pixels_per_unit = stack._x(feature, 1.0) - zero
        begin = 0.0
        for bar, share in zip(parts, shares[:, feature].tolist(), strict=True):
            assert bar[0, 0] == pytest.approx(zero + begin * pixels_per_unit)
            assert bar[1, 0] == pytest.approx(zero + (begin + share) * pixels_per_unit)
            begin += share
        assert total[0, 0] == pytest.approx(zero)
        assert total[1, 0] == pytest.approx(zero + begin * pixels_per_unit)


def placed(weights, v):
    """Return the artists of a stack: cells, bars, words."""
    stack = Stack(len(weights), v.shape[1], (-2.0, 2.0))
    _, ax = pixel_figure(stack.width, stack.height)
    artists = stack.add(ax, 0, 0)
    stack.place(artists, [str(row) for row in range(len(weights))], weights, v)
    return artists


def test_no_shade_means_the_number_of_a_row():
    _, bars, _ = placed(WEIGHTS, V)
    colours = [to_hex(face).upper() for face in bars.get_facecolor()]
    assert colours == [*[style.COLOURS["value"]] * 3, style.COLOURS["output"]] * 2


def test_the_cell_of_a_weight_has_the_colour_of_a_heatmap_and_readable_ink():
    weights = torch.linspace(0, 1.5, 61)  # the explorer lets weights sum to 1.5
    cells, _, words = placed(weights, torch.zeros(61, 1))
    for row, weight in enumerate(weights.tolist()):
        face = to_hex(cells.get_facecolor()[3 * row])
        assert face == to_hex(matplotlib.colormaps[style.WEIGHT_CMAP](weight))
        assert style.contrast(face, to_hex(words.get_facecolor()[3 * row])) > 4
        for other in (1, 2):  # value, α·v
            assert to_hex(words.get_facecolor()[3 * row + other]) == style.COLOURS["ink"]
    names = words.get_facecolor()[len(cells.get_paths()) :]
    assert len(names) == 63 and {to_hex(ink) for ink in names} == {style.COLOURS["ink"]}


@pytest.mark.parametrize("v", [V, V[:, :1], torch.cat([V, -V[:, :1]], dim=1), 100 * V, torch.zeros(3, 2)])
def test_nothing_of_the_stack_is_cut(v):
    figure = value_stack(WEIGHTS, v, TOKENS, "eats").figure
    box, (width, height) = figure.get_tightbbox(), figure.get_size_inches()
    assert box.x0 >= 0 and box.y0 >= 0 and box.x1 <= width and box.y1 <= height


def test_a_long_name_has_its_place_in_the_stack():
    (ax,) = value_stack(WEIGHTS, V, ["grandmother", "W" * 20, "$5"], "eats").figure.axes
    letters = [path.get_extents() for collection in ax.collections for path in collection.get_paths()]
    assert len(letters) > 20 and min(letter.x0 for letter in letters) >= 4


@pytest.mark.parametrize(
    "weights, v, words",
    [
        (WEIGHTS[:2], V, r"weights \(2,\), v \(3, 2\) and 3 tokens"),
        (WEIGHTS[None], V, r"weights \(1, 3\)"),
        (WEIGHTS, torch.zeros(3, 4), r"d_v must be 1 to 3 .* \(3, 4\)"),
    ],
)
def test_a_stack_that_does_not_fit_is_refused(weights, v, words):
    with pytest.raises(ValueError, match=words):
        value_stack(weights, v, TOKENS, "eats")


def test_the_hull_leaves_out_what_lies_inside_and_on_edges():
    points = torch.tensor([[0.0, 0], [2, 0], [1, 0], [1, 1], [2, 2], [0, 2], [0, 0]])
    assert hull_of(points) == [(0, 0), (2, 0), (2, 2), (0, 2)]
    assert hull_of(torch.tensor([[1.0, 2], [1, 2]])) == [(1, 2)]
    assert sorted(hull_of(torch.tensor([[0.0, 0], [1, 1], [2, 2]]))) == [(0, 0), (2, 2)]


def test_every_convex_combination_is_inside():
    torch.manual_seed(0)
    for n in range(1, 8):
        v = torch.randn(n, 2)
        hull = hull_of(v)
        weights = torch.softmax(3 * torch.randn(200, n), dim=-1)
        assert all(outside_by(hull, point) == 0 for point in (weights @ v).tolist())
        assert all(outside_by(hull, point) == 0 for point in v.tolist())


@pytest.mark.parametrize(
    "point, distance",
    [
        ((1, -0.5), 0.5),
        ((-3, -4), 5),
        ((2, 2), math.sqrt(2)),
        ((0.5, 0.5), 0),
        ((1, 1), 0),
        ((1, 1.01), 0.00707),
    ],
)
def test_how_far_outside(point, distance):
    assert outside_by([(0, 0), (2, 0), (0, 2)], point) == pytest.approx(distance, abs=1e-4)


def test_a_hull_of_one_or_two_points_still_measures():
    assert outside_by([(1, 1)], (4, 5)) == 5
    assert outside_by([(0, 0), (2, 0)], (1, 0)) == 0
    assert outside_by([(0, 0), (2, 0)], (1, 3)) == 3


def test_the_hull_says_who_is_inside():
    picture = value_hull(V, TOKENS, torch.tensor([[1.0, 1.0], [3.0, 2.0]]), ["p", "q"])
    assert "cat (2, 2), eats (0, −1), fish (−1, 1)" in picture.alt
    assert picture.alt.endswith("Outputs: p (1, 1) inside; q (3, 2) outside by 1.00.")


def test_points_outputs_and_arrows_stand_at_their_numbers():
    plane = Plane(V)
    _, ax = pixel_figure(412, 412)
    artists = plane.add(ax, 6, 6)
    shares = WEIGHTS[:, None] * V
    output = shares.sum(dim=0)
    plane.place(artists, TOKENS, V, output[None], ["output"], shares)
    area, path, points, found, *_ = artists
    pixel = [plane._pixel(*value) for value in V.tolist()]
    assert points.get_xydata().tolist() == [list(place) for place in pixel]
    assert {tuple(corner) for corner in area.get_paths()[0].vertices.tolist()} == set(pixel)
    assert found.get_xydata()[0] == pytest.approx(plane._pixel(*output.tolist()))
    tips = [outline.vertices[3] for outline in path.get_paths()]
    for tip, end in zip(tips, shares.cumsum(dim=0).tolist(), strict=True):
        assert tip == pytest.approx(plane._pixel(*end), abs=1e-3)
    (x0, y0), (x1, y1) = plane._pixel(0, 0), plane._pixel(1, 1)
    assert x1 > x0 and y1 < y0  # right and up


@pytest.mark.parametrize(
    "outputs",
    [
        [(1.35, 1.68), (1.78, 1.87), (0.87, 1.3)],  # softmax
        [(1.08, 2.19), (1.39, 2.06), (0.94, 1.78)],  # sigmoid
        [(2.4, 1.9)],  # near the right edge, beside a value
        [(-1.0, 1.05), (0.0, -1.05)],
    ],
)
def test_names_overlap_neither_each_other_nor_the_edge(outputs):
    plane = Plane(V)
    plane.left = plane.top = 0
    marks = [*zip(TOKENS, map(tuple, V.tolist()), strict=True)]
    marks += [*zip(TOKENS, outputs, strict=False)]
    boxes = [(x, y, 8.2 * len(text) / 2) for text, x, y, _ in plane._beside(marks)]
    for i, (x, y, half) in enumerate(boxes):
        assert x - half > 0 and x + half < 400
        for other_x, other_y, other_half in boxes[:i]:
            assert abs(x - other_x) >= half + other_half or abs(y - other_y) >= 19
        for _, where in marks:
            mark_x, mark_y = plane._pixel(*where)
            assert abs(x - mark_x) >= half or abs(y - mark_y) >= 8


@pytest.mark.parametrize("v", [V, 5 * V, V + 0.3, V - 0.4, 2.3 * V, 600 * V, torch.zeros(1, 2)])
def test_no_line_crosses_a_number_of_the_grid_or_the_name_of_an_axis(v):
    plane = Plane(v)
    _, ax = pixel_figure(412, 412)
    plane.add(ax, 6, 6)
    ax.figure.canvas.draw()
    boxes = [text.get_window_extent() for text in ax.texts]
    for text, box in zip(ax.texts, boxes, strict=True):
        assert box.x0 >= 0 and box.x1 <= 412
        assert style.contrast(to_hex(text.get_color()), "#FFFFFF") > 4.5
        for line in ax.lines:
            assert not line.get_window_extent().overlaps(box), text.get_text()
        others = [other for other in boxes if other is not box]
        assert not any(other.overlaps(box) for other in others), text.get_text()
    points = [plane._pixel(*value) for value in v.tolist()]
    assert all(6 + 28 < x < 406 and 6 + 26 < y < 406 - 40 for x, y in points)  # none on the words
    assert {"0", "feature 0 →", "↑ feature 1"} <= {text.get_text() for text in ax.texts}


def test_the_shares_end_to_end_are_of_one_colour_parted_by_an_edge():
    plane = Plane(V)
    _, ax = pixel_figure(412, 412)
    artists = plane.add(ax, 6, 6)
    shares = WEIGHTS[:, None] * V
    plane.place(artists, TOKENS, V, shares.sum(dim=0)[None], ["output"], shares)
    path = artists[1]
    assert len(path.get_paths()) == 3
    assert {to_hex(face).upper() for face in path.get_facecolor()} == {style.COLOURS["value"]}
    assert {to_hex(edge) for edge in path.get_edgecolor()} == {style.COLOURS["ink"]}


def test_equal_values_share_one_name():
    v = torch.tensor([[0.0, 0.0], [1.0, 0.0], [0.0, 0.0]])
    plane = Plane(v)
    _, ax = pixel_figure(412, 412)
    artists = plane.add(ax, 6, 6)
    plane.place(artists, ["the", "cat", "on"], v, v[:1], ["output"])
    assert len(artists[5].get_paths()) == 2  # "the, on" and "cat"


def test_an_arrow_of_no_length_is_a_point():
    assert set(arrow((5, 5), (5, 5))) == {(5, 5)}


@pytest.mark.parametrize(
    "v, outputs, names, words",
    [
        (torch.zeros(3, 3), torch.zeros(1, 2), ["p"], r"v must be \(n_k, 2\).*\(3, 3\)"),
        (V[:2], torch.zeros(1, 2), ["p"], r"3 tokens; got \(2, 2\)"),
        (V, torch.zeros(2, 2), ["p"], r"1 names; got \(2, 2\)"),
    ],
)
def test_a_hull_that_does_not_fit_is_refused(v, outputs, names, words):
    with pytest.raises(ValueError, match=words):
        value_hull(v, TOKENS, outputs, names)

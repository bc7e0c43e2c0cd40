"""The still pictures of pages 07, 08 and 10, read back: numbers, points, names and frames are where they belong."""

import torch
from matplotlib.colors import to_hex

from mha_course.d10_trained_heads import circuit_maps
from mha_course.p07_weighted_values import value_hull
from mha_course.p08_splitting_heads import heads_cut
from mha_helpers.pipeline import pipeline_map
from mha_helpers.style import COLOURS, HEAD_COLOURS, vector

TOKENS = ["the", "old", "cat", "eats"]


def test_numbers_and_frames_of_page_08_stand_where_view_and_transpose_put_them():
    q = torch.arange(24.0).view(4, 6)
    ax = heads_cut(q, TOKENS, num_heads=3).figure.axes[0]
    places = ((*reversed(text.get_position()), text.get_text()) for text in ax.texts)
    numbers = sorted(place for place in places if place[-1].isdigit())
    viewed = q.view(4, 3, 2)
    for left, right, expected in ((0, 470, q), (470, 744, viewed), (744, 900, viewed.transpose(0, 1))):
        shown = [int(number) for _, x, number in numbers if left < x < right]
        assert shown == expected.flatten().int().tolist()
    for box in ax.patches:
        left, bottom, right, top = box.get_window_extent().transformed(ax.transData.inverted()).extents
        low, high = sorted((bottom, top))
        inside = [int(number) for y, x, number in numbers if left < x < right and low < y < high]
        lit = to_hex(box.get_edgecolor()).upper() == COLOURS["lit"]
        assert len(inside) == 1 and lit == (inside[0] in range(6, 12))  # the numbers of “old”


def test_points_of_page_07_are_the_values_and_outputs_and_its_axes_have_their_names():
    v = torch.tensor([[2.0, 2.0], [0.0, -1.0], [-1.0, 1.0]])
    outputs, wanted = torch.tensor([[1.0, 1.0], [0.5, 0.0], [0.0, 0.5]]), torch.tensor([[2.0, -1.0]])
    names = ("acts", "thing")
    ax = value_hull(v, outputs[:2], outputs, TOKENS[:3], wanted, names).figure.axes[-1]
    assert (ax.get_xlabel(), ax.get_ylabel()) == names
    _, of_values, of_outputs, of_wanted = ax.collections
    shown = ((of_values, v, "value"), (of_outputs, outputs, "output"), (of_wanted, wanted, "label"))
    for points, expected, role in shown:
        assert points.get_offsets().tolist() == expected.tolist()
        assert to_hex(points.get_facecolor()[0]).upper() == COLOURS[role]
    labels = {text.get_text(): list(text.xy) for text in ax.texts if text.get_text()}
    for role, points in (("value", v), ("output", outputs)):
        for token, point in zip(TOKENS, points.tolist(), strict=False):
            assert labels[f"{role} of {token}"] == point
    assert labels[vector(wanted[0])] == wanted[0].tolist()


def test_maps_of_trained_heads_have_the_colours_of_their_heads_and_frames_at_query_and_key():
    even, framed = torch.full((3, 3), 1 / 3), torch.zeros(3, 3, dtype=torch.bool)
    framed[2, 0] = True
    axes = circuit_maps(even, even, "KQW", [framed, framed]).figure.axes[:2]
    titles = ["head 0.2: the previous letter", "head 1.0: after an earlier copy"]
    for ax, title, colour in zip(axes, titles, (HEAD_COLOURS[2], HEAD_COLOURS[4]), strict=True):
        assert [frame.get_xy() for frame in ax.patches] == [(0, 2)]  # column, row
        assert ax.get_title("left") == title
        assert to_hex(ax.collections[0].cmap(1.0)).upper() == colour
        assert ax.collections[0].get_clim() == (0, 1)


def test_the_map_of_the_steps_lights_the_step_of_its_page():
    ax = pipeline_map(3).figure.axes[0]
    boxes = [patch for patch in ax.patches if to_hex(patch.get_edgecolor()).upper() == COLOURS["lit"]]
    names = {text.get_text(): text.get_position() for text in ax.texts}
    assert len(boxes) == 1
    left, _, right, _ = boxes[0].get_window_extent().transformed(ax.transData.inverted()).extents
    assert left < names["03"][0] < right and left < names["scores"][0] < right
    arrows = [text for text in ax.texts if getattr(text, "arrow_patch", None)]
    assert len(arrows) == 8 and all(arrow.xy[0] > arrow.xyann[0] for arrow in arrows)

"""The still pictures of pages 07 and 08, read back: points and numbers are where they belong."""

import torch
from matplotlib.colors import to_hex

from mha_course.p07_weighted_values import value_hull
from mha_course.p08_splitting_heads import heads_cut
from mha_helpers.style import COLOURS, vector

TOKENS = ["the", "old", "cat", "eats"]


def test_numbers_of_page_08_stand_where_view_and_transpose_put_them():
    q = torch.arange(24.0).view(4, 6)
    ax = heads_cut(q, TOKENS, num_heads=3).figure.axes[0]
    places = ((*reversed(text.get_position()), text.get_text()) for text in ax.texts)
    numbers = sorted(place for place in places if place[-1].isdigit())
    viewed = q.view(4, 3, 2)
    for left, right, expected in ((0, 470, q), (470, 744, viewed), (744, 900, viewed.transpose(0, 1))):
        shown = [int(number) for _, x, number in numbers if left < x < right]
        assert shown == expected.flatten().int().tolist()


def test_points_of_page_07_are_the_values_and_outputs():
    v = torch.tensor([[2.0, 2.0], [0.0, -1.0], [-1.0, 1.0]])
    outputs, wanted = torch.tensor([[1.0, 1.0], [0.5, 0.0], [0.0, 0.5]]), torch.tensor([[2.0, -1.0]])
    ax = value_hull(v, outputs[:2], outputs, TOKENS[:3], wanted, ("acts", "thing")).figure.axes[-1]
    _, of_values, of_outputs, of_wanted = ax.collections
    shown = ((of_values, v, "value"), (of_outputs, outputs, "output"), (of_wanted, wanted, "label"))
    for points, expected, role in shown:
        assert points.get_offsets().tolist() == expected.tolist()
        assert to_hex(points.get_facecolor()[0]).upper() == COLOURS[role]
    labels = {text.get_text(): list(text.xy) for text in ax.texts if text.get_text()}
    for token, point in zip(TOKENS, v.tolist(), strict=False):
        assert labels[f"value of {token}"] == point
    assert labels[vector(wanted[0])] == wanted[0].tolist()

"""Where everything of a live picture stands: what holds of every box, beyond the drawings that are kept."""

import itertools

import pytest

from mha_helpers.layout import GAP, LETTER, lay_out, lay_out_heads, too_long

BOXES = [(0, 0, 440, 334), (0, 0, 860, 334), (400, 40, 280, 310), (10, 20, 420, 345)]
NAMES = {"letters": [*"abcd"], "sixteen": [f"word{i}" for i in range(16)], "long": ["x" * 13] * 12}


@pytest.mark.parametrize("names", NAMES.values(), ids=NAMES)
@pytest.mark.parametrize("box", BOXES)
@pytest.mark.parametrize("title", [0, 12])
def test_nothing_leaves_the_box_and_no_name_lies_on_another(box, names, title):
    layout = lay_out(box, names, names, (20, 26), title, across=900)
    left, top, width, height = box
    x, y, wide, tall = layout.area
    assert left <= x <= x + wide <= left + width + 0.01 and top <= y <= y + tall <= top + height
    longest = LETTER * layout.names * max(map(len, names))
    (beside, _, size), (_, over, _) = layout.axes
    assert left <= beside - size * 0.75 and beside < x - 6 - longest  # axis, then names, then cells
    heights = [size * 0.75 for *_, size in (layout.title, layout.axes[1])]  # of a capital
    assert over - heights[1] >= (layout.title[1] if title else top)
    assert over <= y - 6 - (longest if layout.turned else layout.names * 0.75) + 1
    assert top + height >= layout.readout[1] > y + tall + layout.readout[2] * 0.75 - 1
    room = layout.cell if layout.turned else layout.cell / (8 / 14 * max(map(len, names)))
    assert layout.names <= max(room, 10) and layout.cell >= 8  # so that names are apart


def test_a_single_letter_is_never_too_long():
    assert not too_long(["a", "b"], 8, 2) and not too_long([], 8, 2)
    assert too_long(["a", "ab"], 8, 15.9) and not too_long(["a", "ab"], 8, 16)


@pytest.mark.parametrize("small", range(17))
def test_small_heatmaps_are_apart_beside_the_large_one_and_as_large_as_fits(small):
    (x, y, width, height), boxes = lay_out_heads((5, 10, 860, 334), small)
    assert (y, height) == (10, 334) and len(boxes) == small
    for left, top, wide, tall in boxes:
        assert left >= x + width + 20 and left + wide <= 5 + 860 - 5 + 0.01
        assert tall == pytest.approx(wide + 40) and top >= 10 and top + tall <= 10 + 334 + 0.01
    for (x1, y1, wide, tall), (x2, y2, *_) in itertools.combinations(boxes, 2):
        assert x2 - x1 >= wide + GAP - 0.01 or y2 - y1 >= tall - 0.01
    sizes = {1: 294, 2: 427 / 2, 4: 334 / 2 - 40, 8: 399 / 4, 16: 371 / 6}
    assert small not in sizes or boxes[0][2] == pytest.approx(sizes[small], abs=0.01)

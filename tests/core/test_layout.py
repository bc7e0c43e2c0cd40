"""Where everything of a live picture stands: numbers worked out by hand, and what holds of every box."""

import itertools

import pytest

from mha_helpers.layout import GAP, LETTER, lay_out, lay_out_bars, lay_out_heads, too_long

LETTERS, WORDS = [*"abcd"], ["cat", "eats", "fish"]
BOXES = [(0, 0, 440, 334), (0, 0, 860, 334), (400, 40, 280, 310), (10, 20, 420, 345)]
NAMES = {
    "letters": LETTERS,
    "words": WORDS,
    "sixteen": [f"word{i}" for i in range(16)],
    "long": ["x" * 13] * 12,
}


def near(*numbers):
    return pytest.approx(numbers if len(numbers) > 1 else numbers[0], abs=0.01)


@pytest.mark.parametrize(("box", "names", "options", "cells", "turned"), [
    # 24 and 8.5 a letter on the left, 38 above and 24 below: the height decides, and cells are centred
    ((0, 0, 400, 262), LETTERS, {}, (116.25, 38, 200, 200), False),
    ((10, 20, 400, 262), LETTERS, {}, (126.25, 58, 200, 200), False),
    ((0, 0, 400, 282), LETTERS, {"title": 7}, (116.25, 58, 200, 200), False),  # a title takes 20
    ((0, 0, 232.5, 500), LETTERS, {}, (32.5, 38, 200, 200), False),  # the width decides
    ((0, 0, 108, 500), ["cat", "eat"], {}, (49.5, 38, 58.5, 58.5), False),
    ((0, 0, 90, 500), ["cat", "eat"], {}, (49.5, 48, 40.5, 40.5), True),  # 3 letters of 8 do not fit 20.25
    ((0, 0, 100, 138), LETTERS, {"small": True, "title": 6}, (0, 20, 100, 100), False),
    ((0, 0, 100, 138), ["x" * 13] * 2, {"small": True, "title": 6}, (0, 20, 100, 100), False),
])  # fmt: skip
def test_cells_are_as_large_as_names_and_title_leave_room(box, names, options, cells, turned):
    layout = lay_out(box, names, names, **options)
    assert layout.area == near(*cells) and layout.turned == turned


def test_words_stand_around_the_cells():
    layout = lay_out((0, 0, 400, 282), LETTERS, LETTERS, (20, 26), title=7)
    assert layout.at(1, 2) == near(216.25, 108, 50, 50) and layout.names == 14
    assert layout.row_name(0) == near(110.25, 87.9, 14) and layout.column_name(1) == near(191.25, 52, 14)
    assert layout.title == near(216.25, 14, 15)
    assert layout.axes == (near(93.75, 158, 13), near(216.25, 32, 13))
    assert layout.readout == near(216.25, 276, 15)  # 22 letters of 15 pixels fit the box
    small = lay_out((0, 0, 100, 138), LETTERS, LETTERS, (20, 26), title=20, small=True)
    assert small.title == near(50, 14, 10) and small.readout == near(69.3, 132, 10)  # else it began left of 0
    assert lay_out((0, 0, 90, 500), WORDS, WORDS).column_name(0)[0] == near(58 + 16 / 3 + 3.5)


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


@pytest.mark.parametrize("left", [0, 100, 700])
def test_what_a_cell_says_stays_within_the_drawing(left):
    layout = lay_out((left, 0, 160, 300), NAMES["long"], NAMES["long"], (20, 26), across=860)
    half = 0.63 * layout.readout[2] * (13 + 13 + 20) / 2
    assert half <= layout.readout[0] <= 860 - half and layout.readout[2] == 11


def test_a_single_letter_is_never_too_long():
    assert not too_long(["a", "b"], 8, 2) and not too_long([], 8, 2)
    assert too_long(["a", "ab"], 8, 15.9) and not too_long(["a", "ab"], 8, 16)


@pytest.mark.parametrize("small", range(17))
def test_small_heatmaps_are_apart_beside_the_large_one_and_as_large_as_fits(small):
    (x, y, width, height), boxes = lay_out_heads((5, 10, 860, 334), small)
    assert (y, height) == (10, 334) and len(boxes) == small
    if not small:
        assert x == near(5 + (860 - width) / 2)
    for left, top, wide, tall in boxes:
        assert left >= x + width + 20 and left + wide <= 5 + 860 - 5 + 0.01
        assert tall == near(wide + 40) and top >= 10 and top + tall <= 10 + 334 + 0.01
    for (x1, y1, wide, tall), (x2, y2, *_) in itertools.combinations(boxes, 2):
        assert x2 - x1 >= wide + GAP - 0.01 or y2 - y1 >= tall - 0.01
    sizes = {1: 294, 2: 427 / 2, 4: 334 / 2 - 40, 8: 399 / 4, 16: 371 / 6}
    assert small not in sizes or boxes[0][2] == near(sizes[small])


def test_bars_stand_between_their_names_and_their_numbers():
    letter, zero, places = lay_out_bars((10, 20, 300, 100), [2.0, -1.0, 0.0], ["a", "bb", "c"], (-1, 2))
    unit = (300 - 2 * 0.62 * 14 - 14 - 56) / 3
    start = 10 + 2 * 0.62 * 14 + 8 + unit
    assert letter == 14 and zero == near(start, 18, start, 120)
    bars, names, numbers = zip(*places, strict=True)
    assert bars[0] == near(start, 20, 2 * unit, 24) and bars[1] == near(start - unit, 20 + 100 / 3, unit, 24)
    assert bars[2] == near(start, 20 + 200 / 3, 1, 24)  # a pixel for nothing
    assert names[0] == near(10 + 2 * 0.62 * 14, 36.9) and numbers[0] == near(start + 2 * unit + 6, 36.9)
    assert [number[0] for number in numbers[1:]] == [near(start + 6)] * 2

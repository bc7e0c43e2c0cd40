"""The drawing of an explorer, and where everything stands, beyond what kept drawings show."""

import base64
import io
import itertools
import re

import numpy
import pytest
import torch
from PIL import Image

from mha_helpers.layout import BOLD_LETTER, LETTER, lay_out, too_long
from mha_helpers.style import COLOURS, number
from mha_helpers.svg import Drawing
from mha_helpers.svg_heatmap import MOST_CELLS
from mha_helpers.svg_marks import STYLE
from tests.pages.svg_reader import SeenDrawing, px

WORDS = ["cat", "eats", "fish"]
WEIGHTS = torch.tensor([[0.77, 0.05, 0.19], [0.92, 0.03, 0.05], [0.58, 0.14, 0.28]])

BOXES = [(0, 0, 440, 334), (0, 0, 860, 334), (400, 40, 280, 310), (10, 20, 420, 345)]
NAMES = {"letters": [*"abcd"], "sixteen": [f"word{i}" for i in range(16)], "long": ["x" * 13] * 12}


def drawn(what, *values, size=(400, 300), **options):
    drawing = Drawing(*size, "a picture")
    getattr(drawing, what)((0, 0, *size), *values, **options)
    return SeenDrawing(drawing.svg())


def heatmap(values=WEIGHTS, rows=WORDS, columns=WORDS, **options):
    return drawn("heatmap", values, rows, columns, **options)


def pixels(picture):
    """What the one image of a picture shows: (rows, columns, 4)."""
    (image,) = picture.tree.iter("image")
    return numpy.asarray(Image.open(io.BytesIO(base64.b64decode(image.get("href").split(",")[1]))))


def test_many_cells_become_an_image_that_answers_row_by_row():
    n = 70
    assert n * n > MOST_CELLS
    names = [f"word{i}" for i in range(n)]
    picture = heatmap(torch.eye(n), names, names, chosen=(3, 5))
    assert len(picture.heatmaps[0].cells) == n
    assert (pixels(picture)[:, :, 3] == 255 * numpy.eye(n)).all()
    assert picture.heatmaps[0].cells[3, 3].said == "word3 → word3: 1.00, its most"
    labels = [(text.text, *px(text, "y")) for text in picture.heatmaps[0].texts if text.text in names]
    assert {"word3", "word5"} <= {name for name, _ in labels}  # those of the chosen cell, and some between
    heights = [y for _, y in labels[: len(labels) // 2]]
    assert 8 <= len(heights) <= 35 and min(b - a for a, b in itertools.pairwise(heights)) >= 8
    below = pixels(heatmap(-torch.eye(n), names, names, kind="scores"))[0, 0, :3]
    assert below.tobytes().hex() == COLOURS["negative"][1:].lower()
    nothing = heatmap(torch.eye(n), names, names, mask=torch.zeros(1, n, dtype=torch.bool))
    assert len(nothing.heatmaps[0].hatched) == n * n / 2  # so dense that all of them would be one grey


def test_scores_that_are_all_zero_or_all_forbidden_are_drawn_and_no_cell_is_filled():
    nowhere = torch.zeros(1, 3, dtype=torch.bool)
    for values, mask in ((0 * WEIGHTS, None), (WEIGHTS - torch.inf, None), (WEIGHTS, nowhere)):
        shown = heatmap(values, kind="scores", mask=mask).heatmaps[0].cells.values()
        assert {cell.rect.get("fill-opacity") for cell in shown} == {"0.00"}


def test_the_words_of_a_cell_stay_within_the_drawing_where_the_heatmap_is_at_its_edge():
    for left in (0, 230):
        drawing, names = Drawing(350, 300), ["internationalisation"] * 40
        drawing.heatmap((left, 0, 120, 300), torch.eye(40), names, names)
        letters = max(map(len, re.findall('class="tip">(.*?)<', drawing.svg())))
        size, middle = map(float, re.search("--tip:(.*?)px;--x:(.*?)px", drawing.svg()).groups())
        assert BOLD_LETTER * size * letters / 2 <= min(middle, 350 - middle) + 0.1


def test_every_class_of_a_drawing_has_a_rule():
    classes = {mark.get("class") for mark in heatmap(chosen=(0, 1)).tree.iter() if mark.get("class")}
    assert {"tip", "lights", "rest"} <= classes <= set(re.findall(r"\.(\w+)", STYLE))


def test_bars_stay_in_their_box_and_end_at_their_numbers_where_the_limits_leave_zero_out():
    for values in ([0.9, 1.0], [-0.9, -1.0]):
        picture = drawn("bars", values, ["cat", "a long name…"], "ink", sorted(values))
        for name in (text for text in picture.texts if text.get("text-anchor") == "end"):
            right, size = px(name, "x", "font-size")
            assert right - LETTER * size * len(name.text) >= 0, f"{name.text} begins outside"
        for bar, value in zip(picture.tree.iter("rect"), values, strict=True):
            left, top, width, height = px(bar, "x", "y", "width", "height")
            assert 0 <= left < left + width <= 400
            at_its_end = picture.words_in(left + width, top, left + width + 60, top + height)
            assert at_its_end == [number(value, trim=False)]


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
    assert over - layout.axes[1][2] * 0.75 >= (layout.title[1] if title else top)  # the height of a capital
    assert over <= y - 6 - (longest if layout.turned else layout.names * 0.75) + 1
    assert top + height >= layout.readout[1] > y + tall + layout.readout[2] * 0.75 - 1
    room = layout.high if layout.turned else layout.high / (8 / 14 * max(map(len, names)))
    assert layout.names <= max(room, 10) and layout.high >= 8  # so that names are apart


def test_a_single_letter_is_never_too_long():
    assert not too_long(["a", "b"], 8, 2) and not too_long([], 8, 2)
    assert too_long(["a", "ab"], 8, 15.9) and not too_long(["a", "ab"], 8, 16)

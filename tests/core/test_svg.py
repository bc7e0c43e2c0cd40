"""The drawing of an explorer: what no drawing that is kept shows (test_every_panel.py)."""

import base64
import io
import re
from xml.etree import ElementTree

import numpy
import torch
from PIL import Image

from mha_helpers.style import COLOURS
from mha_helpers.svg import BOLD_LETTER, MOST_CELLS, Drawing
from mha_helpers.svg_marks import STYLE

SVG = "{http://www.w3.org/2000/svg}"
WORDS = ["cat", "eats", "fish"]
WEIGHTS = torch.tensor([[0.77, 0.05, 0.19], [0.92, 0.03, 0.05], [0.58, 0.14, 0.28]])


def drawn(what, *values, size=(400, 300), **options):
    drawing = Drawing(*size, "a picture")
    getattr(drawing, what)((0, 0, *size), *values, **options)
    return ElementTree.fromstring(drawing.svg())


def heatmap(values=WEIGHTS, rows=WORDS, columns=WORDS, **options):
    return drawn("heatmap", values, rows, columns, **options)


def cells(root):
    """The groups that answer the mouse, by what a click on them says; not the words at the sides."""
    groups = [group for group in root.iter(f"{SVG}g") if group.get("data-cell")]
    return {group.get("data-cell"): group for group in groups if group.find(f"{SVG}path") is None}


def pixels(root):
    """What the one image of a picture shows: (rows, columns, 4)."""
    (image,) = root.iter(f"{SVG}image")
    return numpy.asarray(Image.open(io.BytesIO(base64.b64decode(image.get("href").split(",")[1]))))


def test_many_cells_become_an_image_that_answers_row_by_row():
    n = 70
    assert n * n > MOST_CELLS
    names = [f"word{i}" for i in range(n)]
    root = heatmap(torch.eye(n), names, names, chosen=(3, 5))
    assert len(cells(root)) == n
    assert (pixels(root)[:, :, 3] == 255 * numpy.eye(n)).all()
    assert cells(root)["0,3,3"].find(f"{SVG}text").text == "word3 → word3: 1.00, its most"
    labels = [text.text for text in root.iter(f"{SVG}text") if text.text in names]
    assert labels == ["word3", "word5"]  # of rows and columns so small: those of the chosen cell
    below = pixels(heatmap(-torch.eye(n), names, names, kind="scores"))[0, 0, :3]
    assert below.tobytes().hex() == COLOURS["negative"][1:].lower()
    nothing = heatmap(torch.eye(n), names, names, mask=torch.zeros(1, n, dtype=torch.bool))
    hatching = [path.get("d") for path in nothing.iter(f"{SVG}path")][-1]
    assert hatching.count("M") == n * n / 2  # so dense that all of them would be one grey


def test_scores_that_are_all_zero_or_all_forbidden_are_drawn_and_no_cell_is_filled():
    nowhere = torch.zeros(1, 3, dtype=torch.bool)
    for values, mask in ((0 * WEIGHTS, None), (WEIGHTS - torch.inf, None), (WEIGHTS, nowhere)):
        shown = cells(heatmap(values, kind="scores", mask=mask)).values()
        assert {cell.find(f"{SVG}rect").get("fill-opacity") for cell in shown} == {"0.00"}


def test_the_words_of_a_cell_stay_within_the_drawing_where_the_heatmap_is_at_its_edge():
    drawing, names = Drawing(350, 300), ["internationalisation"] * 40
    drawing.heatmap((0, 0, 120, 300), torch.eye(40), names, names)
    letters = max(map(len, re.findall('class="tip">(.*?)<', drawing.svg())))
    size, middle = map(float, re.search("--tip:(.*?)px;--x:(.*?)px", drawing.svg()).groups())
    assert BOLD_LETTER * size * letters / 2 <= middle + 0.1


def test_every_class_of_a_drawing_has_a_rule():
    classes = {mark.get("class") for mark in heatmap(chosen=(0, 1)).iter() if mark.get("class")}
    assert {"tip", "lights", "rest"} <= classes <= set(re.findall(r"\.(\w+)", STYLE))


def test_sixteen_small_maps_are_images_with_titles_apart():
    size, names = (860, 334), ["previous word"] * 16
    root = drawn("heatmaps", torch.rand(16, 8, 8), [f"word{i}" for i in range(8)], names, size=size)
    assert len(list(root.iter(f"{SVG}image"))) == 16  # so that a slider stays quick
    assert "head 16" in [text.text for text in root.iter(f"{SVG}text")]


def test_bars_stay_in_their_box_where_the_limits_leave_zero_out():
    for values in ([0.9, 1.0], [-0.9, -1.0]):
        for bar in drawn("bars", values, WORDS[:2], "ink", sorted(values)).iter(f"{SVG}rect"):
            left, width = float(bar.get("x")), float(bar.get("width"))
            assert 0 <= left < left + width <= 400


def test_a_bar_of_nothing_is_drawn_and_a_long_name_is_cut_and_no_markup():
    root = drawn("bars", [0], ["<b>internationalisation"], "ink", (0, 0))
    texts = [text.text for text in root.iter(f"{SVG}text")]
    assert texts == ["<b>internationalisation: 0.00", "<b>internatio…", "0.00"]
    assert float(next(root.iter(f"{SVG}rect")).get("x")) < 140  # where the short name ends

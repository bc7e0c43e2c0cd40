"""The drawing of an explorer: how deep a cell is, and what no drawing that is kept shows (test_every_panel.py)."""

import base64
import io
import re
from xml.etree import ElementTree

import numpy
import pytest
import torch
from PIL import Image

from mha_helpers.style import COLOURS
from mha_helpers.svg import Drawing
from mha_helpers.svg_heatmap import MOST_CELLS
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


def test_every_cell_is_as_deep_as_its_weight_and_says_it():
    found = cells(heatmap(map=2))
    assert len(found) == 9
    cell = found["2,1,0"]
    assert float(cell.find(f"{SVG}rect").get("fill-opacity")) == pytest.approx(0.92)
    assert cell.find(f"{SVG}text").text == "eats → cat: 0.92"


def test_scores_share_a_scale_and_have_two_hues():
    found = cells(heatmap(torch.tensor([[4.0, -2.0, 0.0]]), ["cat"], WORDS, kind="scores", limit=8.0))
    looks = [
        (cell.find(f"{SVG}rect").get("fill"), cell.find(f"{SVG}rect").get("fill-opacity"))
        for cell in found.values()
    ]
    assert [opacity for _, opacity in looks] == ["0.50", "0.25", "0.00"]
    assert looks[0][0] != looks[1][0]


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


def test_every_class_of_a_drawing_has_a_rule():
    classes = {mark.get("class") for mark in heatmap(chosen=(0, 1)).iter() if mark.get("class")}
    assert {"tip", "lights", "rest"} <= classes <= set(re.findall(r"\.(\w+)", STYLE))


def test_sixteen_small_maps_are_images_with_titles_apart():
    size, names = (860, 334), ["previous word"] * 16
    root = drawn("heatmaps", torch.rand(16, 8, 8), [f"word{i}" for i in range(8)], names, size=size)
    assert len(list(root.iter(f"{SVG}image"))) == 16  # so that a slider stays quick
    assert "head 16" in [text.text for text in root.iter(f"{SVG}text")]


def ends_of_bars(values, limits):
    bars = drawn("bars", values, WORDS[: len(values)], "ink", limits).iter(f"{SVG}rect")
    return [(float(bar.get("x")), float(bar.get("x")) + float(bar.get("width"))) for bar in bars]


def test_bars_begin_at_zero_and_stay_in_their_box_where_the_limits_leave_zero_out():
    (zero, longest), (_, negative), (_, short) = ends_of_bars([2.0, -1.0, 0.5], (-2, 2))
    assert negative == pytest.approx(zero, abs=0.2)
    assert short - zero == pytest.approx((longest - zero) / 4, abs=0.2)
    for end in (1.0, -1.0):
        bars = ends_of_bars([0.9 * end, end], sorted([0.9 * end, end]))
        assert all(0 <= left < right <= 400 for left, right in bars)

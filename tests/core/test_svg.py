"""The drawing of an explorer: what can be seen, hovered and clicked is what the numbers say."""

import base64
import io
from xml.etree import ElementTree

import numpy
import pytest
import torch
from PIL import Image

from mha_helpers.style import COLOURS
from mha_helpers.svg import Drawing
from mha_helpers.svg_heatmap import MOST_CELLS

SVG = "{http://www.w3.org/2000/svg}"
WORDS = ["cat", "eats", "fish"]
WEIGHTS = torch.tensor([[0.77, 0.05, 0.19], [0.92, 0.03, 0.05], [0.58, 0.14, 0.28]])


def drawn(what, *values, size=(400, 300), **options):
    drawing = Drawing(*size, "a picture")
    getattr(drawing, what)((0, 0, *size), *values, **options)
    return ElementTree.fromstring(drawing.svg())


def heatmap(values=WEIGHTS, rows=WORDS, columns=WORDS, **options):
    return drawn("heatmap", values, rows, columns, **options)


def texts(root):
    return [text.text for text in root.iter(f"{SVG}text")]


def answering(root, words_at_the_side=False):
    """The groups that answer the mouse: cells, or the words at the sides."""
    groups = [group for group in root.iter(f"{SVG}g") if group.get("data-cell")]
    return [group for group in groups if (group.find(f"{SVG}path") is not None) == words_at_the_side]


def cells(root):
    return {group.get("data-cell"): group for group in answering(root)}


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


def test_a_masked_cell_is_hatched_and_holds_no_number():
    mask = torch.tensor([[True, False, False], [True, True, False], [True, True, True]])
    root = heatmap(WEIGHTS.masked_fill(~mask, 0.0), mask=mask)
    hatching = next(path.get("d") for path in root.iter(f"{SVG}path") if path.get("stroke-opacity"))
    assert hatching.count("M") == 3
    assert cells(root)["0,0,1"].find(f"{SVG}text").text == "cat → eats: masked"
    assert "0.00" not in texts(root)


def test_the_chosen_cell_has_a_frame_and_the_words_below():
    root = heatmap(chosen=(1, 0))
    frame = next(rect for rect in root.iter(f"{SVG}rect") if rect.get("stroke-width") == "3")
    rect = cells(root)["0,1,0"].find(f"{SVG}rect")
    assert (frame.get("x"), frame.get("y")) == (rect.get("x"), rect.get("y"))
    (rest,) = [text.text for text in root.iter(f"{SVG}text") if text.get("class") == "rest"]
    assert rest == "eats → cat: 0.92"


def test_many_cells_become_an_image_that_answers_row_by_row():
    n = 70
    assert n * n > MOST_CELLS
    names = [f"word{i}" for i in range(n)]
    root = heatmap(torch.eye(n), names, names)
    assert len(cells(root)) == n
    assert (pixels(root)[:, :, 3] == 255 * numpy.eye(n)).all()
    assert cells(root)["0,3,3"].find(f"{SVG}text").text == "word3 → word3: 1.00, its most"
    below = pixels(heatmap(-torch.eye(n), names, names, kind="scores"))[0, 0, :3]
    assert below.tobytes().hex() == COLOURS["negative"][1:].lower()


def test_a_click_on_a_small_map_names_its_head():
    two = torch.stack([WEIGHTS, WEIGHTS])
    root = drawn("heatmaps", two, WORDS, ["first", "second"], (0, 1, 0), size=(800, 400))
    assert {name.split(",")[0] for name in cells(root)} == {"0", "1"}
    assert texts(root).count("head 1: first") == 2  # large and small
    assert texts(root).count("head 2: second") == 1


def test_the_word_of_a_row_lights_it_in_all_heads_says_its_sum_and_chooses_its_strongest_cell():
    two = torch.stack([WEIGHTS, WEIGHTS.flip(0)])
    root = drawn("heatmaps", two, WORDS, chosen=(0, 2, 0), size=(800, 400))
    word = answering(root, words_at_the_side=True)[1]
    assert word.get("data-cell") == "0,1,0"
    assert texts(word) == ["eats", "eats: its weights add up to 1"]
    assert word.find(f"{SVG}path").get("d").count("M") == 3  # the large map and two small ones
    frames = [path for path in root.iter(f"{SVG}path") if path.get("stroke-width") == "2"]
    assert len(frames) == 2  # the chosen row in each small map


def test_sixteen_small_maps_are_images_with_titles_apart_and_one_head_has_no_overview():
    size, names = (860, 334), ["previous word"] * 16
    root = drawn("heatmaps", torch.rand(16, 8, 8), [f"word{i}" for i in range(8)], names, size=size)
    assert len(list(root.iter(f"{SVG}image"))) == 16  # so that a slider stays quick
    assert texts(root).count("head 16") == 1
    alone = drawn("heatmaps", WEIGHTS[None], WORDS, names, size=size)
    assert len([mark for mark in alone.iter() if mark.get("class") == "map"]) == 1


def test_what_a_learner_types_is_not_read_as_markup():
    names = ["<script>", '"&', "猫", "🐟"]
    svg = Drawing(400, 300, '<b>"')
    svg.heatmap((0, 0, 400, 300), torch.eye(4), names, names)
    root = ElementTree.fromstring(svg.svg())
    assert root.get("aria-label") == '<b>"'
    assert "<script" not in svg.svg()


def test_bars_begin_at_zero_and_tell_their_number():
    root = drawn("bars", [2.0, -1.0, 0.5], WORDS, "query", limits=(-2, 2))
    bars = [rect for rect in root.iter(f"{SVG}rect") if rect.get("fill-opacity")]
    ends = [(float(bar.get("x")), float(bar.get("x")) + float(bar.get("width"))) for bar in bars]
    zero = ends[0][0]
    assert ends[1][1] == pytest.approx(zero, abs=0.2)
    assert ends[2][1] - zero == pytest.approx((ends[0][1] - zero) / 4, abs=0.2)
    assert "cat: 2.00" in texts(root)


def test_bars_stay_in_their_box_where_the_limits_leave_zero_out():
    bars = drawn("bars", [0.9, 1.0], WORDS[:2], limits=(0.9, 1.0)).iter(f"{SVG}rect")
    ends = [(float(bar.get("x")), float(bar.get("x")) + float(bar.get("width"))) for bar in bars]
    assert all(0 <= left < right <= 400 for left, right in ends)

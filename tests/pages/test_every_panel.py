"""What holds of every Panel, and what is drawn today: in Panels and in static pictures."""

import io
import zipfile
from xml.etree import ElementTree

import ipywidgets as widgets
import matplotlib
import pytest
import torch
from PIL import Image

from mha_helpers.panel import WIDTH
from tests.pages import drawings, review_drawings
from tools.notebook import ROOT

EXPLORERS = drawings.explorers()
NAMES = [name for name in EXPLORERS if name != drawings.NEEDS_A_MODEL]
KEPT = drawings.kept_drawings()
TO_KEEP_IT = "look at it: python -m tests.pages.review_drawings"


def page_and_name(name):
    return f"{EXPLORERS[name].__module__.split('.')[1]}-{name}"


@pytest.fixture(params=NAMES, ids=page_and_name)
def panel(request):
    return EXPLORERS[request.param]()


def size(panel):
    root = ElementTree.fromstring(panel.svg())
    return root.get("width"), root.get("height")


def cells_of(panel):
    marks = ElementTree.fromstring(panel.svg()).iter()
    return [tuple(map(int, mark.get("data-cell").split(","))) for mark in marks if mark.get("data-cell")]


def test_every_control_changes_something_and_no_setting_raises(panel):
    start = size(panel)
    for name, control in panel.controls.items():
        cells = cells_of(panel)
        while control.disabled:  # a click on some cell must switch it on
            panel.click(*cells.pop())
        before = panel.svg(), panel.description()
        own, seen = control.value, set()
        for value in drawings.other_values(control):
            control.value = value
            seen.add((panel.svg(), panel.description()))
            assert size(panel) == start and panel.message() == "", name
            assert 1 <= len(panel.description().splitlines()) <= 3, name
        assert seen != {before}, name
        control.value = own


@pytest.mark.parametrize("dtype", [torch.float64, torch.bfloat16], ids=str)
def test_a_panel_can_be_drawn_whatever_the_default_dtype(panel, dtype):
    torch.set_default_dtype(dtype)
    try:
        for control in panel.controls.values():
            control.value = drawings.other_values(control)[0]
            assert panel.svg() and panel.message() == ""
    finally:
        torch.set_default_dtype(torch.float32)


def rows(controls):
    """Return in how many rows controls stand, with 8 pixels between two and 2 at each side."""
    count, right = 0, WIDTH
    for control in controls:
        width = int(control.layout.width.removesuffix("px")) + 4
        right += 8 + width
        if right > WIDTH:
            count, right = count + 1, width
    return count


def test_a_panel_fits_a_projector_with_all_menus_and_its_controls_say_what_they_are(panel):
    width, height = map(int, size(panel))
    seen = [control for name, control in panel.controls.items() if name not in panel.more]
    menus = [panel.controls[name] for name in panel.more]
    title, words, row = 26, 60, 30  # pixels
    assert width == WIDTH and title + row * (rows(seen) + rows(menus)) + height + words <= 515
    for control in panel.controls.values():
        assert control.description and getattr(control, "continuous_update", True)
        assert (control.style.description_width, control.layout.max_width) == ("initial", "100%")


def test_a_click_on_a_cell_changes_what_is_shown(panel):
    cells, before = cells_of(panel), panel.svg()
    for cell in cells[::-1]:  # the first is often chosen already
        if panel.svg() == before:
            panel.click(*cell)
    assert not cells or panel.svg() != before, "needs a control “query” or “key”, or a click"


def test_what_a_learner_types_is_no_markup_and_what_does_not_fit_is_told(panel):
    control = panel.controls.get("sentence")
    refused = {"": "fish”.", "word " * 65: "shorten it."}
    typed = ["<b>cat</b> & <script> eats", "🐟 eats 🐱", "猫", *refused]
    for sentence in typed if isinstance(control, widgets.Text) else ():
        before = panel.svg()
        control.value = sentence
        ElementTree.fromstring(panel.svg())
        shown = [child.value for child in panel.children if isinstance(child, widgets.HTML)]
        assert not any("<script>" in html or "<b>cat" in html for html in shown)
        is_refused = sentence in refused
        assert bool(panel.message()) == (panel.svg() == before) == is_refused
        assert panel.message().endswith(refused.get(sentence, ""))


def compare(drawn):
    for name, svg in drawn:
        assert name in KEPT, f"{name} is new: {TO_KEEP_IT}"
        difference = drawings.difference(KEPT[name], svg)
        assert not difference, f"{name}: {difference}. Meant? Then {TO_KEEP_IT}"


@pytest.mark.parametrize("name", NAMES, ids=page_and_name)
def test_a_panel_draws_what_it_drew(name):
    compare(drawings.panel_drawings(name))


@pytest.mark.skipif(
    f"matplotlib=={matplotlib.__version__}\n" not in (ROOT / "constraints.txt").read_text(),
    reason="each version of matplotlib lays out its text a little otherwise",
)
def test_static_pictures_are_what_they_were():
    compare(drawings.static_drawings())


def test_nothing_is_kept_that_nobody_draws():
    still = drawings.static_pictures()
    assert {name.split()[0] for name in KEPT} == {*NAMES, *still}
    for name, picture in still.items():  # nothing is cut off: the outermost pixels are empty
        image = Image.open(io.BytesIO(picture.png()))
        left, top, _, bottom = image.getchannel("A").getbbox()
        assert min(left, top, image.height - bottom) > 0, name
    words = [picture.words for picture in still.values()]
    assert all(words) and len(set(words)) == len(words)


@pytest.mark.parametrize(
    ("change", "seen"),
    [
        (('x="10"', 'x="12"'), "x of"),
        (("cat", "dog"), "cat"),
        (('fill="#112233"', 'fill="#112234"'), "fill"),
        (("<text>cat</text>", ""), "marks"),
        ((' fill="#112233"', ""), "fill"),
        (('x="10"', 'x="10.1"'), ""),  # what another machine rounds otherwise
    ],
)
def test_a_difference_is_named(change, seen):
    svg = '<svg><rect x="10" fill="#112233"/><text>cat</text></svg>'
    difference = drawings.difference(svg, svg.replace(*change))
    assert seen in difference and bool(seen) == bool(difference)


def test_nothing_is_kept_that_was_not_pictured_as_it_is_drawn(tmp_path):
    pytest.importorskip("resvg_py")
    svg = '<svg xmlns="http://www.w3.org/2000/svg" width="20" height="10"><rect width="{}" height="9"/></svg>'
    kept = {"same": svg.format(5), "changed": svg.format(2), "gone": svg.format(3)}
    today = {"same": svg.format(5.01), "changed": svg.format(8), "new": svg.format(4)}
    said, folder, file = review_drawings.differences(kept, today), tmp_path / "seen", tmp_path / "kept.zip"
    assert list(said) == ["changed", "gone", "new"] and "'2', now '8'" in said["changed"]
    assert review_drawings.not_looked_at(said, today, folder) == list(said)
    review_drawings.picture_them(said, kept, today, folder)
    picture = Image.open(folder / "changed.png")
    assert picture.getpixel((5, 5)) == (255, 255, 255) and picture.getpixel((20 + 16 + 5, 5)) == (0, 0, 0)
    assert not review_drawings.not_looked_at(said, today, folder)
    assert review_drawings.not_looked_at(said, today | {"new": svg.format(6)}, folder) == ["new"]
    review_drawings.keep(said, kept, today, file)
    with zipfile.ZipFile(file) as archive:
        now = {name: archive.read(name).decode() for name in archive.namelist()}
    assert now == {"same": kept["same"], "changed": today["changed"], "new": today["new"]}

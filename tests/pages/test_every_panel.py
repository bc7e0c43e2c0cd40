"""What holds of every Panel, and what is drawn today: in Panels and in static pictures."""

import io
import os
import re
from xml.etree import ElementTree

import ipywidgets as widgets
import matplotlib
import pytest
import torch
from PIL import Image

import __main__
from mha_course.p10_can_your_class_learn import explorer as learning
from mha_course.p10_can_your_class_learn import training
from mha_helpers.panel import WIDTH
from tests import kept
from tests.entries import entries, written
from tests.pages import drawings
from tools.notebook import ROOT
from tools.page import stored_pages

EXPLORERS = drawings.explorers()
NAMES = [name for name in EXPLORERS if name != drawings.NEEDS_A_MODEL]


@pytest.fixture(params=NAMES, ids=lambda name: f"{drawings.page_of(EXPLORERS[name])}-{name}")
def panel(request, monkeypatch):
    # What a cell above the explorer of page 10 makes.
    monkeypatch.setattr(__main__, "MyAttention", training.class_with(), raising=False)
    monkeypatch.setattr(learning, "KEPT_EVERY", 5)  # steps of its training from one picture to the next
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
    for control in panel.controls.values():
        control.value = drawings.other_values(control)[0]
        assert panel.svg() and panel.message() == ""


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


@pytest.mark.parametrize("page", stored_pages(), ids=lambda page: page.name)
def test_what_a_page_tells_to_move_is_there_to_be_moved(page):
    named = {"reset"}
    for name in NAMES:
        for key, control in EXPLORERS[name]().controls.items() if f"{name}(" in str(page.code) else ():
            named |= {key, control.description} | {text for text, _ in drawings.options_of(control)}
    tasks = " ".join(part for part in page.text.split("\n\n") if "**Try this.**" in part)
    told = re.findall(r"\b(?:move|drag|set|choose|press|tick) \*([^*]+)\*", tasks, re.IGNORECASE)
    assert set(told) <= named


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


@pytest.mark.parametrize("file", drawings.files(), ids=lambda file: file.stem)
def test_a_page_draws_what_it_drew(file):
    tested = (ROOT / "constraints.txt").read_text()
    if file == drawings.STILL and f"matplotlib=={matplotlib.__version__}\n" not in tested:
        pytest.skip("each version of matplotlib lays out its text a little otherwise")
    said, text = kept.differences(drawings, file)
    assert not said, "\n".join([*map(": ".join, said.items()), "Meant? Then look: python -m tests.kept"])
    assert text == file.read_text(encoding="utf-8")


def test_nothing_is_kept_that_nobody_draws():
    still = drawings.static_pictures()
    assert {name.split()[0] for file in drawings.files() for name in entries(file)} == {*NAMES, *still}
    for name, picture in still.items():  # nothing is cut off: the outermost pixels are empty
        image = Image.open(io.BytesIO(picture.png()))
        left, top, _, bottom = image.getchannel("A").getbbox()
        assert min(left, top, image.height - bottom) > 0, name
    words = [picture.words for picture in still.values()]
    assert all(words) and len(set(words)) == len(words)


def test_each_difference_is_named_and_pictured_and_only_what_was_shown_is_kept(tmp_path, monkeypatch, capsys):
    pytest.importorskip("resvg_py")
    mark = '<rect x="10" width="5" height="9" style="opacity: 1; fill: #112233"/><text>0.32</text>'
    svg = f'<svg xmlns="http://www.w3.org/2000/svg" width="20" height="10">{mark}</svg>'
    changes = {  # each with what is said of it
        "colour": ("fill: #112233", "fill: #000000", "rect, fill #112233 → #000000, by “0.32”"),
        "fewer": ("<text>0.32</text>", "", "<text> was drawn, now </svg>"),
        "moved": ('x="10"', 'x="12"', "rect, x 10 → 12, by “0.32”"),
        "rounded": ('x="10"', 'x="10.1"', ""),  # as another machine may
        "words": ("0.32", "0.35", "0.32 was drawn, now 0.35"),
    }
    today = {name: drawings.packed(svg.replace(old, new)) for name, (old, new, _) in changes.items()}
    today["new"] = was = drawings.packed(svg)
    file = tmp_path / "p13.txt"
    file.write_text(written(dict.fromkeys([*changes, "gone"], was)), encoding="utf-8")
    for name, value in {"ROOT": tmp_path, "KINDS": [drawings], "SHOWN": tmp_path / "shown"}.items():
        monkeypatch.setattr(kept, name, value)
    monkeypatch.setattr(drawings, "files", lambda: [file])
    monkeypatch.setattr(drawings, "today", lambda file: today)
    kept.main(["p12"])
    kept.main(["--keep"])
    assert capsys.readouterr().out == "" and "gone" in entries(file)
    kept.main([])
    said = dict(line.split(": ", 1) for line in capsys.readouterr().out.splitlines())
    assert sorted(said) == ["colour", "fewer", "gone", "moved", "new", "words"]
    assert all(seen in said.get(name, "") for name, (_, _, seen) in changes.items())
    picture = Image.open(kept.SHOWN / "colour.png")
    assert [picture.getpixel((x, 5)) for x in (12, 20 + 16 + 12)] == [(17, 34, 51), (0, 0, 0)]
    os.utime(kept.SHOWN / "p13.txt", (0, 0))
    with pytest.raises(SystemExit, match="look again"):  # as after git pull
        kept.main(["--keep"])
    os.utime(file, (0, 0))
    kept.main(["--keep"])
    assert entries(file) == today | {"rounded": was} and not list(kept.SHOWN.glob("*.txt"))
    today.clear()
    kept.main([])
    kept.main(["--keep"])
    assert not file.exists()  # of which nothing is drawn any more

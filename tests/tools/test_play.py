"""The pages that play without a kernel: the states of their Panels, held against the Panels, and all else they show."""

import base64
import functools
import itertools
import json
import random
import re
import zlib
from collections import defaultdict

import ipywidgets as widgets
import pytest

pytest.importorskip("latex2mathml")

from mha_course.p00_start_here import cat_eats_fish_heads
from mha_course.p02_qkv_projection import projection_explorer
from mha_course.p06_softmax import softmax_explorer
from mha_course.p08_splitting_heads import splitting_explorer
from mha_course.p09_concat_and_output import machine_explorer
from mha_helpers.panel import Explorer, Panel
from tools import play, states
from tools.notebook import all_pages, name_of
from tools.packed import FIRST, LABEL, packed
from tools.page import stored_pages
from tools.states import CELL, States, key, options_of

SOME_PANELS = [cat_eats_fish_heads, projection_explorer, softmax_explorer, splitting_explorer]


@pytest.fixture(scope="module")
def states_of():
    """A function that returns the states of an explorer, made once."""
    return functools.cache(States)


@pytest.mark.parametrize("explorer", SOME_PANELS)
def test_states_are_what_the_panel_says(states_of, explorer):
    """A picture is put together again as the page does it, and a click leads to where it leads in the Panel."""
    made, draw = states_of(explorer), random.Random(explorer.__name__)
    kept = json.loads(zlib.decompress(base64.b64decode(packed(made))))
    grid = {key(settings) for settings in itertools.product(*made.stops.values())}
    for name in draw.sample(sorted(grid & made.shown.keys()), 12):  # beyond it some clicks find nothing kept
        settings, panel = [*map(int, name.split(","))], explorer()
        for _ in "12":  # a menu that follows from others has its options only then
            pairs = zip(made.controls.items(), settings, strict=True)
            panel.set(**{menu: options[i][1] for (menu, options), i in pairs})
        *_, words, now = kept["drawn"][kept["states"][name]]
        assert (made_again(kept, name), words, now) == (unlabelled(panel), panel.description(), None)
        cell, decides = draw.choice(CELL.findall(panel.svg())), kept["decides"]
        for k, i in kept["clicks"].get(cell if decides is None else f"{cell} {settings[decides]}", []):
            settings[k] = i
        panel.click(*map(int, cell.split(",")))
        assert made_again(kept, key(settings)) == unlabelled(panel)


def unlabelled(panel):
    return LABEL.sub("", panel.svg(), count=1)


def made_again(kept, name):
    count, row, *_ = kept["drawn"][kept["states"][name]]
    letters = [letters[row if len(letters) > 1 else 0] for letters in kept["columns"][str(count)]]
    return "".join(kept["parts"][ord(letter) - FIRST] for letter in letters)


def test_each_option_of_one_control_is_a_state(states_of):
    made = states_of(softmax_explorer)
    for k, options in enumerate(made.controls.values()):
        for i in range(len(options)):
            assert key((*made.start[:k], i, *made.start[k + 1 :])) in made.shown
    assert len(made.controls["temperature"]) == 41


def test_what_does_not_say_by_itself_what_is_shown_is_no_control(states_of, monkeypatch):
    made = states_of(splitting_explorer)
    assert made.follows == {"follow"}  # its options follow from the sliders
    assert [label for label, _ in made.controls["follow"]][3::4] == ["head 4", "token 4"]
    monkeypatch.setattr(States, "_grid", lambda self: [])
    # Not its menus of cells.
    assert [*States(machine_explorer).controls] == ["sentence", "head", "mask", "tour"]


def test_what_page_06_asks_for_is_among_the_states(states_of):
    """Its text names these settings, so that a page without a kernel must show them, too."""
    made = states_of(softmax_explorer)
    live = {name: [made.controls[name][i][1] for i in stops] for name, stops in made.stops.items()}
    assert {0, 50, 86, 90} <= set(live["every"]) and {0.1, 1, 10} <= set(live["temperature"])
    assert min(live["cat"]) < 0 in live["cat"] and live["shift"] == [False, True]


def test_a_slider_has_all_its_steps_its_start_as_it_is():
    options = options_of(widgets.FloatSlider(0.3, max=0.5, step=0.1))  # 3 · 0.1 is not 0.3
    assert " ".join(label for label, _ in options) == "0.00 0.10 0.20 0.30 0.40 0.50" and options[3][1] == 0.3
    assert [value for _, value in options_of(widgets.IntSlider(0, -2, 2))] == [-2, -1, 0, 1, 2]


class Dials(Explorer):
    def __init__(self, kind):
        self.kind = kind

    def controls(self):
        return {name: self.kind(options=range(10)) for name in "abc"}

    def draw(self, drawing, state):
        pass

    def words(self, state):
        return []


def test_sliders_are_thinned_and_menus_that_are_too_many_are_refused_in_words(monkeypatch):
    monkeypatch.setattr(states, "MOST_STATES", 200)
    with pytest.raises(ValueError, match="1000 states"):
        States(lambda: Panel(explorer=Dials(widgets.Dropdown)))
    made = States(lambda: Panel(explorer=Dials(widgets.SelectionSlider)))
    assert [len(stops) for stops in made.stops.values()] == [3, 6, 10]
    assert len(made.shown) == 3 * 6 * 10 + 7 + 4  # and each option of one alone
    monkeypatch.setattr(states, "LONG_MENU", 5)
    menus = States(lambda: Panel(explorer=Dials(widgets.Dropdown)))
    assert [menus.offers_few(name) for name in "abc"] == [True, True, False]
    monkeypatch.setattr(Dials, "plays", lambda self, a, c, **_: a + c == 9, raising=False)
    made = States(lambda: Panel(explorer=Dials(widgets.Dropdown)))
    assert {sum(map(int, name.split(",")[::2])) for name in made.shown} == {9} and len(made.shown) == 100


@pytest.fixture(scope="module")
def pages():
    """Every page as HTML, without its Panels."""
    return {path: play.page_html(path, panels=defaultdict(str)) for path in all_pages()}


def test_every_panel_of_the_course_stands_in_a_cell_of_its_own():
    """What a cell stores as the picture of a Panel can be made from this cell alone."""
    pages = [page for page in stored_pages() if not page.name.startswith("11_")]
    cells = [cell for page in pages for cell in page.code if play.shows_panel(cell)]
    assert len(cells) >= 12
    for cell in cells:
        shown = "".join(output.get("data", {}).get("text/plain", "") for output in cell.outputs)
        assert repr(play.panel_of(cell.source)) == shown


class MadeUp(Explorer):
    """Two settings of it do not combine; a click turns a box, or a word that it remembers, or moves a slider."""

    title, more = "A <made-up>", ("off", "note")

    def __init__(self):
        self.word = "hi"

    def controls(self):
        return {
            "mask": widgets.Dropdown(options=[("c", 1), ("a & b", 0)], value=0),
            "d": widgets.IntSlider(2, 1, 3, description="d <1>"),
            "off": widgets.Checkbox(True),
            "note": widgets.Text(""),
        }

    def compute(self, mask, d, **_):
        if (mask, d) == (1, 3):
            raise ValueError("no")
        return {"trail": (), "word": self.word}  # so the way of its clicks is told

    def draw(self, drawing, state):
        cells = "".join(f'<g class="hit" data-cell="0,0,{i}"><rect/></g>' for i in (9, 0, 1, 2))
        shown = " ".join(str(state[name]) for name in ("mask", "d", "off", "word"))
        drawing.svg = lambda: f"<svg><rect/><rect/>{cells}<text>{shown}</text></svg>"

    def words(self, state):
        return [f"<{state['word']}>", "& more"]

    def click(self, values, heatmap, row, column):
        self.word = {1: "one", 2: "two"}.get(column, self.word)
        return {0: {"off": not values["off"]}, 2: {"d": 1}}.get(column, {})


def test_a_text_field_that_has_options_is_a_menu_and_a_slider_ends_at_its_last():
    both, slider = widgets.Combobox(value="a", options=["a", "b"]), widgets.IntSlider(2, 1, 3)
    assert "<select" in play.control_html(both, options_of(both), 0)
    assert 'min="0" max="2" value="1"' in play.control_html(slider, options_of(slider), 1)


def test_no_formula_is_left_as_it_was_typed(pages):
    assert sum(text.count("<math ") for text in pages.values()) > 100
    for path, text in pages.items():
        prose = re.sub(r"<(style|script|pre|code)\b.*?</\1>|<[^>]*>", "", text, flags=re.DOTALL)
        assert not re.findall(r"\$[^$]{0,40}|\\(?:frac|sqrt|text|begin)\b", prose), path


def test_a_formula_keeps_what_markdown_would_take_and_code_keeps_its_dollar():
    written = play.markdown_html("so $a_1 * b_2 * c_3$ and `cost = $5` and $$\\frac{1}{2}$$")
    assert [written.count(part) for part in ("<math ", 'display="block"', "<mfrac>", "<em>")] == [2, 1, 1, 0]
    assert "cost = $5" in written
    heading = play.markdown_html("## After $W_O$")
    assert "<math display" in heading and 'id="After-WO"' in heading


def test_a_page_fetches_nothing_and_has_the_width_of_its_window(pages):
    for text in [*pages.values(), play.index_html([*pages])]:
        for tag in re.findall(r"<(?:script|link|img|iframe|image|source)\b[^>]*>", text):
            for address in re.findall(r'(?:src|href)="([^"]*)"', tag):
                assert address.startswith("data:"), tag[:100]
        assert not re.search(r"@import|url\(", text)
        assert '<meta name="viewport" content="width=device-width, initial-scale=1">' in text
        # Stored pictures are transparent, and have dark words.
        assert re.search(r"\.output img \{[^}]*background: #fff;", text)


KERNEL = r"Shift \+ Enter|[Rr]un (?:the (?:next )?cell|this|these|its|it)\b|Run All|(?:the|three) dots\b(?! stand)|[Rr]emove (?:a|the) `#`"


def test_words_fit_somebody_without_a_kernel():
    """Each line of the table is about words that a page has, and no page asks to run a cell."""
    cells = [cell.source for page in stored_pages() for cell in page.markdown]
    for said, _ in play.said_otherwise():
        assert any(" ".join(said.split()) in " ".join(source.split()) for source in cells), said
    assert [found for source in cells for found in re.findall(KERNEL, play.for_all(source))] == []


def test_every_page_stands_on_a_route():
    names = [name_of(path) for path in all_pages()]
    on = [[title for title, _, pattern in play.ROUTES if re.match(pattern, name)] for name in names]
    assert all(on) and [titles[0] for titles in on[1:10]] == ["The course"] * 9

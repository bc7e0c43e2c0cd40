"""The states of a Panel that a page without a kernel shows, held against the Panel itself."""

import functools
import random

import ipywidgets as widgets
import pytest

from mha_course.p00_start_here import cat_eats_fish_heads
from mha_course.p02_qkv_projection import projection_explorer
from mha_course.p05_causal_mask import mask_explorer
from mha_course.p06_softmax import softmax_explorer
from mha_course.p08_splitting_heads import splitting_explorer
from mha_helpers.panel import Panel
from tools import states
from tools.states import States, combined, key, options_of, thinned

SOME_PANELS = [cat_eats_fish_heads, projection_explorer, softmax_explorer, splitting_explorer]


@pytest.fixture(scope="module")
def states_of():
    """A function that returns the states of an explorer, made once, with the clicks of its start alone."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(states, "MOST_CLICKS", 0)
        yield functools.cache(States)


@pytest.mark.parametrize("explorer", SOME_PANELS, ids=lambda make: make.__name__)
def test_states_are_what_the_panel_says(states_of, explorer):
    made, draw = states_of(explorer), random.Random(explorer.__name__)
    clicked = sorted(name for name in made.shown if " " in name)
    plain = sorted(made.shown.keys() - set(clicked))
    for name in draw.sample(plain, 8) + draw.sample(clicked, 6):
        settings, _, click = name.partition(" ")
        settings, panel = tuple(map(int, settings.split(","))), explorer()
        chosen = zip(made.live.items(), settings, strict=True)
        panel.set(**{name: options[i][1] for (name, options), i in chosen})
        for _ in click.split():  # "0,2,1", or "0,2,1 again"
            panel.click(*map(int, click.split()[0].split(",")))
        assert made.svg_of(settings, click) == panel.svg()
        assert made.shown[name][1] == panel.description()
        assert click or made.shown[name][2] == settings


def test_each_option_of_one_control_is_a_state(states_of):
    made = states_of(softmax_explorer)
    for k, options in enumerate(made.live.values()):
        for i in range(len(options)):
            assert key((*made.start[:k], i, *made.start[k + 1 :])) in made.shown
    assert len(made.live["temperature"]) == 41


def test_what_does_not_say_by_itself_what_is_shown_is_no_control(states_of, monkeypatch):
    assert "follow" not in states_of(splitting_explorer).live  # its options follow from the sliders
    monkeypatch.setattr(States, "_grid", lambda self: [self.start])
    # The box ticks a cell of the mask.
    assert " ".join(States(mask_explorer).live) == "mask head query key"


def test_what_page_06_asks_for_is_among_the_states():
    """Its text names these settings, so that a page without a kernel must show them, too."""
    live = {name: [value for _, value in options] for name, options in combined(softmax_explorer()).items()}
    assert {0, 50, 86, 90} <= set(live["every"]) and {0.1, 1, 10} <= set(live["temperature"])
    assert min(live["cat"]) < 0 in live["cat"] and live["shift"] == [False, True]


def test_of_many_whole_numbers_the_powers_of_two_remain_of_others_every_second():
    for slider, expected in [
        (widgets.IntSlider(11, 1, 40), "1 2 4 8 11 16 32 40"),
        (widgets.IntSlider(0, -20, 20), "-20 -16 -8 -4 -2 -1 0 1 2 4 8 16 20"),
        (widgets.IntSlider(0, -2, 2), "-2 0 2"),
        # 3 · 0.1 is not 0.3
        (widgets.FloatSlider(0.3, min=0, max=0.5, step=0.1), "0.00 0.20 0.30 0.40 0.50"),
    ]:
        assert " ".join(label for label, _ in thinned(options_of(slider), slider.value)) == expected


def test_sliders_are_thinned_and_menus_that_are_too_many_are_refused_in_words():
    menus, sliders = (
        {name: kind(options=range(20)) for name in "ab"}
        for kind in (widgets.Dropdown, widgets.SelectionSlider)
    )
    parts = lambda a, b: {}, lambda drawing, state: None, lambda state: []
    with pytest.raises(ValueError, match="400 states"):
        combined(Panel("large", menus, *parts))
    assert states.combinations(combined(Panel("thinned", sliders, *parts))) < 240


def test_a_heatmap_that_answers_no_click_leaves_the_others_theirs(monkeypatch):
    monkeypatch.setattr(states, "ENOUGH", 2)

    def draw(drawing, state):
        for map in (0, 1):
            drawing.heatmap((200 * map, 0, 200, 200), [[1.0, 0.0]] * 2, "ab", "ab", map=map)

    def click(values, map, row, column):
        return {"d": 2} if map else {}

    def two_maps():
        slider = {"d": widgets.IntSlider(1, 1, 2)}
        return Panel("two maps", slider, lambda d: {}, draw, lambda state: [], click=click)

    clicked = {name for name in States(two_maps).shown if " " in name}
    assert clicked == {f"0 1,{row},{column}" for row in (0, 1) for column in (0, 1)}

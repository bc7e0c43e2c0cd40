"""The softmax explorer over its whole grid: three steps, temperature, and the overflow."""

import itertools
import warnings

import matplotlib
import pytest
import torch

from mha_helpers import softmax_explorer, style
from mha_helpers.explorers.e06_softmax import LARGEST_SCORE, LONGEST, RowPicture

ROWS = [(2.0, -0.5, 0.0, 1.0), (0.0, 0.0, 0.0, 0.0), (-5.0, 5.0, -5.0, 5.0)]


@pytest.fixture(scope="module")
def panel():
    return softmax_explorer()


def move(panel, row, **others):
    panel.set(**{f"score_{number}": score for number, score in enumerate(row, start=1)}, **others)


@pytest.mark.parametrize("row, temperature, shift", list(itertools.product(ROWS, [0.1, 1.0, 10.0], [0, 200])))
def test_every_row_and_temperature(panel, row, temperature, shift):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        move(panel, row, temperature=temperature, shift=shift, minus_maximum=True)
    state = panel.state()
    assert panel.message() == ""
    expected = torch.softmax(torch.tensor(row) / state["temperature"], dim=-1)
    torch.testing.assert_close(state["weights"], expected, atol=1e-3, rtol=0)
    torch.testing.assert_close(state["weights"].sum(), torch.tensor(1.0))
    assert state["exponentials"].max() == 1
    assert "They sum to 1." in panel.description()


def test_without_the_maximum_small_scores_are_the_same(panel):
    move(panel, ROWS[0], temperature=1.0, shift=0, minus_maximum=True)
    right = panel.state()["weights"]
    panel.set(minus_maximum=False)
    torch.testing.assert_close(panel.state()["weights"], right)
    torch.testing.assert_close(panel.state()["exponentials"], torch.tensor(ROWS[0]).exp())


def test_without_the_maximum_large_scores_overflow_and_the_words_say_so(panel):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        move(panel, ROWS[0], temperature=1.0, shift=90, minus_maximum=False)
    assert panel.state()["weights"].isnan().any()
    assert "e to such a large power is ∞ for float32" in panel.description()
    assert "Tick “subtract the maximum first”" in panel.description()
    panel.set(minus_maximum=True)
    assert not panel.state()["weights"].isnan().any()


@pytest.mark.parametrize(
    ("scores", "temperature", "shift", "words"),
    [
        ([5.0, 5.0, 5.0, 5.0], 1.0, 90, "the weights are nan."),
        ([5.0, -5.0, -5.0, -5.0], 1.0, 90, "cat gets nan, the others 0."),
        ([5.0, 5.0, -5.0, -5.0], 1.0, 90, "cat and eats get nan, the others 0."),
        ([5.0, -5.0, 5.0, 5.0], 1.0, 90, "cat, fish and now get nan, the other 0."),
        ([-1.5, -1.5, -1.5, -1.5], 1.0, 90, "The sum is ∞ for float32"),
        ([-1.3, -1.4, -5.0, -5.0], 1.0, 90, "all weights are 0. Tick “subtract the maximum first”."),
    ],
)
def test_what_overflows_is_named(panel, scores, temperature, shift, words):
    move(panel, scores, temperature=temperature, shift=shift, minus_maximum=False)
    assert words in panel.description()
    weights = panel.state()["weights"]
    assert weights.isnan().any() or not weights.any()


def test_each_control_changes_the_picture(panel):
    move(panel, ROWS[0], temperature=1.0, shift=0, minus_maximum=True)
    changes = {f"score_{number}": 3.0 for number in range(1, 5)}
    for name, value in {**changes, "temperature": 2.0, "shift": 10, "minus_maximum": False}.items():
        before = panel.png()
        panel.controls[name].value = value
        assert panel.png() != before, name


def test_float32_overflows_also_where_the_learner_calculates_in_float64(panel, float64_by_default):
    move(panel, ROWS[1], temperature=1.0, shift=90, minus_maximum=False)
    assert panel.state()["weights"].isnan().any()


@pytest.mark.parametrize(
    "scores, said",
    [
        ((0.0, 0.0, 0.0, 0.0), " All get the same."),
        ((1.0, -0.5, 0.0, 1.0), " cat and now get most."),
        ((1.0, 1.0, 0.0, 1.0), " cat, eats and now get most."),
        ((1.0, 1.1, 0.0, 1.0), " eats gets most."),
    ],
)
def test_equal_weights_are_said_to_be_equal(scores, said):
    assert said in softmax_explorer(scores=scores).description()


def test_the_words_tell_of_the_step_between(panel):
    move(panel, (1.0, 0.0, 0.0, 0.0), temperature=1.0, shift=0, minus_maximum=True)
    assert " e to the power of each less the maximum: 1, 0.368, 0.368, 0.368. Weights:" in panel.description()
    panel.controls["minus_maximum"].value = False
    assert " e to the power of each: 2.718, 1, 1, 1. Weights:" in panel.description()
    panel.controls["shift"].value = 80
    assert " e to the power of each: 2e35, 6e34, 6e34, 6e34. Weights:" in panel.description()


def drawn(panel):
    """Return the bars' corners, their colours, and the words that say whether some are cut."""
    state = panel.state()
    picture = RowPicture()
    _, artists = picture.draw(state)
    picture.update(artists, state)
    shapes = [path.vertices[:4] for path in artists[0].get_paths()]
    return shapes, artists[0].get_facecolor(), artists[3].get_text()


def first_heights(panel):
    """Return the heights in pixels of the bars of score ÷ temperature; negative where they go down."""
    return [corners[0, 1] - corners[2, 1] for corners in drawn(panel)[0][:4]]


def test_another_score_moves_no_bar_but_its_own_in_the_first_step(panel):
    move(panel, ROWS[0], temperature=1.0, shift=0, minus_maximum=True)
    before, colours = first_heights(panel), drawn(panel)[1][:4]
    assert before == pytest.approx([LONGEST * score / LARGEST_SCORE for score in ROWS[0]], abs=1e-3)
    panel.controls["score_1"].value = 5.0
    assert first_heights(panel) == pytest.approx([LONGEST, *before[1:]], abs=1e-3)
    assert (drawn(panel)[1][1:4] == colours[1:]).all()


@pytest.mark.parametrize("temperature", [0.5, 2.0, 10.0])
def test_the_temperature_changes_length_and_colour_of_the_first_bars(panel, temperature):
    move(panel, ROWS[0], temperature=temperature, shift=0, minus_maximum=True)
    shares = [score / panel.state()["temperature"] / LARGEST_SCORE for score in ROWS[0]]
    assert first_heights(panel) == pytest.approx([LONGEST * share for share in shares], abs=1e-3)
    colours = matplotlib.colormaps[style.SCORE_CMAP]
    for face, share in zip(drawn(panel)[1], shares, strict=False):
        assert face == pytest.approx(colours(0.5 + share / 2), abs=0.01)


def test_a_bar_that_is_cut_shows_it_and_is_said_to_be_cut(panel):
    move(panel, (2.0, -5.0, 0.0, 0.4), temperature=1.0, shift=0, minus_maximum=True)
    shapes, _, words = drawn(panel)
    assert len(shapes) == 12 and words == ""  # −5 just fits
    assert "cut" not in panel.description()
    panel.controls["temperature"].value = 0.1
    shapes, colours, words = drawn(panel)
    assert words == "bars are cut at ±5"
    assert first_heights(panel) == pytest.approx([LONGEST, -LONGEST, 0, LONGEST * 4 / 5], abs=0.5)
    assert len(shapes) == 14 and (colours[12:] == 1).all()  # a white gap in each of two
    for gap, place in zip(shapes[12:], (0, 1), strict=True):
        low, high = sorted(shapes[place][[0, 2], 1])
        assert low < gap[:, 1].min() and gap[:, 1].max() < high
    assert " Score ÷ temperature: 20, −50, 0, 4 (bars are cut at ±5). e to" in panel.description()

"""Colours, numbers and labels: what every figure and table relies on."""

import math
import re
import warnings

import matplotlib
import pytest
import torch
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

from mha_helpers import style


def draw(text):
    with style.drawing(), warnings.catch_warnings():
        warnings.simplefilter("error")
        figure = Figure(figsize=(2, 1))
        FigureCanvasAgg(figure)
        figure.text(0.1, 0.5, text)
        figure.canvas.draw()


@pytest.mark.parametrize("token", ["猫", "🐈", "👩‍👩‍👧", "ไทย", "𓀀", "￾", "a\u0301", "tab\there", "\x07"])
def test_labels_never_lack_a_glyph(token):
    labels, legend = style.display_labels(["cat", token])
    assert len(labels) == 2
    for label in labels:
        draw(label)
    if labels == ["1", "2"]:
        assert "<b>1</b> cat" in legend
    else:
        assert legend == ""


def test_the_warning_that_the_labels_avoid_is_real():
    lacking = next(c for c in "🐈𓀀\U0001fae8" if not style.drawable(c))
    with pytest.raises(UserWarning, match="Glyph"):
        draw(lacking)


def test_numbers_stand_for_tokens_only_where_a_font_lacks_a_glyph(monkeypatch):
    monkeypatch.setattr(style, "_glyphs", lambda: frozenset(map(ord, "abc")))
    assert style.display_labels(["abc", "cab"]) == (["abc", "cab"], "")
    labels, legend = style.display_labels(["abc", "<i>"])
    assert labels == ["1", "2"]
    assert "<b>2</b> &lt;i&gt;" in legend and "<i>" not in legend


def test_dollar_signs_are_no_formula():
    (label,), _ = style.display_labels([r"$\frac$"])
    draw(label)


@pytest.mark.parametrize(
    ("value", "decimals", "trim", "expected"),
    [
        (-0.0, 2, True, "0"),
        (-0.0049, 2, False, "0.00"),
        (-1.5, 2, True, "−1.5"),
        (10.0, 2, True, "10"),
        (100, 0, True, "100"),
        (0.126, 2, True, "0.13"),
        (math.inf, 2, True, "∞"),
        (-math.inf, 2, True, "−∞"),
        (math.nan, 2, True, "nan"),
        (torch.tensor(-3.0), 2, True, "−3"),
    ],
)
def test_numbers(value, decimals, trim, expected):
    assert style.number(value, decimals, trim) == expected


def test_whole_numbers():
    assert style.whole_numbers(torch.tensor([1.0, -2.0, -math.inf, math.nan]))
    assert style.whole_numbers(torch.tensor([2.0000001]).double())
    assert not style.whole_numbers(torch.tensor([1.0, 0.01]))


def luminance(colour):
    parts = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    linear = [p / 12.92 if p <= 0.04045 else ((p + 0.055) / 1.055) ** 2.4 for p in parts]
    return sum(weight * part for weight, part in zip((0.2126, 0.7152, 0.0722), linear, strict=True))


@pytest.mark.parametrize("colour", style.HEAD_COLOURS)
def test_text_in_a_head_colour_is_readable_on_white(colour):
    assert 1.05 / (luminance(style.text_colour(colour)) + 0.05) >= 4.5


def test_every_role_and_every_head_has_a_colour_of_its_own():
    colours = [*style.COLOURS.values(), *style.HEAD_COLOURS]
    assert all(re.fullmatch("#[0-9A-F]{6}", colour) for colour in colours)
    assert len(set(colours)) == len(colours)


def test_weights_grow_darker_steadily_so_greyscale_keeps_the_order():
    steps = matplotlib.colormaps[style.WEIGHT_CMAP](torch.linspace(0, 1, 21).numpy())[:, :3]
    grey = steps @ [0.299, 0.587, 0.114]
    assert (grey[1:] < grey[:-1]).all()


@pytest.mark.parametrize("name", [style.SCORE_CMAP, style.VECTOR_CMAP])
def test_diverging_maps_are_palest_in_the_middle(name):
    low, middle, high = matplotlib.colormaps[name]([0.0, 0.5, 1.0])[:, :3] @ [0.299, 0.587, 0.114]
    assert middle > 0.9 and low < 0.4 and high < 0.4

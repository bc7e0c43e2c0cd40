"""Colours as people with the three kinds of colour blindness see them, and as a grey printer prints them.

The matrices are those of Machado, Oliveira and Fernandes (2009), "A physiologically-based model for
simulation of color vision deficiency", table 1, severity 1.0, for linear RGB. Distances are CIE76, ΔE: about
2 can be seen side by side, 10 at a glance.

In grey a scale keeps the order and the size of its numbers. A scale with two sides is nearly the same on
both: small matrices write their numbers, in large ones the sign is lost in grey.
"""

import itertools
import re

import matplotlib
import numpy as np
import pytest
import torch

from mha_helpers import heatmap, matrix_table, style
from mha_helpers.figures.f10_trained_heads import pairs_picture

MACHADO = {
    "protanopia": [
        [0.152286, 1.052583, -0.204868],
        [0.114503, 0.786281, 0.099216],
        [-0.003882, -0.048116, 1.051998],
    ],
    "deuteranopia": [
        [0.367322, 0.860646, -0.227968],
        [0.280085, 0.672501, 0.047413],
        [-0.011820, 0.042940, 0.968881],
    ],
    "tritanopia": [
        [1.255528, -0.076749, -0.178779],
        [-0.078411, 0.930809, 0.147602],
        [0.004733, 0.691367, 0.303900],
    ],
    "no colour blindness": np.eye(3),
    "greyscale": [[0.2126, 0.7152, 0.0722]] * 3,
}
IN_COLOUR = [eyes for eyes in MACHADO if eyes != "greyscale"]
XYZ = [
    [0.4124564, 0.3575761, 0.1804375],
    [0.2126729, 0.7151522, 0.0721750],
    [0.0193339, 0.1191920, 0.9503041],
]
WHITE = [0.95047, 1.0, 1.08883]

ROLES = ("query", "key", "value", "output")
LEVELS = 11  # 0, 0.1 … 1


def rgb(colour):
    return np.array([int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)])


def linear_light(colours):
    colours = np.asarray(colours)
    return np.where(colours <= 0.04045, colours / 12.92, ((colours + 0.055) / 1.055) ** 2.4)


def seen(colours, eyes):
    """Colours as these eyes see them. Shapes: (n, 3) sRGB from 0 to 1 → (n, 3) L*, a*, b*."""
    linear = np.clip(linear_light(colours) @ np.array(MACHADO[eyes]).T, 0, 1)
    parts = linear @ np.array(XYZ).T / WHITE
    f = np.where(parts > (6 / 29) ** 3, np.cbrt(parts), parts / (3 * (6 / 29) ** 2) + 4 / 29)
    return np.stack([116 * f[:, 1] - 16, 500 * (f[:, 0] - f[:, 1]), 200 * (f[:, 1] - f[:, 2])], axis=1)


def distance(one, other, eyes):
    a, b = seen([rgb(one), rgb(other)], eyes)
    return float(np.linalg.norm(a - b))


def steps(cmap, eyes):
    """How far each level of a scale is from the next."""
    levels = matplotlib.colormaps[cmap](np.linspace(0, 1, LEVELS))[:, :3]
    return np.linalg.norm(np.diff(seen(levels, eyes), axis=0), axis=1)


def lightness(cmap, eyes):
    return seen(matplotlib.colormaps[cmap](np.linspace(0, 1, LEVELS))[:, :3], eyes)[:, 0]


@pytest.mark.parametrize("eyes", IN_COLOUR)
def test_query_key_value_and_output_stay_apart(eyes):
    for one, other in itertools.combinations(ROLES, 2):
        assert distance(style.COLOURS[one], style.COLOURS[other], eyes) >= 15, (one, other)


@pytest.mark.parametrize("eyes", IN_COLOUR)
def test_what_is_lit_stays_apart_from_every_role_and_from_every_head_but_the_last(eyes):
    for colour in [*(style.COLOURS[role] for role in ROLES), *style.HEAD_COLOURS[:-1]]:
        assert distance(style.COLOURS["lit"], colour, eyes) >= 20, colour


@pytest.mark.parametrize("eyes", IN_COLOUR)
def test_heads_stay_apart(eyes):
    for one, other in itertools.combinations(style.HEAD_COLOURS, 2):
        assert distance(one, other, eyes) >= 10, (one, other)


@pytest.mark.parametrize("eyes", MACHADO)
def test_a_head_stays_apart_from_the_next_one_in_grey_too(eyes):
    for one, other in itertools.pairwise([*style.HEAD_COLOURS, style.HEAD_COLOURS[0]]):
        assert distance(one, other, eyes) >= 5, (one, other)


@pytest.mark.parametrize("eyes", MACHADO)
@pytest.mark.parametrize("cmap", sorted(set(style.CMAPS.values())))
def test_neighbouring_levels_of_a_scale_stay_apart(cmap, eyes):
    assert steps(cmap, eyes).min() >= 2.5


@pytest.mark.parametrize("eyes", MACHADO)
def test_weights_grow_darker_at_every_level(eyes):
    assert (np.diff(lightness(style.WEIGHT_CMAP, eyes)) < -2).all()


@pytest.mark.parametrize("eyes", MACHADO)
@pytest.mark.parametrize("cmap", [style.SCORE_CMAP, style.VECTOR_CMAP])
def test_scales_with_two_sides_grow_darker_from_their_middle(cmap, eyes):
    light = np.diff(lightness(cmap, eyes))
    assert (light[: LEVELS // 2] > 2).all() and (light[LEVELS // 2 :] < -2).all()


@pytest.mark.parametrize("eyes", IN_COLOUR)
@pytest.mark.parametrize("cmap", [style.SCORE_CMAP, style.VECTOR_CMAP])
def test_the_two_sides_of_a_scale_stay_apart(cmap, eyes):
    levels = seen(matplotlib.colormaps[cmap](np.linspace(0, 1, LEVELS))[:, :3], eyes)
    sides = np.linalg.norm(levels - levels[::-1], axis=1)[: LEVELS // 2]
    assert sides.min() >= 10, sides


def test_a_cell_that_may_attend_is_lighter_than_a_masked_one_in_grey():
    may, masked = (style.COLOURS[name] for name in ("may attend", "masked"))
    for eyes in MACHADO:
        assert distance(may, masked, eyes) >= 20


# --- numbers in the cells of a heatmap ------------------------------------------------------------------

LEAST = 3.98  # white or ink on the middle tone that suits both equally badly


@pytest.mark.parametrize("kind", style.CMAPS)
def test_every_number_in_a_cell_is_white_or_ink_whichever_is_easier_to_read(kind):
    values = torch.linspace(0 if kind == "weights" else -1, 1, 64).reshape(8, 8)
    check_numbers(heatmap(values, kind=kind, limit=1), style.CMAPS[kind], values, kind != "weights")


def test_every_accuracy_is_readable_in_its_cell():
    values = torch.linspace(0, 1, 64).reshape(8, 8)
    check_numbers(pairs_picture(values, list("abcdefgh")), "cividis", values)


def check_numbers(picture, cmap, values, two_sides=False):
    texts = [text for text in picture.figure.axes[0].texts if text.get_text()]
    assert len(texts) == 64
    for text, value in zip(texts, values.flatten().tolist(), strict=True):
        ground = matplotlib.colormaps[cmap]((value + 1) / 2 if two_sides else value)[:3]
        seen_on = {colour: contrast(rgb(colour), ground) for colour in ("#FFFFFF", style.COLOURS["ink"])}
        assert seen_on[text.get_color()] == max(seen_on.values()) >= LEAST, (text, value)


# --- tables on a light and on a dark page ---------------------------------------------------------------

# JupyterLab's own colours of text and page, light and dark: of its theme files, and read off in its window.
PAGES = {"light": ((0, 0, 0, 0.87), (1, 1, 1)), "dark": ((1, 1, 1, 1), (17 / 255, 17 / 255, 17 / 255))}


def over(colour, opacity, ground):
    return tuple(opacity * part + (1 - opacity) * below for part, below in zip(colour, ground, strict=True))


def contrast(one, other):
    """The contrast of WCAG 2.2: 1 is none, 4.5 is enough to read."""
    dark, bright = sorted(float(linear_light(colour) @ [0.2126, 0.7152, 0.0722]) for colour in (one, other))
    return (bright + 0.05) / (dark + 0.05)


def grounds_of_cells(html):
    """Every colour that stands behind numbers in a table: (rgb, opacity)."""
    found = re.findall(r"rgba\((\d+),(\d+),(\d+),([\d.]+)\)", re.sub(r"border:[^;]*;", "", html))
    return [(tuple(int(part) / 255 for part in parts), float(opacity)) for *parts, opacity in found]


@pytest.mark.parametrize("theme", PAGES)
@pytest.mark.parametrize("colour", [*style.COLOURS.values(), *style.HEAD_COLOURS])
def test_numbers_in_tables_are_readable_in_both_themes(colour, theme):
    mask = torch.tensor([[True, False], [True, True]])
    table = matrix_table(torch.ones(2, 2), mask=mask, colour=colour, highlight={"rows": [1]})
    (*text, opacity), page = PAGES[theme]
    grounds = grounds_of_cells(table.html)
    assert len(grounds) >= 4  # two lit cells, two stripes of the masked one
    for ground in [page, *(over(behind, tint, page) for behind, tint in grounds)]:
        assert contrast(over(text, opacity, ground), ground) >= 4.5


def test_a_solid_ground_would_be_refused():
    (*text, _), _ = PAGES["dark"]
    assert contrast(text, rgb(style.COLOURS["lit"])) < 4.5
    assert contrast((0, 0, 0), (1, 1, 1)) == pytest.approx(21)


# --- the measure itself ---------------------------------------------------------------------------------


def test_red_and_green_of_one_lightness_are_confused_as_the_model_says():
    red, green = "#C25A3F", "#7C7C22"
    assert distance(red, green, "no colour blindness") > 40
    assert distance(red, green, "deuteranopia") < 20
    assert distance("#0000FF", "#008000", "deuteranopia") > 60


def test_blue_and_green_are_confused_without_blue_cones():
    blue, green = "#0088A0", "#009E73"
    assert distance(blue, green, "tritanopia") < distance(blue, green, "no colour blindness") / 2


@pytest.mark.parametrize("eyes", MACHADO)
def test_white_stays_white_and_black_stays_black(eyes):
    white, black = seen([[1, 1, 1], [0, 0, 0]], eyes)
    assert np.allclose(white, [100, 0, 0], atol=0.5) and np.allclose(black, 0, atol=0.5)


def test_a_rainbow_would_be_refused():
    assert not (np.diff(lightness("jet", "greyscale")) < 0).all()
    assert steps("Set1", "greyscale").min() < 2.5

"""The numbers painted into live heatmaps are written as everywhere else in the course."""

import matplotlib
import numpy as np
import pytest
from matplotlib.colors import to_hex
from matplotlib.transforms import Bbox

from mha_helpers import style
from mha_helpers.heatmap_cells import HeatmapCells


def numbers(values, decimals, width=60, height=20):
    """Return the painted numbers of one row of values, cells ``width`` pixels wide."""
    cells = HeatmapCells(Bbox([[0, 0], [1, 1]]), (-10, 10, "PuOr_r"), decimals)
    cells.values = np.ma.masked_invalid(np.array([values], dtype=float))
    colours = matplotlib.colormaps["PuOr_r"](np.full((1, len(values)), 0.5), bytes=True)
    return cells._numbers(height, width * len(values), colours)


def ink(pixels):
    """Return how many columns of pixels a number takes."""
    return int((pixels[..., 3] > 0).any(axis=0).sum())


@pytest.mark.parametrize("decimals", [1, 2])
def test_zero_has_no_sign(decimals):
    assert np.array_equal(numbers([-0.001], decimals), numbers([0.001], decimals))
    assert not np.array_equal(numbers([-0.2], decimals), numbers([0.2], decimals))


def test_a_negative_number_has_a_minus_sign_and_no_hyphen_where_there_is_room():
    wide, narrow = numbers([-1.5], 1), numbers([-1.5], 1, width=24)
    assert ink(wide) - ink(numbers([1.5], 1)) >= 8 > ink(narrow) - ink(numbers([1.5], 1)) >= 4


def test_all_numbers_have_the_same_sign_as_the_widest():
    both = numbers([-1.5, -10.5], 1, width=30)
    assert np.array_equal(both[:, :30], numbers([-1.5, -10.5, 0], 1, width=30)[:, :30])
    assert np.array_equal(both[:, :30], numbers([-1.5], 1, width=30))  # in another heatmap of this scale, too
    assert ink(both[:, :30]) < ink(numbers([-1.5], 1)) and ink(both[:, 30:]) > 0


def test_what_is_masked_has_no_number():
    assert not numbers([np.nan, -np.inf], 1).any()


def test_a_number_that_does_not_fit_is_left_out_and_the_others_stay():
    three = numbers([1.0, -1000000.0, 2.0], 1, width=30)
    assert [ink(three[:, 30 * cell : 30 * cell + 30]) > 0 for cell in range(3)] == [True, False, True]
    assert not numbers([1.0], 1, height=6).any()  # wide enough, and not high enough
    assert not numbers([1.0], 1, width=12).any()
    exact = numbers([1.0], 1, width=60)
    rows, columns = (np.flatnonzero((exact[..., 3] > 0).any(axis=axis)) for axis in (1, 0))
    assert rows[-1] - rows[0] < 20 and columns[-1] - columns[0] < 60


@pytest.mark.parametrize("cmap", sorted(set(style.CMAPS.values())))
def test_numbers_are_readable_on_every_tone(cmap):
    cells = HeatmapCells(Bbox([[0, 0], [1, 1]]), (0, 1, cmap), 2)
    cells.values = np.ma.masked_invalid(np.linspace(0, 1, 101)[None])
    colours = matplotlib.colormaps[cmap](cells.values, bytes=True)
    pixels = cells._numbers(20, 60 * 101, colours)
    for place, ground in enumerate(colours[0]):
        number = pixels[:, 60 * place : 60 * place + 60].reshape(-1, 4)
        (letters,) = {tuple(pixel[:3] / 255) for pixel in number if pixel[3]}
        assert style.contrast(to_hex(letters), to_hex(ground[:3] / 255)) >= 3.9, place

"""A learner's own matplotlib style changes no picture of the course, and a picture changes no style."""

import io

import matplotlib.style
import numpy
import pytest
import seaborn
from looks import NAMES, pictures
from PIL import Image

from mha_helpers import style
from mha_helpers.training_view import TrainingView

LEARNERS = [
    seaborn.axes_style("darkgrid"),
    seaborn.plotting_context("talk"),
    "dark_background",
    {"figure.constrained_layout.use": True, "axes.grid": True, "hatch.linewidth": 4, "font.size": 20},
    {"text.hinting": "no_hinting", "patch.force_edgecolor": True, "axes.unicode_minus": False},
]


def pixels(png):
    return numpy.asarray(Image.open(io.BytesIO(png)).convert("RGB"))


@pytest.mark.parametrize("drawn", NAMES)
def test_a_picture_is_the_same_in_every_style(drawn):
    plain = pictures(drawn)
    with matplotlib.style.context(LEARNERS):
        styled = pictures(drawn)
    for (name, before, _), (_, after, _) in zip(plain, styled, strict=True):
        assert numpy.array_equal(pixels(before), pixels(after)), name


def test_the_curve_of_a_training_is_the_same_in_every_style():
    def curve():
        view = TrainingView(10)
        view.show(0, 0.1, 0.2)
        view.show(10, 0.8, 0.9)
        return bytes(view.image.value)

    plain = curve()
    with matplotlib.style.context(LEARNERS):
        assert numpy.array_equal(pixels(curve()), pixels(plain))


def test_the_learners_own_settings_are_there_afterwards():
    with matplotlib.style.context(LEARNERS):
        before = dict(matplotlib.rcParams)
        with style.drawing():
            assert matplotlib.rcParams["figure.facecolor"] == "white"
        pictures("attention_explorer")
        assert dict(matplotlib.rcParams) == before

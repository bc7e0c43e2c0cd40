"""The shapes explorer over its whole grid: the lit number, its place in memory, and the bytes."""

import itertools
import warnings

import pytest
import torch

from mha_helpers import shapes_explorer
from mha_helpers.explorers.e01_inputs_and_shapes import details


@pytest.fixture(scope="module")
def panel():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        yield shapes_explorer()


@pytest.mark.parametrize("batch, n, d_model", list(itertools.product([1, 2, 3, 4], [1, 3, 6], [1, 5, 8])))
def test_every_shape(panel, batch, n, d_model):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        panel.set(batch=batch, n=n, d_model=d_model, sentence=0, token=0, feature=0)
        panel.set(sentence=batch - 1, token=n - 1, feature=d_model - 1)
    state = panel.state()
    assert state["x"].shape == (batch, n, d_model)
    assert state["selected"] == (batch - 1, n - 1, d_model - 1)
    assert state["place"] == state["numbers"] - 1  # the last number stands last
    assert panel.message() == ""
    b, t, d = state["selected"]
    assert state["x"].flatten()[state["place"]] == state["x"][b, t, d]
    assert f"x[{b}, {t}, {d}]" in panel.description()


def test_the_place_counts_features_first(panel):
    panel.set(batch=2, n=3, d_model=6, sentence=1, token=2, feature=3)
    assert panel.state()["place"] == 1 * 18 + 2 * 6 + 3
    assert "33 of the 36 numbers come before it" in panel.description()
    panel.set(sentence=0, token=0, feature=1)
    assert "1 of the 36 numbers comes before it" in panel.description()
    panel.set(batch=1, n=1, d_model=1)
    assert "0 of the 1 number come before it" in panel.description()
    assert "= 1 number</td>" in details(panel.state())


@pytest.mark.parametrize("dtype, size", [("float16", 2), ("float32", 4), ("float64", 8)])
def test_bytes(panel, dtype, size):
    panel.set(batch=2, n=3, d_model=6, dtype=dtype)
    state = panel.state()
    assert state["x"].dtype == getattr(torch, dtype)
    assert state["bytes"] == 36 * size == state["x"].numel() * state["x"].element_size()


def test_a_larger_block_keeps_the_numbers_of_a_smaller_one(panel):
    panel.set(batch=2, n=3, d_model=4, dtype="float32")
    small = panel.state()["x"]
    panel.set(batch=3, n=5, d_model=8)
    assert torch.equal(panel.state()["x"][:2, :3, :4], small)


def test_each_control_changes_the_picture(panel):
    panel.set(batch=2, n=3, d_model=6, sentence=0, token=0, feature=0)
    for name, value in {"feature": 1, "token": 1, "sentence": 1, "d_model": 7, "n": 4, "batch": 3}.items():
        before = panel.png()
        panel.controls[name].value = value
        assert panel.png() != before, name


def test_a_coordinate_that_is_gone_moves_inside(panel):
    panel.set(batch=4, n=6, d_model=8)
    panel.set(sentence=3, token=5, feature=7)
    panel.set(batch=1, n=1, d_model=1)
    assert panel.state()["selected"] == (0, 0, 0)

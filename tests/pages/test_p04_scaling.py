"""The explorer of page 04: its spreads follow √d_k, and its right scale keeps them at 1."""

import math

import pytest
import torch

from mha_helpers.pages.p04_scaling import scaling_explorer


@pytest.mark.parametrize(("scale", "expected"), [("none", math.sqrt), ("÷ √d_k", lambda d_k: 1)])
def test_the_spread_follows_the_root_of_d_k(scale, expected):
    panel = scaling_explorer()
    for d_k in (4, 64, 512):
        panel.set(d_k=d_k, scale=scale)
        assert float(panel.state()["spread"]) == pytest.approx(expected(d_k), rel=0.05)


def test_a_large_head_without_scale_is_saturated():
    panel = scaling_explorer()
    panel.set(d_k=512)
    assert float(panel.state()["weights"].max(dim=-1).values.mean()) > 0.9
    panel.set(scale="÷ d_k")
    assert torch.allclose(panel.state()["weights"], torch.tensor(1 / 16), atol=0.03)


def test_the_end_bars_say_that_they_hold_what_lies_beyond():
    panel = scaling_explorer()
    panel.set(d_k=512)
    above = (panel.state()["scaled"] >= 58).float().mean()
    assert f"above 58: {above:.1%} of the scores" in panel.svg()
    assert "58 to 60" not in panel.svg()

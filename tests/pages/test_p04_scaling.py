"""The explorer of page 04: its spreads follow √d_k, and its right scale keeps them at 1."""

import math

import pytest

from mha_course.p04_scaling import scaling_explorer


@pytest.mark.parametrize(("scale", "expected"), [("none", math.sqrt), ("÷ √d_k", lambda d_k: 1)])
def test_the_spread_follows_the_root_of_d_k(scale, expected):
    panel = scaling_explorer()
    for d_k in (4, 64, 512):
        panel.set(d_k=d_k, scale=scale)
        assert float(panel.state()["spread"]) == pytest.approx(expected(d_k), rel=0.05)

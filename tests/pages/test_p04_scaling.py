"""The explorer of page 04: its spreads follow √d_k, and its right scale keeps them at 1."""

import math

import pytest
import torch

from mha_course.p04_scaling import scaling_explorer
from mha_course.p04_scaling.explorer import QUERIES_AND_KEYS


@pytest.mark.parametrize(("scale", "expected"), [("none", math.sqrt), ("÷ √d_k", lambda d_k: 1)])
def test_the_spread_follows_the_root_of_d_k(scale, expected):
    panel = scaling_explorer()
    for d_k in (4, 64, 512):
        panel.set(d_k=d_k, scale=scale)
        assert float(panel.state()["spread"]) == pytest.approx(expected(d_k), rel=0.05)


def test_the_heatmap_is_the_attention_of_the_first_sentence_and_the_end_bars_say_what_they_hold():
    panel = scaling_explorer()
    panel.set(d_k=512)
    q, k = QUERIES_AND_KEYS[:, 0]
    expected = torch.softmax(q @ k.T, dim=-1)
    torch.testing.assert_close(panel.state()["weights"][0], expected)
    panel.click(0, 4, 1)
    assert panel.state()["chosen"] == (4, 1)
    beyond = (QUERIES_AND_KEYS[0] @ QUERIES_AND_KEYS[1].mT).abs() > 60
    assert f"{beyond.float().mean():.0%} lie beyond ±60" in panel.description()
    panel.set(scale="÷ √d_k")
    assert "beyond" not in panel.description()

"""The static pictures of notebook 04: what is drawn is what was handed over."""

import io
import math

import numpy as np
import pytest
import torch
from matplotlib.patches import Rectangle
from PIL import Image

from mha_helpers import fixed_matrix
from mha_helpers.figures.f04_scaling import rows_picture, spread_picture

pytestmark = pytest.mark.usefixtures("warnings_are_errors")


def edges(picture):
    image = np.asarray(Image.open(io.BytesIO(picture.png())).convert("RGB")).astype(int)
    return np.concatenate([image[0], image[-1], image[:, 0], image[:, -1]])


@pytest.fixture
def scores():
    q, k = fixed_matrix("q", 2000, 512), fixed_matrix("k", 2000, 512)
    return {d_k: (q[:, :d_k] * k[:, :d_k]).sum(dim=-1) for d_k in (4, 16, 64, 512)}


def test_the_dots_are_the_measured_spreads(scores):
    picture = spread_picture(scores)
    lines = picture.figure.axes[1].lines
    raw, scaled = [line for line in lines if line.get_marker() in ("o", "s")]
    expected = {d_k: values.std().item() for d_k, values in scores.items()}
    assert list(raw.get_xdata()) == list(expected)
    assert raw.get_ydata() == pytest.approx(list(expected.values()), rel=1e-5)
    assert scaled.get_ydata() == pytest.approx([s / math.sqrt(d) for d, s in expected.items()], rel=1e-5)
    for d_k, spread in expected.items():
        assert f"d_k {d_k}: {spread:.2f} (√d_k = {math.sqrt(d_k):.2f})" in picture.alt


def test_the_line_is_the_root(scores):
    line = spread_picture(scores).figure.axes[1].lines[0]
    assert np.asarray(line.get_ydata()) == pytest.approx(np.sqrt(line.get_xdata()), rel=1e-5)


def test_the_histograms_grow_wider(scores):
    histograms = spread_picture(scores).figure.axes[0].patches
    widths = [int((np.asarray(h.get_data().values) - h.get_data().baseline > 0.1).sum()) for h in histograms]
    assert len(widths) == 3
    assert widths == sorted(widths) and widths[0] < widths[1] < widths[2]


def test_the_histograms_are_equally_tall_in_one_grey_and_the_title_says_so(scores):
    figure = spread_picture(scores).figure
    left, right = figure.axes
    tops = [max(h.get_data().values) - h.get_data().baseline for h in left.patches]
    assert tops == pytest.approx([tops[0]] * 3)
    assert len({h.get_facecolor() for h in left.patches}) == 1
    assert left.get_title() == "scores, not scaled (each drawn equally tall)"
    title, beside = left.title.get_window_extent(), right.get_tightbbox()
    assert title.x0 >= 0 and title.x1 < beside.x0


def test_two_d_k_are_too_few():
    with pytest.raises(ValueError, match="at least 3 values of d_k, got 2"):
        spread_picture({1: torch.ones(3), 2: torch.ones(3)})


def test_the_bars_are_the_weights():
    weights = torch.softmax(fixed_matrix("rows", 6, 5), dim=-1).view(2, 3, 5)
    picture = rows_picture(weights, ["no scale", "÷ √d_k"], ["a", "b", "c"])
    for ax, row in zip(picture.figure.axes, weights.flatten(0, 1), strict=True):
        bars = [patch.get_height() for patch in ax.patches if isinstance(patch, Rectangle)]
        assert bars == pytest.approx(row.tolist())
        assert [text.get_text() for text in ax.texts] == [f"{row.max():.2f}"]
    largest = weights[1, 2]
    expected = f"÷ √d_k, c: the largest is {largest.max():.2f}, on key {int(largest.argmax()) + 1}."
    assert expected in picture.alt


def test_names_must_fit():
    with pytest.raises(ValueError, match=r"\(1, 2, n_k\) for these names, got \(1, 1, 4\)"):
        rows_picture(torch.full((1, 1, 4), 0.25), ["a"], ["b", "c"])


def test_nothing_is_cut_at_the_edges(scores):
    assert (edges(spread_picture(scores)) > 240).all()
    assert (
        edges(rows_picture(torch.eye(16)[:6].view(2, 3, 16), ["no scale", "÷ √d_k"], ["a", "b", "c"])) > 240
    ).all()


@pytest.mark.parametrize("names", [["no scale"], ["divided by d_k and by nothing else", "÷ √d_k"]])
def test_one_row_is_not_cut_and_a_long_name_has_its_place(names):
    picture = rows_picture(torch.full((len(names), 1, 2), 0.5), names, ["d_k = 4"])
    assert (edges(picture) > 240).all()
    for name, ax in zip(picture.figure.texts, picture.figure.axes, strict=True):
        assert name.get_window_extent().x1 < ax.yaxis.label.get_window_extent().x0

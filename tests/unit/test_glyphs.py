"""Titles, axes, features and names that no installed font can draw: no boxes and no warning."""

import warnings

import pytest
import torch

from mha_helpers import causal_mask, head_heatmaps, heatmap, style
from mha_helpers.figures.f04_scaling import rows_picture
from mha_helpers.figures.f05_causal_mask import mask_maps
from mha_helpers.figures.f07_weighted_values import value_hull
from mha_helpers.figures.f09_concat_and_output import contribution_bars
from mha_helpers.figures.f10_trained_heads import pairs_picture
from mha_helpers.head_grid import HeadGrid
from mha_helpers.renderer import Renderer

LACKING = next(character for character in "🐈𓀀\U0001fae8" if not style.drawable(character))
LEGEND = f"by number: <b>1</b> {LACKING}"


@pytest.fixture(autouse=True)
def a_missing_glyph_is_an_error():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        yield


@pytest.mark.parametrize(
    "draw, legend",
    [
        (lambda: heatmap(torch.eye(2), title=f"<{LACKING}>"), f"<p><b>&lt;{LACKING}&gt;</b></p>"),
        (lambda: heatmap(torch.eye(2), axes=(LACKING, "key")), ""),
        (lambda: head_heatmaps(torch.eye(2)[None], head_names=[LACKING]), ""),
        (lambda: contribution_bars(torch.ones(1, 1, 1), ["cat"], [LACKING]), f"<p>Features {LEGEND}</p>"),
        (lambda: contribution_bars(torch.ones(1, 1, 1), ["cat"], None, [LACKING]), ""),
        (lambda: mask_maps({LACKING: causal_mask(2)}, ["a", "b"]), f"<p>Masks {LEGEND}</p>"),
        (lambda: mask_maps({"a": causal_mask(2)}, ["a", "b"], axes=(LACKING, LACKING)), ""),
        (
            lambda: mask_maps({"a": causal_mask(2)}, ["a", "b"], words=(LACKING, "no")),
            f"<p>Cells {LEGEND} · <b>2</b> no</p>",
        ),
        (lambda: rows_picture(torch.ones(1, 1, 1), [LACKING], ["a"]), f"<p>Rows {LEGEND}</p>"),
        (lambda: rows_picture(torch.ones(1, 1, 1), ["a"], [LACKING]), f"<p>Columns {LEGEND}</p>"),
        (
            lambda: value_hull(torch.eye(2), ["a", "b"], torch.eye(2)[:1], [LACKING]),
            f"<p>Outputs {LEGEND}</p>",
        ),
        (lambda: pairs_picture(torch.eye(1), [LACKING]), f"<p>Heads {LEGEND}</p>"),
    ],
)
def test_no_glyph_is_missing_from_a_picture(draw, legend):
    picture = draw()
    picture.png()
    assert picture.legend_html == legend
    assert LACKING in picture.alt or not legend  # the words keep what the picture cannot show


def test_no_glyph_is_missing_from_the_names_of_live_heads():
    grid, state = HeadGrid(), {"weights": torch.eye(2)[None], "head_names": [LACKING]}
    assert Renderer(grid).png(state)
    texts = [text.get_text() for text in grid.draw(state)[0].texts]
    assert "head 1" in texts and LACKING not in texts


def test_what_can_be_drawn_is_left_as_it_is():
    picture = heatmap(torch.eye(2), title="two\nlines", axes=("row", "column"))
    (ax, _) = picture.figure.axes
    assert (ax.get_ylabel(), ax.get_xlabel(), picture.legend_html) == ("row", "column", "")
    assert picture.figure.texts[0].get_text().split() == ["two", "lines"]
    long = "a feature with a long name"
    assert style.drawable_names([long], "Features") == ([long], "")

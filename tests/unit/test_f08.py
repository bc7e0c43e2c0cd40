"""The tracking picture: labels that lead back to their place, and nothing cut off."""

import io

import numpy as np
import pytest
import torch
from PIL import Image

from mha_helpers import split_heads
from mha_helpers.figures.f08_splitting_heads import (
    Stage,
    Tracks,
    label_text,
    misplaced,
    number_labels,
    tracking_picture,
)

TOKENS = ["cat", "eats", "fish"]


def stages():
    labels = number_labels(3, 3, 2)
    return [
        ("q", labels, "", "token"),
        ("viewed", labels.view(3, 3, 2), "token", "head"),
        ("heads", split_heads(labels, 3), "head", "token"),
        ("wrong", labels.view(3, 3, 2), "head", "token"),
    ]


def test_labels_name_token_head_and_place():
    labels = number_labels(3, num_heads=2, d_k=4)
    assert labels.shape == (3, 8)
    for t in range(3):
        for column in range(8):
            assert label_text(labels[t, column]) == f"t{t} h{column // 4} d{column % 4}"


@pytest.mark.parametrize(
    ("sizes", "name"), [((0, 1, 1), "n"), ((11, 1, 1), "n"), ((1, 11, 1), "num_heads"), ((1, 1, 11), "d_k")]
)
def test_labels_have_one_digit_each(sizes, name):
    with pytest.raises(ValueError, match=f"^{name} must be from 1 to 10"):
        number_labels(*sizes)


def test_misplaced_knows_right_from_wrong():
    labels = number_labels(4, 3, 2)
    assert not misplaced(split_heads(labels, 3)).any()
    assert misplaced(labels.view(3, 4, 2)).sum() == 20
    assert misplaced(split_heads(labels, 3).flip(0)).sum() == 16  # the middle head stays where it is


def test_the_words_tell_what_the_picture_shows():
    lines = tracking_picture(stages(), tokens=TOKENS).alt.splitlines()
    assert lines[2].startswith(
        "heads, (3, 3, 2). All 18 numbers are where they belong."
        " head h0, t0 cat: t0 h0 d0, t0 h0 d1; head h0, t1 eats: t1 h0"
    )
    assert lines[3].startswith(
        "wrong, (3, 3, 2). Scrambled: 12 of 18 numbers are in a wrong place. The shape is right."
        " head h0, t0 cat: t0 h0 d0, t0 h0 d1; head h0, t1 eats: t0 h1"
    )
    assert lines[1].startswith(
        "viewed, (3, 3, 2). t0 cat, head h0: t0 h0 d0, t0 h0 d1; t0 cat, head h1: t0 h1"
    )


def test_the_words_say_where_the_framed_numbers_are():
    lines = tracking_picture(stages(), follow=1, tokens=TOKENS).alt.splitlines()
    assert "belong. The numbers of t1 eats, framed, are in h0, h1 and h2. head h0" in lines[2]
    assert "right. The numbers of t1 eats, framed, are in h1. head h0" in lines[3]
    assert "framed" not in lines[0] + lines[1]


def test_the_frame_holds_every_number_of_the_token():
    outline = (tracks := Tracks([Stage(*stage) for stage in stages()])).outlines()[0]
    outline.follow(1)
    frames = [path.vertices.min(axis=0) for path in outline.get_paths()]
    cells = [(left, top) for _, label, left, top in tracks.places if label // 100 == 1]
    assert len(cells) == 4 * 6
    assert np.allclose(sorted(map(tuple, frames)), sorted((left + 2, top + 2) for left, top in cells))


def test_cells_have_the_colour_of_their_head():
    tracks = Tracks([Stage(*stages()[3])])
    colours = tracks.ax.collections[0].get_facecolors()
    heads = [label // 10 % 10 for _, label, _, _ in tracks.places]
    assert {len(set(map(tuple, colours[np.array(heads) == head]))) for head in range(3)} == {1}
    assert len(set(map(tuple, colours))) == 3


@pytest.mark.parametrize("follow", [None, 0, 2])
def test_nothing_is_cut_at_the_edges(follow):
    many = number_labels(5, 8, 1)
    wide = [Stage("q", many), Stage("heads", split_heads(many, 8), "head", note="a note below the heads")]
    pictures = [tracking_picture(stages(), follow, tokens) for tokens in (TOKENS, ["grandmother"] * 3)]
    for picture in (*pictures, tracking_picture(wide, follow)):
        ink = np.asarray(Image.open(io.BytesIO(picture.png())).convert("L")) < 250
        assert ink.any()
        for edge in (ink[:2], ink[-2:], ink[:, :2], ink[:, -2:]):
            assert not edge.any()
        assert picture.width <= 880


def test_names_without_a_font_become_numbers():
    picture = tracking_picture(stages(), tokens=["\U0001f431", "吃", "fish"])
    assert "Tokens by number" in picture.legend_html
    assert "\U0001f431" in picture.alt


def test_labels_of_other_shapes_are_refused():
    with pytest.raises(ValueError, match=r"must be \(rows, columns\) or"):
        tracking_picture([("q", torch.zeros(2, 2, 2, 2, dtype=torch.int64), "", "token")])

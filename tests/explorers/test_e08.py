"""The splitting explorer: what it shows is what split_heads does, and the mistake is the mistake."""

import io
import itertools
import re
import warnings

import ipywidgets as widgets
import numpy as np
import pytest
import torch
from PIL import Image

from mha_helpers import split_heads, splitting_explorer
from mha_helpers.explorers.e08_splitting_heads import D_MODEL, HEADS, MOST_TOKENS


@pytest.fixture(scope="module")
def panel():
    panel = splitting_explorer()
    yield panel
    panel.close()


def pixels(panel):
    return np.asarray(Image.open(io.BytesIO(panel.png())).convert("RGB"))


def test_sizes_stand_above_what_is_done_with_them(panel):
    rows = [child.children for child in panel.children if isinstance(child, widgets.HBox)]
    names = {control: name for name, control in panel.controls.items()}
    assert [[names[control] for control in row] for row in rows] == [
        ["heads", "tokens"],
        ["follow", "transpose"],
    ]


@pytest.mark.parametrize("heads", HEADS)
def test_every_state(panel, heads):
    for tokens, transpose in itertools.product(range(1, MOST_TOKENS + 1), (True, False)):
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            panel.set(heads=heads, tokens=tokens, transpose=transpose)
        state = panel.state()
        assert not panel.message()
        assert state["heads"].shape == state["cut"].shape == (heads, tokens, D_MODEL // heads)
        assert torch.equal(state["q"], state["x"] @ state["w_q"])
        if transpose:
            assert torch.equal(state["heads"], split_heads(state["q"], heads))
        else:
            assert torch.equal(state["heads"].flatten(), state["q"].flatten())
        # A label leads to the number it stands for.
        for place in itertools.product(*map(range, state["cut"].shape)):
            token, head, d = (int(digit) for digit in f"{state['cut'][place]:03d}")
            assert state["heads"][place] == state["q"][token, head * D_MODEL // heads + d]
            assert state["misplaced"][place] == ((head, token, d) != place)
        scrambles = not transpose and heads > 1 and tokens > 1
        assert bool(state["misplaced"].any()) == scrambles
        assert ("Scrambled" in panel.description()) == scrambles


def test_the_same_w_q_whatever_the_heads(panel):
    found = []
    for heads in HEADS:
        panel.set(heads=heads, tokens=3, transpose=True)
        found.append((panel.state()["w_q"], panel.state()["q"]))
    for w_q, q in found[1:]:
        assert torch.equal(w_q, found[0][0])
        assert torch.equal(q, found[0][1])


def test_what_try_this_1_promises(panel):
    """Parameters and multiply-adds stay; the scores to keep grow with the heads."""
    results = {}
    for heads in HEADS:
        panel.set(heads=heads, tokens=3, transpose=True)
        table = panel.children[-1].value
        results[heads] = [int(number) for number in re.findall(r"= (\d+)</td>", table)]
    assert results == {1: [8, 64, 72, 9], 2: [4, 64, 72, 18], 4: [2, 64, 72, 36], 8: [1, 64, 72, 72]}


def test_what_try_this_2_promises(panel):
    panel.set(heads=4, tokens=3, follow=1, transpose=True)
    assert panel.description().endswith("The numbers of t1 are in h0, h1, h2 and h3.")
    panel.controls["transpose"].value = False
    assert "20 of 24 numbers are in a wrong place" in panel.description()
    assert panel.description().endswith("The numbers of t1 are in h1 and h2.")


def test_what_try_this_3_promises(panel):
    panel.set(heads=4, tokens=3, transpose=False)
    assert panel.state()["misplaced"].any()
    panel.set(heads=1)
    assert not panel.state()["misplaced"].any()
    panel.set(heads=4, tokens=1)
    assert not panel.state()["misplaced"].any()


def test_the_frame_follows_the_token(panel):
    panel.set(heads=4, tokens=3, transpose=True, follow=0)
    first = pixels(panel)
    panel.controls["follow"].value = 2
    second = pixels(panel)
    assert first.shape == second.shape
    rows = (first != second).any(axis=(1, 2)).nonzero()[0]
    # In q and in the heads, the rows of t0 and t2 change; W_Q above them does not.
    assert rows.min() > first.shape[0] // 4
    panel.controls["follow"].value = 0
    assert (pixels(panel) == first).all()


def test_fewer_tokens_than_the_one_that_is_followed(panel):
    panel.set(tokens=5, follow=4, transpose=True)
    panel.controls["tokens"].value = 2
    assert panel.controls["follow"].value == panel.state()["follow"] == 1
    assert not panel.message()


def test_a_picture_that_fits_a_page(panel):
    for heads in HEADS:
        panel.set(heads=heads, tokens=MOST_TOKENS, transpose=False)
        assert pixels(panel).shape[1] <= 880


def test_one_token_alone_is_followed():
    assert splitting_explorer(tokens=1).controls["follow"].value == 0
    assert splitting_explorer(tokens=2).controls["follow"].value == 1
    with pytest.raises(ValueError, match="follow must be at most 0, got 1"):
        splitting_explorer(tokens=1, follow=1)

"""The values explorer: what is drawn and said is what attention computes."""

import io

import numpy as np
import pytest
import torch
from PIL import Image

from mha_helpers import golden_example, values_explorer
from mha_helpers.explorers.e07_weighted_values import KEYS, OWN, SWAPPED

TOKENS = golden_example().tokens


@pytest.fixture
def panel():
    panel = values_explorer()
    yield panel
    panel.close()


def pixels(panel):
    return np.asarray(Image.open(io.BytesIO(panel.png())).convert("RGB"))


@pytest.mark.parametrize("head", [1, 2, 3])
@pytest.mark.parametrize("query", TOKENS)
def test_untouched_sliders_give_the_golden_example(panel, head, query):
    panel.set(head=head, query=query)
    example = golden_example()
    trace = example.attention().trace(example.x)
    row, state = TOKENS.index(query), panel.state()
    assert torch.allclose(state["weights"], trace.weights[head - 1, row])
    assert torch.allclose(state["v"], trace.v[head - 1])
    assert torch.allclose(state["output"], trace.heads[head - 1, row], atol=1e-6)
    assert torch.allclose(state["contributions"].sum(dim=0), state["output"], atol=1e-6)
    assert "The output lies inside the hull." in panel.description()


def test_eats_takes_home_what_the_page_says(panel):
    assert panel.state()["output"].tolist() == pytest.approx([1.784, 1.865], abs=5e-4)
    assert "0.92 of cat (2, 2) gives (1.84, 1.84)" in panel.description()
    assert "0.919·2 + 0.027·0 + 0.054·(−1) ≈ 1.784" in panel._details_box.value


def test_what_try_this_1_promises(panel):
    start = panel.state()
    heights = []
    for added in (0.0, 2.0, 4.0, 6.0, 8.0):
        panel.controls["fish"].value = added
        assert panel.state()["outside"] == 0
        heights.append(panel.state()["weights"][2].item())
    assert heights == sorted(heights)
    assert panel.state()["output"].tolist() == pytest.approx([-1, 1], abs=0.05)
    assert panel.state()["output"][0] > -1
    panel.set(cat=8.0, eats=8.0, fish=8.0)  # the same to all: nothing moves
    assert torch.allclose(panel.state()["weights"], start["weights"])


def test_what_try_this_2_promises(panel):
    before = panel.state()
    panel.controls["values"].value = SWAPPED
    after = panel.state()
    assert torch.equal(before["weights"], after["weights"])
    assert torch.equal(after["v"], before["v"][[2, 1, 0]])
    assert not torch.allclose(before["output"], after["output"])
    assert ". V of cat and fish are swapped. Output of" in panel.description()


def test_what_try_this_3_promises(panel):
    panel.controls["total"].value = 1.3
    assert panel.state()["outside"] == pytest.approx(0.53, abs=0.01)
    assert "outside the hull, by 0.53" in panel.description()
    panel.controls["total"].value = 0.3
    assert panel.state()["outside"] == 0
    panel.controls["total"].value = 0.0
    assert panel.state()["output"].tolist() == [0, 0]
    assert panel.state()["outside"] == 0  # (0, 0) lies inside the triangle of head 1
    panel.set(head=2, total=0.3)
    assert panel.state()["outside"] > 0.1
    panel.set(total=1.3)
    assert panel.state()["outside"] > 0.1


def test_keys_in_place_of_values_leave_the_weights_alone(panel):
    before = panel.state()
    panel.controls["values"].value = KEYS
    assert torch.equal(panel.state()["weights"], before["weights"])
    assert panel.state()["output"].tolist() == pytest.approx([1.892, 0.135], abs=5e-4)
    assert "The keys are mixed, not the values." in panel.description()


@pytest.mark.parametrize("mixed", [OWN, SWAPPED, KEYS])
@pytest.mark.parametrize("head", [1, 2, 3])
def test_softmax_never_leaves_the_hull(panel, mixed, head):
    panel.set(values=mixed, head=head)
    for added in ((8, -8, 0), (-8, 8, 8), (0, 0, -8), (8, 8, 8)):
        panel.set(**dict(zip(TOKENS, map(float, added), strict=True)))
        assert panel.state()["outside"] == 0


@pytest.mark.parametrize("change", [{"head": 3}, {"query": "fish"}])
def test_another_row_starts_from_its_own_scores(panel, change):
    panel.controls["cat"].value = 3.0
    for name, value in change.items():
        panel.controls[name].value = value
    assert [panel.controls[token].value for token in TOKENS] == [0, 0, 0]
    panel.set(eats=2.0, values=KEYS)
    assert panel.controls["eats"].value == 2.0  # other values belong to the same row


def test_the_picture_follows_every_control(panel):
    changes = {
        "cat": -4.0,
        "eats": 3.0,
        "fish": 5.0,
        "total": 0.8,
        "values": SWAPPED,
        "query": "fish",
        "head": 2,
    }
    for name, value in changes.items():
        before = pixels(panel)
        panel.controls[name].value = value
        assert not np.array_equal(before, pixels(panel)), name
    assert len(panel._renderer._drawn) == 1  # no slider draws a new figure
    assert not panel.message()


@pytest.mark.parametrize("total", [0.0, 1.0, 1.5])
def test_nothing_is_drawn_over_the_edge(panel, total):
    for head in (1, 2, 3):
        panel.set(head=head, total=total, cat=8.0)
        frame = pixels(panel)
        for edge in (frame[:2], frame[-2:], frame[:, :2], frame[:, -2:]):
            assert (edge == 255).all()


def test_starting_elsewhere():
    panel = values_explorer(head=2, query="cat")
    assert (panel.state()["head"], panel.state()["query"]) == (2, "cat")
    panel.close()


def test_a_little_outside_is_not_called_0(panel):
    panel.controls["total"].value = 1.05
    assert 0 < panel.state()["outside"] < 0.005
    assert "The output lies outside the hull, by less than 0.01." in panel.description()
    panel.controls["total"].value = 1.3
    assert f"outside the hull, by {panel.state()['outside']:.2f}." in panel.description()


def test_a_slider_that_adds_to_a_score_says_so(panel):
    """On page 06 "score of cat" is the score itself; here all three start at 0, with unequal weights."""
    assert [panel.controls[token].value for token in TOKENS] == [0, 0, 0]
    for token in TOKENS:
        assert panel.controls[token].description == f"add to score of {token}"

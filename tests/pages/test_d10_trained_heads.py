"""The explorer of deeper/10: step, head, switch and letters move everything together."""

import pytest
import torch

from mha_course.d10_trained_heads import trained_explorer
from mha_course.models.tiny import as_numbers, trained_model


@pytest.fixture
def panel():
    return trained_explorer()


def test_it_shows_the_models_own_weights(panel):
    panel.controls["step"].value = 225
    _, weights = trained_model(step=225)(as_numbers("KQWMADZT" * 3)[None])
    assert torch.allclose(panel.state()["weights"], torch.cat(weights).flatten(0, 1), atol=1e-6)


def test_a_head_switched_off_loses_its_colour_and_layer_1_its_targets(panel):
    on, green = panel.state()["after a copy"][4:], "#2E8540"
    assert panel.svg().count(green) > 0 and on.min() > 0.7
    panel.controls["off"].value = True
    assert green not in panel.svg() and "head 0.2 is off" in panel.svg()
    assert panel.state()["accuracy"] < 0.2 and panel.state()["after a copy"][4:].max() < 0.2
    assert "Head 0.2 writes zeros" in panel.description()
    for head in range(4, 8):
        panel.set(head=head)
        assert panel.state()["accuracy"] > 0.95


def test_frames_are_where_the_layer_has_to_look(panel):
    previous, copied = [[i, i - 1] for i in range(1, 6)], [[3, 1], [4, 2], [5, 3]]
    looks_at = ((3, previous, "the previous letter"), (4, copied, "the letter after an earlier"))
    for head, framed, words in looks_at:
        panel.set(line="ABCABC", head=head)
        assert f"Framed: {words}" in panel.description()
        assert panel.state()["framed"].nonzero().tolist() == framed


def test_letters_that_can_be_known_are_counted(panel):
    panel.set(line="ABCABD")  # after the second A a copy tells B; after the second B it tells C, and D comes
    assert panel.state()["known"].tolist() == [False, False, False, True, False]
    panel.set(line="ABCDEF")
    assert "none can be known" in panel.description()


@pytest.mark.parametrize(("line", "words"), [("AB1", "A to Z"), ("A", "2 to 24"), ("A" * 25, "2 to 24")])
def test_a_bad_line_is_explained_and_the_picture_stays(panel, line, words):
    before = panel.svg()
    panel.controls["line"].value = line
    assert words in panel.message() and panel.svg() == before

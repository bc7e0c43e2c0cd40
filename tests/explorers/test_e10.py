"""The explorer of notebook 10: step, layer, head, sequence and switch move everything together."""

import pytest
import torch

from mha_helpers import trained_explorer
from mha_helpers.explorers.e10_trained_heads import heads_on
from mha_helpers.trained import as_numbers, checkpoint_steps, trained_model


@pytest.fixture(scope="module")
def panel():
    return trained_explorer()


@pytest.fixture(autouse=True)
def from_the_start(panel):
    panel.set(training="many distances", layer=2, head=1, off=False, sequence="KQWMADZT" * 3)
    panel.controls["step"].value = 1000
    assert panel.message() == ""


def test_state_is_the_models_own(panel):
    panel.controls["step"].value = 225
    state = panel.state()
    guesses, weights = trained_model(step=225)(as_numbers("KQWMADZT" * 3)[None])
    assert torch.allclose(state["weights"], torch.stack(weights)[:, 0], atol=1e-6)
    assert torch.allclose(state["guesses"], guesses[0], atol=1e-5)


def test_the_switches_are_true_but_for_the_heads_named():
    assert torch.equal(heads_on(None), torch.ones(2, 4, dtype=torch.bool))
    expected = torch.tensor([[True, True, False, True], [False, True, True, True]])
    assert torch.equal(heads_on((0, 2), None, (1, 0)), expected)


def test_accuracy_and_scores_move_with_the_step(panel):
    found = []
    for step in checkpoint_steps():
        panel.controls["step"].value = step
        state = panel.state()
        found.append((state["accuracies"]["held-out distances"], state["after a copy"][1].mean().item()))
        assert f"step {step}." in panel.description()
    assert found[0][0] < 0.1 and found[0][1] < 0.15
    assert found[-1][0] >= 0.99 and found[-1][1] >= 0.8


def test_every_control_changes_the_picture(panel):
    seen = {panel.png()}
    for name, value in (
        ("step", 200), ("layer", 1), ("head", 3), ("off", True), ("sequence", "ABCABCABC"),
        ("training", "distance 12 only"),
    ):  # fmt: skip
        panel.controls[name].value = value
        assert panel.message() == ""
        assert panel.png() not in seen, name
        seen.add(panel.png())


def test_switching_off_does_what_the_page_promises(panel):
    panel.set(layer=1, head=3, off=True)
    assert panel.state()["accuracies"]["held-out distances"] < 0.2
    assert "This head is off" in panel.description()
    for head in (1, 2, 3, 4):
        panel.set(layer=2, head=head, off=True)
        assert panel.state()["accuracies"]["held-out distances"] > 0.95


def test_scores_of_the_other_heads_are_measured_with_the_head_off(panel):
    panel.set(layer=1, head=3)
    on = panel.state()["after a copy"][1]
    panel.set(off=True)
    off = panel.state()["after a copy"][1]
    assert on.min() > 0.7 and off.max() < 0.2  # layer 2 has nothing to find
    panel.set(layer=2, head=1, off=False)
    assert "On held-out distances layer 2, head 1 puts weight" in panel.description()


def test_shortcut_looks_beside_the_right_places(panel):
    panel.controls["training"].value = "distance 12 only"
    state = panel.state()
    assert panel.controls["step"].value in checkpoint_steps("fixed")
    assert state["accuracies"]["distance 12"] >= 0.99 and state["accuracies"]["held-out distances"] < 0.2
    panel.controls["training"].value = "many distances"
    assert panel.controls["step"].value in checkpoint_steps("varying")


def test_known_letters_are_those_that_a_copy_tells(panel):
    panel.controls["sequence"].value = "ABCABD"
    # After the second A a copy tells B; after the second B it tells C, and D comes: nobody can know.
    assert panel.state()["known"].tolist() == [False, False, False, True, False]
    assert "In this sequence 1 of 1 letter that can be known is right." in panel.description()
    for sequence in ("ABCDEF", "ABACAD"):
        panel.controls["sequence"].value = sequence
        assert "no letter can be known: no pair of neighbours repeats." in panel.description()


@pytest.mark.parametrize(("sequence", "words"), [("AB1", "A to Z"), ("", "2 to 24"), ("A" * 25, "2 to 24")])
def test_a_bad_sequence_is_explained_and_the_picture_stays(panel, sequence, words):
    before = panel.png()
    panel.controls["sequence"].value = sequence
    assert words in panel.message() and panel.png() == before
    panel.controls["sequence"].value = "ABAB"
    assert panel.message() == ""


def test_bad_arguments_are_explained():
    with pytest.raises(ValueError, match="training must be one of"):
        trained_explorer(training="none")
    with pytest.raises(ValueError, match="step must be one of"):
        trained_explorer(step=3)

"""The explorer of notebook 10: step, layer, head, sequence and switch move everything together."""

import pytest
import torch
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.colors import to_hex
from matplotlib.text import Text

from mha_helpers import style, trained_explorer
from mha_helpers.explorers.e10_picture import FormingPicture
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


# --- the picture ----------------------------------------------------------------------------------------


def drawn(panel):
    picture, state = FormingPicture(), panel.state()
    figure, artists = picture.draw(state)
    picture.update(artists, state)
    return figure, artists


def framed_cells(frames):
    """The cells (query, key) that have a frame: a corner of each, rounded down."""
    corners = [path.vertices[0].astype(int).tolist() for path in frames.get_paths()]
    return {(i, j) for j, i in corners}


def test_frames_stand_where_the_chosen_layer_has_to_look(panel):
    for layer, words, cells in (
        (1, "previous letter", {(i, i - 1) for i in range(1, 6)}),
        (2, "after an earlier copy", {(3, 1), (4, 2), (5, 3)}),
    ):
        panel.set(layer=layer, sequence="ABCABC")
        _, _, frames, box, key = drawn(panel)[1]["head"]
        assert framed_cells(frames) == cells
        assert " ".join(key.get_text().split()) == words
        assert panel.description().endswith(f"Framed: {words}.")
        assert to_hex(frames.get_edgecolor()[0]) == to_hex(box.get_edgecolor())
    panel.set(sequence="ABCDEF")
    assert panel.description().endswith("Framed: after an earlier copy (there is none).")
    assert not framed_cells(drawn(panel)[1]["head"][2])


def test_a_colour_means_one_thing(panel):
    colours = []
    for layer, score in ((1, "previous"), (2, "after a copy")):
        panel.controls["layer"].value = layer
        artists = drawn(panel)[1]
        bars, frames = artists["bars"]["scores"][score], artists["head"][2]
        colours.append(to_hex(bars.get_facecolor()[0]).upper())
        assert colours[-1] == to_hex(frames.get_edgecolor()[0]).upper()
    assert len(set(colours)) == 2
    assert not {style.COLOURS[role] for role in ("query", "key", "value")} & set(colours)


@pytest.mark.parametrize(("training", "step"), [("many distances", 225), ("distance 12 only", 50)])
def test_steps_stand_as_far_apart_as_they_are(panel, training, step):
    panel.controls["training"].value = training
    panel.controls["step"].value = step
    marks, steps = drawn(panel)[1]["marks"], list(panel.state()["steps"])
    assert list(marks["line"].get_xdata()) == [step, step]
    for test, mark in marks["tests"].items():
        assert list(mark.get_xdata()) == [step]
        curve = next(line for line in mark.axes.lines if line.get_label() == test)
        assert list(curve.get_xdata()) == steps and curve.get_marker() not in ("", "None", None)
        assert curve.get_ydata()[steps.index(step)] == mark.get_ydata()[0]
    ticks = marks["line"].axes.get_xticks()
    assert ticks[0] == 0 and ticks[-1] == steps[-1] and len({*(ticks[1:] - ticks[:-1])}) == 1


@pytest.mark.parametrize("training", ["many distances", "distance 12 only"])
@pytest.mark.parametrize("layer", [1, 2])
def test_no_word_is_cut(panel, training, layer):
    panel.set(training=training, layer=layer, off=True)
    figure, _ = drawn(panel)
    with style.drawing():
        renderer = FigureCanvasAgg(figure).get_renderer()
        figure.draw(renderer)
    for text in figure.findobj(Text):
        box = text.get_window_extent(renderer)
        if text.get_text() and text.get_visible():
            assert box.x0 >= 0 and box.y0 >= 0, text
            assert box.x1 <= figure.bbox.width - 4 and box.y1 <= figure.bbox.height, text

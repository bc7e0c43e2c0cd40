"""Training to watch, from start to end and interrupted."""

import inspect

import pytest
import torch

from mha_helpers import training_view
from mha_helpers.trained import (
    HELD_OUT_DISTANCES,
    RUNS,
    accuracy,
    checkpoint_steps,
    repeated_sequences,
    trained_model,
)
from mha_helpers.training import new_model
from mha_helpers.training_view import TrainingView, train_live


@pytest.fixture
def views(monkeypatch):
    shown = []
    monkeypatch.setattr(training_view, "display", shown.append)
    return shown


@pytest.fixture
def interrupt_before(monkeypatch):
    whole = training_view.train

    def at(last):
        def interrupted(*arguments):
            for step, on_batch in whole(*arguments):
                if step == last:  # trained so many times, and the next time not yet
                    raise KeyboardInterrupt
                yield step, on_batch

        monkeypatch.setattr(training_view, "train", interrupted)

    return at


def test_it_shows_progress_and_returns_the_model(views):
    threads = torch.get_num_threads()
    model = train_live(distances=[12], steps=120, seed=1)
    view = views[0]
    assert view.bar.value == 120 and view.bar.bar_style == "success"
    assert "Step 120 of 120, done in" in view.words.value
    assert [view.points[0][0], view.points[-1][0]] == [0, 120]
    assert bytes(view.image.value).startswith(b"\x89PNG")
    held_out = repeated_sequences(96, HELD_OUT_DISTANCES, seed=99)
    assert view.points[-1][2] == accuracy(model, *held_out)
    assert accuracy(model, *repeated_sequences(64, [12], seed=5)) > 0.2  # it began at 1 in 26
    assert torch.get_num_threads() == threads and repr(view) == "Training"


def test_the_defaults_are_those_of_the_shipped_run():
    defaults = {name: given.default for name, given in inspect.signature(train_live).parameters.items()}
    assert defaults == {"distances": RUNS["varying"], "steps": checkpoint_steps("varying")[-1], "seed": 1}


def test_without_arguments_it_repeats_the_shipped_training(views, interrupt_before):
    # A tenth of the way tells enough: after 100 steps the same training is within 0.001, which is what the
    # file loses as float16. A learning rate that never falls leads 0.04 away, no weight decay 0.9.
    interrupt_before(100)
    mine, shipped = train_live().state_dict(), trained_model("varying", 100).state_dict()
    assert list(mine) == list(shipped)
    for name, values in shipped.items():
        assert (mine[name] - values).abs().max() < 0.005, name


def test_a_curve_is_drawn_twice_a_second_and_at_both_ends(monkeypatch):
    now = [100.0]
    monkeypatch.setattr(training_view.time, "monotonic", lambda: now[0])
    view = TrainingView(10)
    assert view.is_due(0) and view.is_due(5)
    view.show(5, 0.1, 0.1)
    now[0] += training_view.REDRAW - 0.1
    assert not view.is_due(6) and view.is_due(10) and view.is_due(0) and not view.is_due(1)
    now[0] += 0.2
    assert view.is_due(6)


def test_before_the_first_step_it_shows_where_the_bar_ends_and_that_it_starts():
    view = TrainingView(30)
    assert (view.bar.value, view.bar.min, view.bar.max) == (0, 0, 30)
    assert view.bar.layout.width == "560px"
    assert view.words.value == "starting"
    assert (view.image.format, view.image.layout.width) == ("png", "max-content")
    assert view.image.layout.max_width == "calc(100% - 4px)"
    view.stop(0)
    assert view.words.value == "Stopped after step 0: the model keeps what it learned so far."


def test_interrupting_keeps_what_was_learned(views, interrupt_before):
    interrupt_before(30)
    threads = torch.get_num_threads()
    model = train_live(distances=[12], steps=1000, seed=1)
    # The last step that was handed over; the one that was broken off does not count.
    assert views[0].words.value.endswith("Stopped after step 29: the model keeps what it learned so far.")
    assert "starting" not in views[0].words.value and "left" not in views[0].words.value
    assert views[0].bar.value == 29 and views[0].bar.bar_style == "warning"
    assert not torch.allclose(model.positions, new_model(1).positions)
    assert torch.get_num_threads() == threads


def test_interrupting_before_the_first_step_says_that_nothing_was_learned(views, interrupt_before):
    interrupt_before(0)
    train_live(steps=5, seed=1)
    assert views[0].words.value.endswith("Stopped after step 0: the model keeps what it learned so far.")


def test_what_was_shown_stays_when_the_training_stops(monkeypatch):
    view = TrainingView(1000)
    view.show(400, 0.3, 0.2)
    view.stop(412)
    assert view.words.value == (
        "Step 400 of 1000. Next letter right: 30% of this batch, 20% on held-out distances."
        " Stopped after step 412: the model keeps what it learned so far."
    )


def test_one_thread_trains_and_no_steps_are_refused(views, monkeypatch):
    def one_step(model, *_):
        assert torch.get_num_threads() == 1
        yield 0, 0.0

    monkeypatch.setattr(training_view, "train", one_step)
    train_live(steps=1)
    with pytest.raises(ValueError, match=r"^steps must be at least 1, got 0"):
        train_live(steps=0)


def test_time_left_follows_from_what_is_done(monkeypatch):
    now = [100.0]
    monkeypatch.setattr(training_view.time, "monotonic", lambda: now[0])
    view = TrainingView(200)
    view.show(0, 0.0, 0.0)
    assert "starting" in view.words.value
    now[0] += 10
    view.show(50, 0.5, 0.25)
    assert "about 30 s left" in view.words.value and "50% of this batch" in view.words.value
    assert "25% on held-out" in view.words.value and view.bar.value == 50


def test_steps_must_be_a_count(views):
    with pytest.raises(ValueError, match="steps"):
        train_live(steps=0)


@pytest.mark.parametrize(
    ("distances", "error", "words"),
    [
        (12, TypeError, r"^distances must be a list of whole numbers, got 12\. Try \[12\]\.$"),
        ("12", TypeError, r"distances must be a list of whole numbers, got '12'\.$"),
        ([30], ValueError, "a distance must be at most 23, got 30"),
        ([], ValueError, "distances is empty"),
    ],
)
def test_impossible_distances_are_refused_before_anything_is_shown(views, distances, error, words):
    with pytest.raises(error, match=words):
        train_live(distances=distances, steps=1)
    with pytest.raises(error, match=words):
        repeated_sequences(2, distances, seed=0)
    assert not views


def test_distances_may_come_one_by_one(views):
    model = train_live(distances=(distance for distance in (12, 6)), steps=2)
    expected = train_live(distances=[12, 6], steps=2)
    assert torch.equal(model.positions, expected.positions)

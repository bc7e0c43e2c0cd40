"""Training to watch, from start to end and interrupted."""

import pytest
import torch

from mha_helpers import training_view
from mha_helpers.trained import accuracy, repeated_sequences
from mha_helpers.training import new_model
from mha_helpers.training_view import TrainingView, train_live


@pytest.fixture
def views(monkeypatch):
    shown = []
    monkeypatch.setattr(training_view, "display", shown.append)
    return shown


def test_it_shows_progress_and_returns_the_model(views):
    threads = torch.get_num_threads()
    model = train_live(distances=[12], steps=120, seed=1)
    view = views[0]
    assert view.bar.value == 120 and view.bar.bar_style == "success"
    assert "Step 120 of 120, done in" in view.words.value
    assert [view.points[0][0], view.points[-1][0]] == [0, 120]
    assert bytes(view.image.value).startswith(b"\x89PNG")
    assert accuracy(model, *repeated_sequences(64, [12], seed=5)) > 0.2  # it began at 1 in 26
    assert torch.get_num_threads() == threads and repr(view) == "Training"


def test_interrupting_keeps_what_was_learned(views, monkeypatch):
    whole = training_view.train

    def interrupted(*arguments):
        for step, on_batch in whole(*arguments):
            if step == 30:
                raise KeyboardInterrupt
            yield step, on_batch

    monkeypatch.setattr(training_view, "train", interrupted)
    threads = torch.get_num_threads()
    model = train_live(distances=[12], steps=1000, seed=1)
    assert "Stopped after step" in views[0].words.value and views[0].bar.bar_style == "warning"
    assert not torch.allclose(model.positions, new_model(1).positions)
    assert torch.get_num_threads() == threads


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

"""The tiny trained model of deeper/10: its task, its measures, and what the shipped files must be able to do."""

from itertools import islice

import pytest
import torch

from mha_course.models import tiny
from mha_course.models.tiny import HELD_OUT_DISTANCES, RUNS, accuracy, repeated_sequences, trained_model


@pytest.mark.parametrize("distance", [1, 6, 11, 23])
def test_blocks_repeat_at_their_distance_and_hold_different_letters(distance):
    letters, distances = repeated_sequences(20, [distance], seed=3)
    assert letters.shape == (20, tiny.LENGTH) and (distances == distance).all()
    assert torch.equal(letters[:, distance:], letters[:, :-distance])
    assert all(len(set(line[:distance].tolist())) == distance for line in letters)


@pytest.mark.parametrize("distances", [[], [0], [6, 24]])
def test_impossible_distances_are_refused(distances):
    with pytest.raises(ValueError, match="whole numbers from 1 to 23"):
        repeated_sequences(1, distances, seed=0)


def test_files_hold_small_plain_tensors_and_every_step_loads():
    assert sum(path.stat().st_size for path in tiny.CHECKPOINTS.iterdir()) < 500_000
    for run in RUNS:
        for step in tiny.checkpoints(run)["steps"].tolist():
            assert all(parameter.isfinite().all() for parameter in trained_model(run, step).parameters())


def test_loading_leaves_random_numbers_as_they_are_and_follows_no_default_number_type():
    letters = repeated_sequences(4, [9], seed=0)[0]
    before = torch.manual_seed(5).get_state()  # which no model before it has left behind
    torch.set_default_dtype(torch.float64)
    assert torch.equal(repeated_sequences(4, [9], seed=0)[0], letters)
    assert trained_model().guess.weight.dtype == torch.float32
    assert torch.equal(torch.get_rng_state(), before)


def test_the_model_copies_at_distances_held_out_of_training_and_the_shortcut_does_not():
    held_out = repeated_sequences(192, HELD_OUT_DISTANCES, seed=4321)  # a seed that nothing else uses
    assert set(held_out[1].tolist()) == set(HELD_OUT_DISTANCES) == set(range(6, 17)) - set(RUNS["varying"])
    assert accuracy(trained_model(), *held_out) >= 0.99
    assert accuracy(trained_model(step=0), *held_out) < 0.1
    shortcut = trained_model("fixed")
    assert accuracy(shortcut, *repeated_sequences(192, [12], seed=17)) >= 0.99
    assert accuracy(shortcut, *held_out) < 0.02
    assert accuracy(trained_model("one layer"), *held_out) < 0.1  # copying takes two


def test_training_starts_where_the_shipped_run_started_and_learns():
    model = tiny.new_tiny_model(seed=1)
    for mine, theirs in zip(model.parameters(), trained_model(step=0).parameters(), strict=True):
        assert torch.allclose(mine, theirs, atol=0.01)
    training = tiny.train_tiny_model(model, RUNS["fixed"], 300, seed=1)
    accuracies = [on_batch for _, on_batch in islice(training, 151)]
    assert accuracies[0] < 0.15 and accuracies[-1] > 0.9
    assert len({next(tiny.train_tiny_model(model, [8, 9], 1, seed)) for seed in (1, 1, 2)}) == 2

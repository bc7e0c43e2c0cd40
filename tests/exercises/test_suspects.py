"""The suspects of exercises 5.5 and 8.5 do what they say: the right ones are right, the others wrong in one way."""

import pytest
import torch

from mha_helpers import causal_mask, scaled_dot_product_attention, split_heads
from mha_helpers.exercises import numbers
from mha_helpers.exercises.e08_splitting_heads import catch_the_scramble
from mha_helpers.exercises.suspects import layer_a, layer_b, layer_c, layer_d


def right(x, mask=None):
    mask = causal_mask(len(x)) if mask is None else mask
    return scaled_dot_product_attention(x, x, x, mask)[0]


@pytest.mark.parametrize("n", range(1, 9))
def test_two_layers_are_right_and_two_are_wrong_in_one_way_each(n):
    x = numbers(n, 5)
    torch.testing.assert_close(layer_a(x), right(x))
    torch.testing.assert_close(layer_b(x), right(x))
    torch.testing.assert_close(layer_c(x), right(x - x.mean(dim=0)))
    place = torch.arange(n)
    beyond = (place[:, None] >= 4) | (place[None, :] >= 4)
    torch.testing.assert_close(layer_d(x), right(x, causal_mask(n) | beyond))


@pytest.mark.parametrize(
    ("name", "late"),
    [
        ("a right one", None),
        ("another right one", None),
        ("head 0 one token late", 0),
        ("a head in the middle one token late", 1),
        ("the last head one token late", 2),
    ],
)
def test_a_split_is_right_but_for_the_head_it_names(name, late):
    splits = {split.name: split for split in (case.args[0] for case in catch_the_scramble.cases())}
    matrix = torch.arange(24.0).view(4, 6)
    expected = split_heads(matrix, 3).clone()  # (h, n, d_k)
    if late is not None:
        expected[late] = expected[late][[3, 0, 1, 2]]  # the last token's numbers come first
    assert torch.equal(splits[name](matrix, 3), expected)


@pytest.mark.parametrize(
    ("name", "order"),
    [("first two tokens swapped", [1, 0, 2, 3]), ("last two tokens swapped", [0, 1, 3, 2])],
)
def test_a_split_swaps_the_tokens_it_names(name, order):
    splits = {split.name: split for split in (case.args[0] for case in catch_the_scramble.cases())}
    matrix = torch.arange(24.0).view(4, 6)
    assert torch.equal(splits[name](matrix, 3), split_heads(matrix, 3)[:, order])
    assert torch.equal(splits[name](matrix[:1], 3), split_heads(matrix[:1], 3))  # one token has no other

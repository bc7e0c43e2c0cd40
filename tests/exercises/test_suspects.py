"""The four layers of exercise 5.5 do what their docstrings say: two are right, two leak in their own way."""

import pytest
import torch

from mha_helpers import causal_mask, scaled_dot_product_attention
from mha_helpers.exercises import numbers
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

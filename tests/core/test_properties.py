"""For random sizes and masks: plain loops = our functions = PyTorch."""

import math

import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import nn

from mha_helpers import (
    MultiHeadAttention,
    causal_mask,
    merge_heads,
    padding_mask,
    scaled_dot_product_attention,
    sliding_window_mask,
    split_heads,
)

sizes = st.integers(1, 5)
seeds = st.integers(0, 2**31)
quietly = settings(deadline=None, max_examples=40)


def random_numbers(seed, *shapes):
    generator = torch.Generator().manual_seed(seed)
    return [torch.randn(*shape, generator=generator, dtype=torch.float64) for shape in shapes]


def random_mask(seed, *shape):
    return random_numbers(seed + 1, shape)[0] > -0.3


def attention_in_loops(q, k, v, mask):
    """One head, one number at a time, in plain Python."""
    output, weights = torch.zeros(len(q), v.shape[1]).double(), torch.zeros(len(q), len(k)).double()
    for i in range(len(q)):
        exponentials = {}
        for j in range(len(k)):
            if mask[i, j]:
                score = sum(float(q[i, feature] * k[j, feature]) for feature in range(q.shape[1]))
                exponentials[j] = math.exp(score / math.sqrt(q.shape[1]))
        for j, exponential in exponentials.items():
            weights[i, j] = exponential / sum(exponentials.values())
            for feature in range(v.shape[1]):
                output[i, feature] += weights[i, j] * v[j, feature]
    return output, weights


@quietly
@given(st.lists(sizes, max_size=2), sizes, sizes, sizes, sizes, seeds)
def test_every_head_is_what_plain_loops_give(leading, n_q, n_k, d_k, d_v, seed):
    q, k, v = random_numbers(seed, (*leading, n_q, d_k), (*leading, n_k, d_k), (*leading, n_k, d_v))
    mask = random_mask(seed, *leading, n_q, n_k)
    output, weights = scaled_dot_product_attention(q, k, v, mask)
    flat = [tensor.reshape(-1, *tensor.shape[-2:]) for tensor in (q, k, v, mask, output, weights)]
    for *inputs, found, found_weights in zip(*flat, strict=True):
        expected, expected_weights = attention_in_loops(*inputs)
        torch.testing.assert_close(found, expected)
        torch.testing.assert_close(found_weights, expected_weights)


@quietly
@given(st.lists(sizes, max_size=2), sizes, sizes, sizes, seeds)
def test_each_head_gets_its_own_columns_and_merging_undoes_splitting(leading, h, n, d, seed):
    (x,) = random_numbers(seed, (*leading, n, h * d))
    heads = split_heads(x, h)
    assert torch.equal(heads, torch.stack(x.split(d, dim=-1), dim=-3))
    assert torch.equal(merge_heads(heads), x)


@st.composite
def masks_in_which_every_row_has_a_key(draw, b, h, n):  # without one, PyTorch's module gives NaN
    lengths = draw(st.lists(st.integers(1, n), min_size=b, max_size=b))
    shape = draw(st.sampled_from([(n, n), (b, 1, n, n), (1, h, n, n), (b, h, n, n)]))
    masks = [
        None,
        causal_mask(n),
        padding_mask(lengths, n),
        sliding_window_mask(n, 1),
        causal_mask(n) & padding_mask(lengths, n),
        random_mask(draw(seeds), *shape) | torch.eye(n, dtype=torch.bool),
    ]
    return draw(st.sampled_from(masks))


@settings(deadline=None, max_examples=80)
@given(sizes, sizes, sizes, sizes, st.booleans(), seeds, st.data())
def test_our_module_is_pytorchs_with_every_mask(b, n, h, d_k, bias, seed, data):
    mask = data.draw(masks_in_which_every_row_has_a_key(b, h, n))
    torch.manual_seed(seed)
    theirs = nn.MultiheadAttention(h * d_k, h, bias=bias, batch_first=True, dtype=torch.float64).eval()
    if bias:  # PyTorch starts with biases of zero, which would hide a bias forgotten
        nn.init.normal_(theirs.in_proj_bias)
        nn.init.normal_(theirs.out_proj.bias)
    (x,) = random_numbers(seed, (b, n, h * d_k))
    blocked = None if mask is None else ~mask.expand(b, h, n, n).reshape(b * h, n, n)
    expected, expected_weights = theirs(x, x, x, attn_mask=blocked, average_attn_weights=False)
    ours = MultiHeadAttention.from_torch(theirs)
    output, weights = ours(x, mask)
    torch.testing.assert_close(output, expected)
    torch.testing.assert_close(weights, expected_weights)
    torch.testing.assert_close(ours(x, mask, need_weights=False)[0], expected)

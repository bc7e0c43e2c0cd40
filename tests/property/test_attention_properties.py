"""For random shapes and masks: plain loops = our functions = PyTorch."""

import math

import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import nn
from torch.nn import functional as F

from mha_helpers import (
    MultiHeadAttention,
    attention_weights,
    mask_scores,
    merge_heads,
    scaled_dot_product_attention,
    split_heads,
)

sizes = st.integers(1, 5)
seeds = st.integers(0, 2**31)
quietly = settings(deadline=None, max_examples=60)


def random_numbers(seed, *shapes):
    generator = torch.Generator().manual_seed(seed)
    return [torch.randn(*shape, generator=generator, dtype=torch.float64) for shape in shapes]


def random_mask(seed, *shape):
    return torch.rand(*shape, generator=torch.Generator().manual_seed(seed + 1)) > 0.4


def attention_in_loops(q, k, v, mask):
    """One head, one number at a time, in plain Python."""
    n_q, n_k, d_k, d_v = q.shape[0], k.shape[0], q.shape[1], v.shape[1]
    output = [[0.0] * d_v for _ in range(n_q)]
    weights = [[0.0] * n_k for _ in range(n_q)]
    for i in range(n_q):
        scores = {}
        for j in range(n_k):
            if mask[i, j]:
                scores[j] = sum(float(q[i, f] * k[j, f]) for f in range(d_k)) / math.sqrt(d_k)
        largest = max(scores.values(), default=0.0)
        total = sum(math.exp(score - largest) for score in scores.values())
        for j, score in scores.items():
            weights[i][j] = math.exp(score - largest) / total
            for f in range(d_v):
                output[i][f] += weights[i][j] * float(v[j, f])
    return torch.tensor(output, dtype=torch.float64), torch.tensor(weights, dtype=torch.float64)


@quietly
@given(sizes, sizes, sizes, sizes, seeds)
def test_loops_and_functions_and_pytorch_agree(n_q, n_k, d_k, d_v, seed):
    q, k, v = random_numbers(seed, (n_q, d_k), (n_k, d_k), (n_k, d_v))
    mask = random_mask(seed, n_q, n_k)
    output, weights = scaled_dot_product_attention(q, k, v, mask)
    loop_output, loop_weights = attention_in_loops(q, k, v, mask)
    torch.testing.assert_close(output, loop_output)
    torch.testing.assert_close(weights, loop_weights)
    torch.testing.assert_close(output, F.scaled_dot_product_attention(q, k, v, attn_mask=mask))


@quietly
@given(st.lists(sizes, max_size=3), sizes, sizes, sizes, seeds)
def test_leading_axes_are_so_many_separate_heads(leading, n_q, n_k, d, seed):
    q, k, v = random_numbers(seed, (*leading, n_q, d), (*leading, n_k, d), (*leading, n_k, d))
    mask = random_mask(seed, *leading, n_q, n_k)
    output, weights = scaled_dot_product_attention(q, k, v, mask)
    for index in torch.cartesian_prod(*(torch.arange(size) for size in (*leading, 1))).view(
        -1, len(leading) + 1
    ):
        at = tuple(index[:-1].tolist())
        one, one_weights = scaled_dot_product_attention(q[at], k[at], v[at], mask[at])
        torch.testing.assert_close(output[at], one)
        torch.testing.assert_close(weights[at], one_weights)


@quietly
@given(sizes, sizes, seeds)
def test_weights_are_shares(n_q, n_k, seed):
    (scores,) = random_numbers(seed, (n_q, n_k))
    mask = random_mask(seed, n_q, n_k)
    weights = attention_weights(mask_scores(scores, mask))
    assert (weights >= 0).all()
    assert (weights[~mask] == 0).all()
    torch.testing.assert_close(weights.sum(-1), mask.any(-1).double())
    # adding the same number to a row of scores changes nothing
    torch.testing.assert_close(attention_weights(scores + 100), attention_weights(scores))


@quietly
@given(st.lists(sizes, max_size=2), sizes, sizes, sizes, seeds)
def test_merging_undoes_splitting(leading, h, n, d, seed):
    (x,) = random_numbers(seed, (*leading, n, h * d))
    heads = split_heads(x, h)
    assert heads.shape == (*leading, h, n, d)
    assert torch.equal(merge_heads(heads), x)
    for head in range(h):
        assert torch.equal(heads[..., head, :, :], x[..., head * d : (head + 1) * d])


@quietly
@given(sizes, sizes, sizes, sizes, st.booleans(), seeds)
def test_our_module_is_pytorchs(b, n, h, d_k, bias, seed):
    torch.manual_seed(seed)
    module = nn.MultiheadAttention(h * d_k, h, bias=bias, batch_first=True, dtype=torch.float64).eval()
    if bias:
        nn.init.normal_(module.in_proj_bias)
        nn.init.normal_(module.out_proj.bias)
    (x,) = random_numbers(seed, (b, n, h * d_k))
    # PyTorch's module gives NaN for a row without a key, so every token may attend to itself here
    mask = random_mask(seed, b, h, n, n) | torch.eye(n, dtype=torch.bool)
    ours = MultiHeadAttention.from_torch(module)
    output, weights = ours(x, mask)
    expected, expected_weights = module(
        x, x, x, attn_mask=~mask.view(b * h, n, n), average_attn_weights=False
    )
    torch.testing.assert_close(output, expected)
    torch.testing.assert_close(weights, expected_weights)
    torch.testing.assert_close(ours(x, mask, need_weights=False)[0], expected)


@quietly
@given(st.integers(2, 6), sizes, seeds)
def test_permuting_tokens_permutes_rows_and_nothing_else(n, h, seed):
    torch.manual_seed(seed)
    attention = MultiHeadAttention(2 * h, h).double()
    (x,) = random_numbers(seed, (1, n, 2 * h))
    order = torch.randperm(n)
    torch.testing.assert_close(attention(x[:, order])[0], attention(x)[0][:, order])


@quietly
@given(st.integers(2, 6), sizes, seeds, st.data())
def test_a_causal_mask_hides_the_future(n, h, seed, data):
    torch.manual_seed(seed)
    attention = MultiHeadAttention(2 * h, h).double()
    (x,) = random_numbers(seed, (1, n, 2 * h))
    changed = data.draw(st.integers(1, n - 1))
    other = x.clone()
    other[0, changed] += 1
    mask = torch.ones(n, n, dtype=torch.bool).tril()
    before, after = attention(x, mask)[0], attention(other, mask)[0]
    torch.testing.assert_close(before[:, :changed], after[:, :changed])
    assert not torch.allclose(before[:, changed], after[:, changed])

"""The maths: against PyTorch in every number type, shape and mask, its promises, bad input in the learner's words."""

import math
import re

import numpy
import pytest
import torch
from torch import nn
from torch.nn import functional as F

import mha_helpers
from mha_course.exercises import numbers
from mha_helpers import MultiHeadAttention, attention_scores, attention_weights, scaled_dot_product_attention
from mha_helpers.attention import mask_scores, merge_heads, project_qkv, scale_scores, split_heads
from mha_helpers.masks import causal_mask, padding_mask, sliding_window_mask

TOLERANCE = {torch.float64: 1e-12, torch.float32: 1e-5, torch.float16: 4e-3, torch.bfloat16: 3e-2}
EMPTY_ROW = torch.tensor([[True, False, False], [False, False, False], [True, False, True]])


@pytest.mark.parametrize("dtype", TOLERANCE)
@pytest.mark.parametrize(
    ("of_q", "of_k", "d_v"),  # shapes of queries and keys, of which those in front broadcast
    [((1, 1), (1, 1), 1), ((2, 4), (5, 4), 3), ((7, 1, 2, 3), (5, 4, 3), 6), ((5, 4, 3), (7, 1, 2, 3), 3)],
)
@pytest.mark.parametrize("masked", [False, True])
def test_one_head_equals_pytorchs(of_q, of_k, d_v, dtype, masked):
    shapes = [of_q, of_k, (*of_k[:-1], d_v)]
    q, k, v = (numbers(*shape, seed=seed).to(dtype) for seed, shape in enumerate(shapes))
    mask = numbers(*(q @ k.mT).shape, seed=5) > -0.3 if masked else None
    if masked:
        mask[..., 0, :] = False
    each_key = torch.eye(of_k[-2], dtype=dtype).expand(*of_k[:-1], -1)  # as values: collects the weights
    for result, values in zip(scaled_dot_product_attention(q, k, v, mask), (v, each_key), strict=True):
        expected = F.scaled_dot_product_attention(q, k, values, attn_mask=mask)
        torch.testing.assert_close(result, expected, atol=TOLERANCE[dtype], rtol=TOLERANCE[dtype])


def test_gradients_are_pytorchs_and_finite_also_in_a_row_without_a_key():
    gradients = []
    for function in (lambda *given: scaled_dot_product_attention(*given)[0], F.scaled_dot_product_attention):
        tensors = [numbers(3, 4, seed=seed).double().requires_grad_() for seed in range(3)]
        (function(*tensors, EMPTY_ROW) ** 3).sum().backward()
        gradients.append([tensor.grad for tensor in tensors])
    for ours, theirs in zip(*gradients, strict=True):
        assert ours.isfinite().all()
        torch.testing.assert_close(ours, theirs)


def test_where_no_mask_hides_them_a_row_without_a_key_has_finite_gradients_and_nan_is_seen():
    scores = torch.tensor([[0.0, 1.0], [-math.inf, -math.inf]], requires_grad=True)
    attention_weights(scores)[:, 0].sum().backward()
    assert scores.grad.isfinite().all() and scores.grad[0].abs().min() > 0
    assert attention_weights(torch.tensor([[math.nan, -math.inf]])).isnan().any()


def test_nothing_is_changed_in_place():
    q, k, v, scores = (numbers(3, 3, seed=seed) for seed in range(4))
    given = [q, k, v, scores, EMPTY_ROW]
    before = [tensor.clone() for tensor in given]
    scaled_dot_product_attention(q, k, v, EMPTY_ROW)
    scale_scores(scores, 4), mask_scores(scores, EMPTY_ROW), attention_weights(scores)
    assert all(torch.equal(*pair) for pair in zip(given, before, strict=True))


@pytest.mark.parametrize("as_given", [list, torch.tensor, numpy.array])
def test_padding_mask_blocks_columns_for_every_head_and_query(as_given):
    mask = padding_mask(as_given([3, 0, 1]), n=3)
    assert mask.tolist() == [[[[True, True, True]]], [[[False, False, False]]], [[[True, False, False]]]]
    assert padding_mask(as_given([]), 3).shape == (0, 1, 1, 3)


@pytest.mark.parametrize("dtype", TOLERANCE)
@pytest.mark.parametrize("mask", [None, causal_mask(3), padding_mask([2, 3], 3).flip(-1), EMPTY_ROW])
def test_forward_and_trace_agree_to_the_last_bit_and_with_the_fused_kernel(mask, dtype):
    attention, x = MultiHeadAttention(12, 2).to(dtype), numbers(2, 3, 12).to(dtype)
    output, weights = attention(x, mask)
    trace = attention.trace(x, mask)
    assert torch.equal(output, trace.output) and torch.equal(weights, trace.weights)
    assert trace != attention.trace(x, mask)  # compared as objects: == of tensors is no single True or False
    gradients = [torch.autograd.grad(each.sum(), attention.parameters()) for each in (output, trace.output)]
    assert all(torch.equal(*pair) for pair in zip(*gradients, strict=True))
    fused, nothing = attention(x, mask, need_weights=False)
    assert nothing is None
    torch.testing.assert_close(fused, output, atol=TOLERANCE[dtype], rtol=TOLERANCE[dtype])


@pytest.mark.parametrize("bias", [True, False])
@pytest.mark.parametrize(("b", "n", "h", "d_k"), [(2, 5, 3, 4), (3, 3, 3, 1), (1, 1, 1, 5), (4, 2, 1, 3)])
@pytest.mark.parametrize("axes", [None, "nn", "b11n", "b1nn", "1hnn", "bhnn"])
def test_our_module_is_pytorchs_with_every_mask(b, n, h, d_k, bias, axes):
    mask = axes and numbers(*({"b": b, "n": n, "h": h, "1": 1}[axis] for axis in axes)) > -0.3
    if axes:
        mask[..., 0] = True  # in a row without a key PyTorch's module gives NaN
    named = type("Named", (nn.MultiheadAttention,), {})  # a subclass that computes the same
    theirs = named(h * d_k, h, bias=bias, batch_first=True, dtype=torch.float64).eval()
    if bias:  # PyTorch starts with biases of zero, which would hide a bias forgotten
        nn.init.normal_(theirs.in_proj_bias)
        nn.init.normal_(theirs.out_proj.bias)
    x = numbers(b, n, h * d_k).double()
    blocked = None if mask is None else ~mask.expand(b, h, n, n).reshape(b * h, n, n)
    expected, expected_weights = theirs(x, x, x, attn_mask=blocked, average_attn_weights=False)
    ours = MultiHeadAttention.from_torch(theirs)
    assert f"(\n  d_model={h * d_k}, num_heads={h}, d_k={d_k}\n" in repr(ours)
    torch.testing.assert_close(ours(x, mask), (expected, expected_weights))
    torch.testing.assert_close(ours(x, mask, need_weights=False)[0], expected)


def test_a_layer_of_another_kind_may_keep_its_weight_as_it_likes():
    class EightBit(nn.Linear):
        forward = nn.Identity.forward

    attention = MultiHeadAttention(8, 2)
    attention.w_q = EightBit(8, 8).requires_grad_(False).to(torch.float16)
    assert attention(numbers(1, 3, 8))[0].dtype == torch.float32


A, B = torch.zeros(3, 4), torch.zeros(3, 5)
SQUARE = torch.ones(3, 3, dtype=torch.bool)


def mha(x, mask=None, **options):
    return MultiHeadAttention(8, 2)(torch.zeros(x) if isinstance(x, tuple) else x, mask, **options)


@pytest.mark.parametrize(
    ("call", "error", "words"),
    [
        (lambda: project_qkv([[1.0]], A, A, A), TypeError, "x must be a torch.Tensor, got list. Try torch.tensor(x)."),
        (lambda: project_qkv(A, nn.Linear(4, 3), A.T, A.T), TypeError, "w_q must be a torch.Tensor, got Linear. A layer stores its matrix the other way round. Try w_q.weight.T."),
        (lambda: project_qkv(A.long(), A.T, A.T, A.T), TypeError, "x must hold floating-point numbers, got torch.int64. Try x.float()."),
        (lambda: project_qkv(A, A.T, A.T.double(), A.T), TypeError, "x is torch.float32, w_k is torch.float64. Try w_k.to(torch.float32)."),
        (lambda: project_qkv(A, A.T, A.T, A), ValueError, "w_v must have shape (d_model, d) with d_model = 4; got x (3, 4), w_v (3, 4). Try w_v.T."),
        (lambda: project_qkv(A, A.T, torch.zeros(4), A.T), ValueError, "with d_model = 4; got x (3, 4), w_k (4,)."),
        (lambda: project_qkv(A[0], A.T, A.T, A.T), ValueError, "x must have shape (…, n, d_model): at least 2 axes. It has 1: (4,)."),
        (lambda: attention_scores(A, (A, None)), TypeError, "k must be a torch.Tensor, got tuple. It holds 2 of them: take one, such as k[0]."),
        (lambda: attention_scores(A, B), ValueError, "the last axis of q is 4, that of k is 5 (q (3, 4), k (3, 5))."),
        (lambda: attention_scores(torch.zeros(2, 7, 3, 4), torch.zeros(5, 7, 3, 4)), ValueError, "the axes before the last two must match: q (2, 7, 3, 4), k (5, 7, 3, 4)."),
        (lambda: scale_scores(8, A), TypeError, "scores must be a torch.Tensor, got int. Are the arguments in the right order?"),
        (lambda: scale_scores(A, 0), ValueError, "d_k must be at least 1, got 0."),
        (lambda: mask_scores(A, None), TypeError, "mask must be a torch.Tensor, got NoneType. Without a mask, leave the step out."),
        (lambda: mask_scores(A, SQUARE.long()), TypeError, "Where 1 means “may attend”, take mask == 1; where 1 means “hidden”, take mask == 0."),
        (lambda: mask_scores(A, SQUARE), ValueError, "mask (3, 3) does not fit the scores (3, 4). Give it the 2 axes (n_q, n_k) or all 2, each 1 or as long as theirs."),
        (lambda: attention_weights(A[0]), ValueError, "scores must have shape (…, n_q, n_k): at least 2 axes"),
        (lambda: mha_helpers.weighted_values(A, A), ValueError, "weights has 4 keys, v has 3 (weights (3, 4), v (3, 4))."),
        (lambda: mha_helpers.weighted_values(torch.zeros(2, 3, 3), torch.zeros(5, 3, 4)), ValueError, "weights (2, 3, 3), v (5, 3, 4)."),
        (lambda: split_heads(torch.zeros(3, 10), 3), ValueError, "the last axis of x (10) is not divisible by num_heads (3). Try one of 1, 2, 5, 10."),
        (lambda: merge_heads(A), ValueError, "x must have shape (…, h, n, d): at least 3 axes. It has 2: (3, 4)."),
        (lambda: MultiHeadAttention("8", 2), TypeError, "d_model must be a whole number such as 2, got '8'."),
        (lambda: mha((1, 8, 6)), ValueError, "the last axis of x must be d_model = 8; got x (1, 8, 6)."),
        (lambda: mha(torch.zeros(3, 8).double()), TypeError, "weight is torch.float32, x is torch.float64. Try x.to(torch.float32)."),
        # With as many sentences as heads, (b, n, n) would fit as (h, n, n) and give wrong numbers.
        (lambda: mha((2, 3, 8), SQUARE.expand(2, 3, 3)), ValueError, "mask (2, 3, 3) does not fit the scores (2, 2, 3, 3). Give it the 2 axes (n_q, n_k) or all 4, each 1 or as long as theirs. If its first axis is the sentence, take mask[:, None]."),
        (lambda: mha((5, 3, 8), SQUARE[:1].expand(5, 3)), ValueError, "If its first axis is the sentence, take mask[:, None, None]."),
        (lambda: mha((2, 3, 8), torch.ones(4, 4).bool(), need_weights=False), ValueError, "mask (4, 4) does not fit"),
        (lambda: mha((1, 3, 8), SQUARE.expand(2, 1, 3, 3)), ValueError, "mask (2, 1, 3, 3) does not fit the scores (1, 2, 3, 3)"),
        (lambda: mha((3, 8), torch.ones(4, 8).bool()), ValueError, "mask (4, 8) does not fit the scores (2, 3, 3)"),
        (lambda: MultiHeadAttention.from_torch(nn.Linear(2, 2)), TypeError, "module must be a torch.nn.MultiheadAttention: torch.nn.modules.linear.Linear has a forward of its own."),
        (lambda: MultiHeadAttention.from_torch(nn.MultiheadAttention(8, 2, kdim=4)), ValueError, "module uses kdim, vdim, add_bias_kv or add_zero_attn"),
        (lambda: MultiHeadAttention.from_torch(nn.MultiheadAttention(8, 2, add_bias_kv=True)), ValueError, "add_bias_kv"),
        (lambda: MultiHeadAttention.from_torch(nn.MultiheadAttention(8, 2, add_zero_attn=True)), ValueError, "add_zero_attn"),
        (lambda: MultiHeadAttention.from_torch(torch.ao.nn.quantizable.MultiheadAttention(8, 2)), TypeError, "MultiheadAttention has a forward of its own."),
        (lambda: MultiHeadAttention(128, 8, 0.0), TypeError, "positional"),  # PyTorch's third argument is dropout
        (lambda: causal_mask(0), ValueError, "n must be at least 1, got 0."),
        (lambda: causal_mask(3, 2), ValueError, "n_k must be at least 3, got 2."),
        (lambda: sliding_window_mask(0, 1), ValueError, "n must be at least 1, got 0."),
        (lambda: padding_mask([], 0), ValueError, "n must be at least 1, got 0."),
        (lambda: sliding_window_mask(4, -1), ValueError, "window must be at least 0, got -1."),
        (lambda: padding_mask([1, 5], 4), ValueError, "lengths[1] must be at most 4, got 5."),
        (lambda: padding_mask([1.5], 4), TypeError, "lengths[0] must be a whole number such as 2, got 1.5."),
        (lambda: padding_mask([True], 4), TypeError, "lengths[0] must be a whole number such as 2, got True."),
        (lambda: padding_mask(torch.tensor([[1, 1, 0]]), 3), TypeError, "got [[1, 1, 0]]. Of a matrix with 1 for a token and 0 for padding, take (lengths == 1)[:, None, None, :]."),
        (lambda: padding_mask("34", 4), TypeError, "one number for each sentence, got '34'. Of a matrix with"),
    ],
)  # fmt: skip
def test_bad_input_is_answered_in_the_learners_words(call, error, words):
    with pytest.raises(error, match=re.escape(words) + ("$" if words.endswith(".") else "")):
        call()

"""The maths, step by step: against PyTorch, against loops, and against bad input."""

import math
import re

import pytest
import torch
from torch import nn
from torch.nn import functional as F

from mha_helpers import (
    AttentionTrace,
    MultiHeadAttention,
    attention_scores,
    attention_weights,
    causal_mask,
    golden_example,
    mask_scores,
    merge_heads,
    padding_mask,
    project_qkv,
    scale_scores,
    scaled_dot_product_attention,
    sliding_window_mask,
    split_heads,
    weighted_values,
)

TOLERANCE = {torch.float64: 1e-12, torch.float32: 1e-5, torch.float16: 4e-3, torch.bfloat16: 3e-2}


def numbers(*shape, seed=0, dtype=torch.float32):
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed)).to(dtype)


def masks_of_all_kinds(b, n):
    return {
        "none": None,
        "causal": causal_mask(n),
        "padding": padding_mask([n - sentence for sentence in range(b)], n),
        "window": sliding_window_mask(n, 1),
        "causal and padding": causal_mask(n) & padding_mask([n - sentence for sentence in range(b)], n),
    }


# Each step


def test_project_qkv_multiplies_each_token_with_three_matrices():
    x, w_q, w_k, w_v = numbers(2, 3, 4), numbers(4, 5), numbers(4, 5, seed=1), numbers(4, 6, seed=2)
    q, k, v = project_qkv(x, w_q, w_k, w_v)
    for result, w in ((q, w_q), (k, w_k), (v, w_v)):
        for sentence in range(2):
            for token in range(3):
                for feature in range(w.shape[1]):
                    expected = sum(x[sentence, token, i] * w[i, feature] for i in range(4))
                    torch.testing.assert_close(result[sentence, token, feature], expected)


def test_attention_scores_put_queries_in_rows_and_keys_in_columns():
    q, k = numbers(2, 3), numbers(4, 3, seed=1)
    scores = attention_scores(q, k)
    assert scores.shape == (2, 4)
    for i in range(2):
        for j in range(4):
            torch.testing.assert_close(scores[i, j], torch.dot(q[i], k[j]))


@pytest.mark.parametrize("d_k", [1, 2, 64, 128])
def test_scale_scores_divides_by_the_root_of_d_k(d_k):
    scores = torch.tensor([[3.0, -6.0]])
    torch.testing.assert_close(scale_scores(scores, d_k), torch.tensor([[3.0, -6.0]]) / d_k**0.5)


def test_mask_scores_keeps_true_and_blocks_false():
    masked = mask_scores(torch.tensor([[1.0, 2.0], [3.0, 4.0]]), torch.tensor([[True, False], [True, True]]))
    assert masked.tolist() == [[1.0, -math.inf], [3.0, 4.0]]


def test_attention_weights_sum_to_one_over_the_keys():
    weights = attention_weights(torch.tensor([[math.log(1.0), math.log(3.0)], [0.0, 0.0]]))
    torch.testing.assert_close(weights, torch.tensor([[0.25, 0.75], [0.5, 0.5]]))


def test_attention_weights_do_not_overflow():
    assert attention_weights(torch.tensor([[1000.0, 1000.0, -1000.0]])).tolist() == [[0.5, 0.5, 0.0]]


def test_a_row_without_a_key_becomes_zeros_and_leaves_the_others_alone():
    scores = torch.tensor([[1.0, 2.0], [-math.inf, -math.inf], [-math.inf, 0.5]])
    weights = attention_weights(scores)
    torch.testing.assert_close(weights[0], torch.softmax(scores[0], dim=-1))
    assert weights[1].tolist() == [0.0, 0.0]
    assert weights[2].tolist() == [0.0, 1.0]


def test_a_row_without_a_key_has_finite_gradients():
    scores = torch.tensor([[1.0, 2.0], [3.0, 4.0]], requires_grad=True)
    masked = mask_scores(scores, torch.tensor([[True, True], [False, False]]))
    (attention_weights(masked) ** 2).sum().backward()
    assert scores.grad.isfinite().all()
    assert scores.grad[1].tolist() == [0.0, 0.0]
    assert scores.grad[0].abs().min() > 0


def test_weighted_values_mix_the_values_of_each_row():
    weights, v = torch.tensor([[0.25, 0.75]]), torch.tensor([[4.0, 8.0, 0.0], [0.0, 4.0, 8.0]])
    torch.testing.assert_close(weighted_values(weights, v), torch.tensor([[1.0, 5.0, 6.0]]))


def test_split_heads_gives_each_head_its_own_columns():
    x = torch.arange(24).view(1, 4, 6)
    heads = split_heads(x, 3)
    assert heads.shape == (1, 3, 4, 2)
    for head in range(3):
        assert torch.equal(heads[0, head], x[0][:, 2 * head : 2 * head + 2])


def test_merge_heads_puts_head_0_first():
    heads = torch.stack([torch.full((4, 2), head) for head in range(3)])  # (h, n, d)
    assert merge_heads(heads)[0].tolist() == [0, 0, 1, 1, 2, 2]


@pytest.mark.parametrize("shape", [(), (4,)])
def test_scores_without_two_axes_are_refused(shape):
    for step in (attention_weights, lambda scores: mask_scores(scores, causal_mask(4))):
        with pytest.raises(ValueError, match=r"scores must have shape \(…, n_q, n_k\): at least 2 axes"):
            step(torch.ones(shape))


def test_a_missing_mask_or_value_is_told_without_advice_that_fails():
    with pytest.raises(
        TypeError, match=r"got NoneType\. Without a mask, leave the step out: `if mask is not None`\."
    ):
        mask_scores(numbers(2, 2), None)
    with pytest.raises(TypeError, match=r"k must be a torch.Tensor, got NoneType. Is a `return` missing\?"):
        attention_scores(numbers(2, 2), None)


def test_traces_and_examples_are_compared_as_objects():
    example = golden_example()
    assert example == example and example != object()
    attention = example.attention()
    first, second = attention.trace(example.x), attention.trace(example.x)
    assert first == first and first != second


def test_nothing_is_changed_in_place():
    q, k, v, mask = numbers(2, 3), numbers(2, 3, seed=1), numbers(2, 3, seed=2), causal_mask(2)
    copies = [t.clone() for t in (q, k, v, mask)]
    scaled_dot_product_attention(q, k, v, mask)
    scores = numbers(2, 2)
    before = scores.clone()
    for step in (
        lambda: scale_scores(scores, 4),
        lambda: mask_scores(scores, mask),
        lambda: attention_weights(scores),
    ):
        step()
    assert torch.equal(scores, before)
    assert all(torch.equal(a, b) for a, b in zip((q, k, v, mask), copies, strict=True))


# The whole of one head


@pytest.mark.parametrize("dtype", list(TOLERANCE))
@pytest.mark.parametrize(
    "leading, n_q, n_k, d_k, d_v",
    [((), 3, 3, 4, 4), ((), 2, 5, 4, 3), ((2,), 3, 3, 4, 4), ((2, 3), 4, 6, 8, 5), ((2, 1, 3), 3, 2, 4, 4)],
)
@pytest.mark.parametrize("masked", [False, True])
def test_attention_equals_pytorchs(leading, n_q, n_k, d_k, d_v, dtype, masked):
    q, k, v = (
        numbers(*leading, n, d, seed=seed, dtype=dtype)
        for seed, (n, d) in enumerate([(n_q, d_k), (n_k, d_k), (n_k, d_v)])
    )
    mask = None
    if masked:
        mask = torch.rand(n_q, n_k, generator=torch.Generator().manual_seed(5)) > 0.4
        mask[0] = False  # a query without any key
    output, weights = scaled_dot_product_attention(q, k, v, mask)
    expected = F.scaled_dot_product_attention(q, k, v, attn_mask=mask)
    assert output.dtype == weights.dtype == dtype
    torch.testing.assert_close(output, expected, atol=TOLERANCE[dtype], rtol=TOLERANCE[dtype])
    if masked:
        assert (output[..., 0, :] == 0).all()
        assert (weights[..., 0, :] == 0).all()


@pytest.mark.parametrize("masked", [False, True])
def test_attention_runs_under_autocast(masked):
    mask = causal_mask(4) if masked else None
    q, x, attention = numbers(2, 4, 6), numbers(2, 4, 6), MultiHeadAttention(6, 3)
    expected, expected_weights = scaled_dot_product_attention(q, q, q, mask)
    with torch.autocast("cpu", dtype=torch.bfloat16):
        output, weights = scaled_dot_product_attention(q, q, q, mask)
        with_weights, without_weights = attention(x, mask)[0], attention(x, mask, need_weights=False)[0]
        with pytest.raises(TypeError, match="q is float32, k is float64"):  # which autocast leaves as it is
            attention_scores(q, q.double())
        with pytest.raises(TypeError, match="q is float64, k is float32"):
            attention_scores(q.double(), q)
    torch.testing.assert_close(output.float(), expected, atol=0.03, rtol=0)
    torch.testing.assert_close(weights.float(), expected_weights, atol=0.03, rtol=0)
    for found in (with_weights, without_weights):
        torch.testing.assert_close(found.float(), attention(x, mask)[0], atol=0.03, rtol=0)


def test_attention_has_pytorchs_gradients_also_with_a_fully_masked_row():
    mask = torch.tensor([[True, False, True], [False, False, False], [True, True, True]])
    results = []
    for function in (
        lambda q, k, v: scaled_dot_product_attention(q, k, v, mask)[0],
        lambda q, k, v: F.scaled_dot_product_attention(q, k, v, attn_mask=mask),
    ):
        tensors = [numbers(3, 4, seed=seed, dtype=torch.float64).requires_grad_() for seed in range(3)]
        (function(*tensors) ** 3).sum().backward()
        results.append([t.grad for t in tensors])
    for ours, theirs in zip(*results, strict=True):
        assert ours.isfinite().all()
        torch.testing.assert_close(ours, theirs)


# MultiHeadAttention


@pytest.mark.parametrize("bias", [True, False])
@pytest.mark.parametrize("kind", ["none", "causal", "padding", "window", "causal and padding"])
def test_from_torch_gives_pytorchs_output_and_weights(kind, bias):
    torch.manual_seed(0)
    b, n, d_model, h = 3, 7, 24, 4
    module = nn.MultiheadAttention(d_model, h, bias=bias, batch_first=True).eval()
    if bias:  # PyTorch starts with biases of zero, which would hide a bias forgotten
        nn.init.normal_(module.in_proj_bias)
        nn.init.normal_(module.out_proj.bias)
    ours = MultiHeadAttention.from_torch(module)
    x = numbers(b, n, d_model, seed=1)
    mask = masks_of_all_kinds(b, n)[kind]
    theirs = None
    if mask is not None:
        theirs = ~mask.expand(b, h, n, n).reshape(b * h, n, n)
    expected, expected_weights = module(x, x, x, attn_mask=theirs, average_attn_weights=False)
    output, weights = ours(x, mask)
    assert weights.shape == (b, h, n, n)
    torch.testing.assert_close(output, expected, atol=1e-5, rtol=0)
    torch.testing.assert_close(weights, expected_weights, atol=1e-5, rtol=0)


def test_from_torch_copies_and_keeps_number_type_and_mode():
    module = nn.MultiheadAttention(8, 2, dtype=torch.float64).eval()
    ours = MultiHeadAttention.from_torch(module)
    assert ours.w_q.weight.dtype == torch.float64
    assert not ours.training
    with torch.no_grad():
        ours.w_q.weight.zero_()
    assert module.in_proj_weight.abs().sum() > 0


def test_from_torch_leaves_the_callers_random_numbers_as_they_are():
    module = nn.MultiheadAttention(8, 2)
    before = torch.get_rng_state()
    MultiHeadAttention.from_torch(module)
    assert torch.equal(torch.get_rng_state(), before)


def test_from_torch_refuses_what_it_cannot_copy():
    with pytest.raises(TypeError, match="Linear"):
        MultiHeadAttention.from_torch(nn.Linear(2, 2))
    with pytest.raises(ValueError, match="kdim = 4"):
        MultiHeadAttention.from_torch(nn.MultiheadAttention(8, 2, kdim=4))
    for option in ("add_bias_kv", "add_zero_attn"):
        with pytest.raises(
            ValueError,
            match=rf"^module was made with {option}=True, which has no counterpart: leave it out\.$",
        ):
            MultiHeadAttention.from_torch(nn.MultiheadAttention(8, 2, **{option: True}))


@pytest.mark.parametrize("kind", ["none", "causal", "padding", "window", "causal and padding"])
def test_without_weights_the_output_is_the_same(kind):
    attention = MultiHeadAttention(24, 4)
    x = numbers(3, 7, 24)
    mask = masks_of_all_kinds(3, 7)[kind]
    output, weights = attention(x, mask)
    fused, nothing = attention(x, mask, need_weights=False)
    assert nothing is None
    assert weights is not None
    torch.testing.assert_close(output, fused, atol=1e-5, rtol=0)


@pytest.mark.parametrize("kind", ["none", "causal", "padding", "window"])
def test_trace_holds_every_step_under_its_name(kind):
    attention = MultiHeadAttention(24, 4).double()
    x = numbers(3, 7, 24, dtype=torch.float64)
    mask = masks_of_all_kinds(3, 7)[kind]
    trace = attention.trace(x, mask)
    assert isinstance(trace, AttentionTrace)
    shapes = {name: tuple(getattr(trace, name).shape) for name in trace.__dataclass_fields__}
    assert shapes == {
        "x": (3, 7, 24),
        "q": (3, 4, 7, 6),
        "k": (3, 4, 7, 6),
        "v": (3, 4, 7, 6),
        "scores": (3, 4, 7, 7),
        "scaled": (3, 4, 7, 7),
        "masked": (3, 4, 7, 7),
        "weights": (3, 4, 7, 7),
        "heads": (3, 4, 7, 6),
        "concat": (3, 7, 24),
        "output": (3, 7, 24),
    }
    for linear, name in ((attention.w_q, "q"), (attention.w_k, "k"), (attention.w_v, "v")):
        torch.testing.assert_close(getattr(trace, name), split_heads(linear(x), 4))
    torch.testing.assert_close(trace.scores, trace.q @ trace.k.mT)
    torch.testing.assert_close(trace.scaled, trace.scores / 6**0.5)
    expected = trace.scaled if mask is None else trace.scaled.masked_fill(~mask, -math.inf)
    torch.testing.assert_close(trace.masked, expected)
    torch.testing.assert_close(trace.weights, torch.softmax(trace.masked, dim=-1))
    torch.testing.assert_close(trace.heads, trace.weights @ trace.v)
    torch.testing.assert_close(trace.concat, merge_heads(trace.heads))
    torch.testing.assert_close(trace.output, attention.w_o(trace.concat))
    output, weights = attention(x, mask)
    # √6 divides the scores here and the query there, which round differently.
    torch.testing.assert_close(trace.output, output, rtol=1e-12, atol=1e-12)
    torch.testing.assert_close(trace.weights, weights, rtol=1e-12, atol=1e-12)
    with pytest.raises(AttributeError):
        trace.q = None


@pytest.mark.parametrize("default", [torch.float32, torch.float64])
@pytest.mark.parametrize("dtype", TOLERANCE)
@pytest.mark.parametrize("kind", ["none", "causal", "padding on the left", "an empty row"])
def test_forward_takes_the_steps_of_trace_to_the_last_bit(kind, dtype, default):
    """With d_k = 4: to halve the query or the scores rounds nothing. Other widths are compared above."""
    empty = causal_mask(5).clone()
    empty[2] = False
    left = padding_mask([3, 5], 5).flip(-1)
    mask = {"causal": causal_mask(5), "padding on the left": left, "an empty row": empty}.get(kind)
    attention, x = MultiHeadAttention(8, 2).to(dtype), numbers(2, 5, 8, dtype=dtype)
    torch.set_default_dtype(default)
    try:
        output, weights = attention(x, mask)
        trace = attention.trace(x, mask)
        found = torch.autograd.grad(output.sum(), attention.parameters())
        expected = torch.autograd.grad(trace.output.sum(), attention.parameters())
    finally:
        torch.set_default_dtype(torch.float32)
    assert output.dtype == weights.dtype == dtype
    assert torch.equal(output, trace.output) and torch.equal(weights, trace.weights)
    assert all(torch.equal(*pair) for pair in zip(found, expected, strict=True))


def test_an_input_without_a_batch_axis_works():
    attention = MultiHeadAttention(8, 2)
    x = numbers(1, 5, 8)
    output, weights = attention(x, causal_mask(5))
    alone, alone_weights = attention(x[0], causal_mask(5))
    assert alone_weights.shape == (2, 5, 5)
    torch.testing.assert_close(alone, output[0])
    torch.testing.assert_close(alone_weights, weights[0])


def test_bias_is_an_option_and_repr_names_the_sizes():
    for name in ("w_q", "w_k", "w_v", "w_o"):
        assert getattr(MultiHeadAttention(8, 2, bias=False), name).bias is None, name
        assert getattr(MultiHeadAttention(8, 2), name).bias is not None, name
    assert "d_model=8, num_heads=2, d_k=4" in repr(MultiHeadAttention(8, 2))


def test_a_mask_may_differ_by_sentence_and_by_head():
    attention = MultiHeadAttention(8, 2)
    x = numbers(3, 4, 8)
    mask = torch.rand(3, 2, 4, 4, generator=torch.Generator().manual_seed(0)) > 0.5
    mask = mask | torch.eye(4, dtype=torch.bool)
    _, weights = attention(x, mask)
    assert (weights[~mask] == 0).all()
    assert (weights[mask] > 0).all()


def test_leading_axes_that_broadcast_are_accepted():
    # Neither equal, nor of equal rank; with shapes in which the leading axes differ from the last two.
    q, k, v = numbers(7, 1, 2, 3), numbers(5, 4, 3, seed=1), numbers(5, 4, 6, seed=2)
    output, weights = scaled_dot_product_attention(q, k, v)
    assert weights.shape == (7, 5, 2, 4)
    torch.testing.assert_close(output[6, 3], weights[6, 3] @ v[3])
    assert attention_scores(numbers(7, 2, 4, 3), numbers(1, 4, 3)).shape == (7, 2, 4, 4)
    assert attention_scores(numbers(1, 4, 3), numbers(7, 2, 4, 3)).shape == (7, 2, 4, 4)


@pytest.mark.parametrize(
    "q_shape, k_shape",
    [
        ((2, 3, 4), (3, 2, 4)),
        ((5, 7, 3, 4), (5, 3, 4)),
        ((5, 3, 4), (5, 7, 3, 4)),
        ((2, 3, 4), (2, 3, 5, 4)),
        ((2, 3, 5, 4), (2, 3, 4)),
    ],
)
def test_leading_axes_that_only_look_alike_are_refused(q_shape, k_shape):
    with pytest.raises(ValueError, match="axes before the last two must match"):
        attention_scores(numbers(*q_shape), numbers(*k_shape))


# Bad input, in the learner's terms

A, B = torch.zeros(3, 4), torch.zeros(3, 5)
BOOL = torch.ones(3, 3, dtype=torch.bool)


@pytest.mark.parametrize(
    "call, error, words",
    [
        (lambda: project_qkv([[1.0]], A, A, A), TypeError, r"x must be a torch.Tensor, got list. Try torch.tensor\(x\)"),
        (lambda: project_qkv(A, [], A, A), TypeError, r"^w_q must be a torch.Tensor, got list"),
        (lambda: project_qkv(A, A.T, [], A), TypeError, r"^w_k must be a torch.Tensor, got list"),
        (lambda: project_qkv(A, A.T, A.T, []), TypeError, r"^w_v must be a torch.Tensor, got list"),
        (lambda: project_qkv(A, A.T, A.T.double(), A.T), TypeError, r"^x and w_k must hold the same kind"),
        (lambda: project_qkv(A, A.T, A.T, A.T.double()), TypeError, r"^x and w_v must hold the same kind"),
        (lambda: attention_scores(None, A), TypeError, r"^q must be a torch.Tensor, got NoneType"),
        (lambda: weighted_values(None, A), TypeError, r"^weights must be a torch.Tensor, got NoneType"),
        (lambda: weighted_values(A, None), TypeError, r"^v must be a torch.Tensor, got NoneType"),
        (lambda: mask_scores(None, BOOL), TypeError, r"^scores must be a torch.Tensor, got NoneType"),
        (lambda: project_qkv(A, A, A, A), ValueError, r"w_q must have shape .* d_model = 4.* x \(3, 4\); got \(3, 4\). Try w_q.T"),
        (lambda: project_qkv(A.expand(2, 3, 4), A, A, A), ValueError, r"d_model = 4, the size of the last axis of x \(2, 3, 4\); got \(3, 4\). Try w_q.T\.$"),
        (lambda: attention_scores(A.expand(2, 3, 4), B.expand(2, 3, 5)), ValueError, r"last axis of q is 4, that of k is 5 "),
        (lambda: weighted_values(A.expand(2, 3, 4), A.expand(2, 3, 4)), ValueError, r" has 4 keys, v \(2, 3, 4\) has 3\.$"),
        (lambda: project_qkv(A, A.T, torch.zeros(4), A.T), ValueError, r"w_k must .* got \(4,\)\.$"),
        (lambda: project_qkv(A, A.T, A.T, torch.zeros(5, 2)), ValueError, r"w_v must .* got \(5, 2\)\.$"),
        (lambda: project_qkv(torch.zeros(4), A.T, A.T, A.T), ValueError, r"^x must have shape \(…, n, d_model\): at least 2 axes. It has 1: \(4,\)\.$"),
        (lambda: project_qkv(A, A.T.double(), A.T, A.T), TypeError, r"^x and w_q must hold the same kind of number: x is float32, w_q is float64. Try w_q.float\(\)\.$"),
        (lambda: project_qkv(A.double(), A.T, A.T, A.T), TypeError, r"w_q is float32. Try w_q.double\(\)\.$"),
        (lambda: attention_scores(A.half(), A), TypeError, r"k is float32. Try k.to\(torch.float16\)\.$"),
        (lambda: project_qkv(A, nn.Linear(4, 3), A.T, A.T), TypeError, r"^w_q must be a torch.Tensor, got Linear. A layer stores its matrix the other way round. Try w_q.weight.T\.$"),
        (lambda: attention_scores((A, A), A), TypeError, r"^q must be a torch.Tensor, got tuple. It holds 2 of them: take one, such as q\[0\]\.$"),
        (lambda: attention_scores(nn.Identity(), A), TypeError, r"^q must be a torch.Tensor, got Identity\.$"),
        (lambda: project_qkv(A.long(), A.T, A.T, A.T), TypeError, r"x must hold floating-point numbers, got int64. Try x.float"),
        (lambda: attention_scores(A, B), ValueError, r"last axis of q is 4, that of k is 5"),
        (lambda: attention_scores(A, None), TypeError, r"k must be a torch.Tensor, got NoneType"),
        (lambda: attention_scores(A, A.half()), TypeError, r"q is float32, k is float16"),
        (lambda: attention_scores(torch.zeros(4), A), ValueError, r"q must have shape \(…, n_q, d_k\)"),
        (lambda: attention_scores(A, torch.zeros(4)), ValueError, r"k must have shape \(…, n_k, d_k\)"),
        (lambda: attention_scores(A.expand(2, 3, 4), A.expand(5, 3, 4)), ValueError, r"q \(2, 3, 4\) has \(2,\), k \(5, 3, 4\) has \(5,\)"),
        (lambda: scale_scores([1.0], 4), TypeError, r"scores must be a torch.Tensor"),
        (lambda: scale_scores(A, 0), ValueError, r"d_k must be at least 1, got 0"),
        (lambda: scale_scores(A, 2.0), TypeError, r"d_k must be a whole number such as 2, got 2.0"),
        (lambda: scale_scores(A, True), TypeError, r"d_k must be a whole number"),
        (lambda: mask_scores(A, A), TypeError, r"mask must be bool, got float32. True means .may attend. here; torch.nn.MultiheadAttention means the opposite"),
        (lambda: mask_scores(A, [[True]]), TypeError, r"mask must be a torch.Tensor, got list. Try torch.tensor\(mask, dtype=torch.bool\)"),
        (lambda: mask_scores(A, BOOL), ValueError, r"^mask \(3, 3\) does not broadcast to the scores \(3, 4\). From the right, .*keys 4, queries 3\.$"),
        (lambda: mask_scores(torch.zeros(2, 3, 4, 5), torch.ones(2, 5).bool()), ValueError, r"queries 4\. If it is \(b, n\), take mask\[:, None, None\]\.$"),
        (lambda: mask_scores(torch.zeros(2, 3, 4, 5), torch.ones(2, 3).bool()), ValueError, r"queries 4\.$"),
        (lambda: mask_scores(torch.zeros(2, 3, 4, 5), torch.ones(2, 4).bool()), ValueError, r"queries 4\.$"),
        (lambda: mask_scores(A, torch.tensor([[0.0, -math.inf]])), TypeError, r" It holds negative numbers, as a mask does that is added to the scores: take mask == 0\.$"),
        (lambda: mask_scores(A, torch.tensor([[0, 1]])), TypeError, r" Where 1 means “may attend”, take mask == 1; where 1 means “hidden”, mask == 0\.$"),
        (lambda: mask_scores(A.expand(2, 3, 4), BOOL), ValueError, r"scores \(2, 3, 4\).*keys 4, queries 3\.$"),
        (lambda: mask_scores(A, torch.ones(2, 3, 4, dtype=torch.bool)), ValueError, r"mask \(2, 3, 4\) does not broadcast to the scores \(3, 4\): it has 3 axes, they have 2\.$"),
        (lambda: mask_scores(A, torch.ones(1, 1, 1, 4).bool()), ValueError, r"^mask \(1, 1, 1, 4\) .* it has 4 axes, they have 2\. Take mask\[0, 0\]\.$"),
        (lambda: MultiHeadAttention(8, 2)(torch.zeros(3, 8), torch.ones(1, 1, 1, 3).bool()), ValueError, r"scores \(2, 3, 3\): it has 4 axes, they have 3\. Take mask\[0\]\.$"),
        (lambda: mask_scores(A.long(), BOOL), TypeError, r"scores must hold floating-point numbers"),
        (lambda: attention_weights(torch.zeros(3)), ValueError, r"^scores must have shape \(…, n_q, n_k\): at least 2 axes"),
        (lambda: attention_weights(A.int()), TypeError, r"scores must hold floating-point numbers, got int32"),
        (lambda: attention_weights("scores"), TypeError, r"scores must be a torch.Tensor, got str\.$"),
        (lambda: weighted_values(A, A), ValueError, r"weights \(3, 4\) has 4 keys, v \(3, 4\) has 3"),
        (lambda: weighted_values(torch.zeros(4), A), ValueError, r"^weights must have shape \(…, n_q, n_k\): at least 2 axes"),
        (lambda: weighted_values(A, torch.zeros(4)), ValueError, r"^v must have shape \(…, n_k, d_v\): at least 2 axes"),
        (lambda: weighted_values(A, A.T.double()), TypeError, r"weights is float32, v is float64"),
        (lambda: weighted_values(BOOL.float().expand(2, 3, 3), A.expand(5, 3, 4)), ValueError, r"weights \(2, 3, 3\) has \(2,\)"),
        (lambda: split_heads(torch.zeros(3, 10), 3), ValueError, r"^the last axis of x \(10\) is not divisible by num_heads \(3\); 2 or 5 heads would fit\.$"),
        (lambda: split_heads(torch.zeros(3, 24), 7), ValueError, r"\(24\) is not divisible by num_heads \(7\); 6 or 8 heads would fit\.$"),
        (lambda: split_heads(torch.zeros(3, 1), 2), ValueError, r"\(1\) is not divisible by num_heads \(2\); 1 heads would fit\.$"),
        (lambda: weighted_values(torch.zeros(2, 3, 3), torch.zeros(5, 3, 4)), ValueError, r"v \(5, 3, 4\) has \(5,\)\.$"),
        (lambda: attention_scores(torch.zeros(2, 7, 3, 4), torch.zeros(5, 7, 3, 4)), ValueError, r"q \(2, 7, 3, 4\) has \(2, 7\), k \(5, 7, 3, 4\) has \(5, 7\)\.$"),
        (lambda: split_heads(torch.zeros(3, 10), 0), ValueError, r"num_heads must be at least 1, got 0"),
        (lambda: split_heads(torch.zeros(3, 10), 2.5), TypeError, r"num_heads must be a whole number"),
        (lambda: split_heads(torch.zeros(10), 2), ValueError, r"^x must have shape \(…, n, h·d\): at least 2 axes"),
        (lambda: split_heads(3, 2), TypeError, r"x must be a torch.Tensor"),
        (lambda: merge_heads(A), ValueError, r"x must have shape \(…, h, n, d\): at least 3 axes. It has 2: \(3, 4\)"),
        (lambda: merge_heads(None), TypeError, r"x must be a torch.Tensor"),
        (lambda: MultiHeadAttention(10, 3), ValueError, r"d_model \(10\) is not divisible by num_heads \(3\); 2 or 5 heads would fit"),
        (lambda: MultiHeadAttention(7, 3), ValueError, r"d_model \(7\) is not divisible by num_heads \(3\); 7 heads would fit"),
        (lambda: MultiHeadAttention(0, 1), ValueError, r"d_model must be at least 1"),
        (lambda: MultiHeadAttention("8", 2), TypeError, r"d_model must be a whole number such as 2, got '8'"),
        (lambda: MultiHeadAttention(8, 2)(torch.zeros(1, 3, 6)), ValueError, r"last axis of x must be d_model = 8, got x \(1, 3, 6\) whose last axis is 6"),
        (lambda: MultiHeadAttention(8, 2)(torch.zeros(1, 8, 6)), ValueError, r"last axis of x must be d_model = 8, got x \(1, 8, 6\) whose last axis is 6"),
        (lambda: MultiHeadAttention(8, 2)(torch.zeros(8)), ValueError, r"^x must have shape \(…, n, d_model\): at least 2 axes"),
        (lambda: MultiHeadAttention(8, 2)(None), TypeError, r"x must be a torch.Tensor"),
        (lambda: MultiHeadAttention(8, 2)(torch.zeros(3, 8).double()), TypeError, r"weight is float32, x is float64. Try x.float\(\)\.$"),
        (lambda: MultiHeadAttention(8, 2)(torch.zeros(1, 3, 8), BOOL.float()), TypeError, r"mask must be bool"),
        (lambda: MultiHeadAttention(8, 2)(torch.zeros(1, 3, 8), [True]), TypeError, r"mask must be a torch.Tensor"),
        (lambda: MultiHeadAttention(8, 2)(torch.zeros(2, 3, 8), BOOL.expand(2, 3, 3)), ValueError, r"mask \(2, 3, 3\) has 3 axes.*all 4, to fit \(2, 2, 3, 3\): mask\[:, None\] makes \(b, n, n\) into \(b, 1, n, n\), mask\[:, None, None\] makes \(b, n\) into \(b, 1, 1, n\)\.$"),
        (lambda: MultiHeadAttention(8, 2)(torch.zeros(2, 3, 8), BOOL[0]), ValueError, r"mask \(3,\) has 1 axes"),
        (lambda: MultiHeadAttention(8, 2)(torch.zeros(2, 3, 8), torch.ones(4, 4).bool(), need_weights=False), ValueError, r"mask \(4, 4\) does not broadcast"),
        # With as many sentences as heads, (b, n, n) would fit as (h, n, n) and give wrong numbers.
        (lambda: MultiHeadAttention(8, 2).trace(torch.zeros(2, 3, 8), BOOL.expand(2, 3, 3)), ValueError, r"mask \(2, 3, 3\) has 3 axes"),
        (lambda: MultiHeadAttention(8, 2).trace(torch.zeros(2, 3, 8), torch.ones(4, 4).bool()), ValueError, r"mask \(4, 4\) does not broadcast"),
    ],
)  # fmt: skip
def test_bad_input_is_answered_in_the_learners_terms(call, error, words):
    with pytest.raises(error, match=words):
        call()


@pytest.mark.filterwarnings("ignore:Complex modules")
def test_complex_numbers_are_refused_in_the_learners_terms():
    attention = MultiHeadAttention(8, 2).to(torch.complex64)
    with pytest.raises(TypeError, match="weight must hold floating-point numbers, got complex64"):
        attention(torch.zeros(3, 8, dtype=torch.complex64))


@pytest.mark.parametrize("shape", [(5, 8), (2, 5, 8)])
def test_what_is_usual_is_not_looked_at_check_by_check(shape, monkeypatch):
    """On few tokens the checks would take as long as the projections."""

    def refuse(*_, **__):
        raise AssertionError("a slow check")

    slow = ("check_tensors", "check_dtypes", "check_axes", "check_mask", "check_mask_axes")
    attention = MultiHeadAttention(8, 2)
    for name in slow:
        monkeypatch.setattr(f"mha_helpers.attention.{name}", refuse)
    attention(numbers(*shape), causal_mask(5))
    with pytest.raises(AssertionError, match="a slow check"):
        attention(numbers(*shape).double(), causal_mask(5))
    with pytest.raises(AssertionError, match="a slow check"):
        attention(numbers(*shape), causal_mask(4))


CAUSAL = torch.ones(3, 3).tril().bool()


@pytest.mark.parametrize(
    ("mask", "advice"),
    [
        (nn.Transformer.generate_square_subsequent_mask(3), "take mask == 0."),  # 0 and −∞, to be added
        ((~CAUSAL) * -1e9, "take mask == 0."),
        (CAUSAL.float(), "Where 1 means “may attend”, take mask == 1;"),
        (CAUSAL.long(), "Where 1 means “may attend”, take mask == 1;"),
        ((~CAUSAL).float(), "where 1 means “hidden”, mask == 0."),
    ],
)
def test_who_follows_the_advice_on_a_mask_that_is_not_bool_gets_the_mask_that_was_meant(mask, advice):
    with pytest.raises(TypeError, match="mask must be bool") as caught:
        mask_scores(torch.zeros(3, 3), mask)
    assert advice in str(caught.value)
    expression = re.search(r"mask == \d", advice).group()
    assert torch.equal(eval(expression, {"mask": mask}), CAUSAL)


@pytest.mark.parametrize(
    "mask", [torch.zeros(3, 0), torch.zeros(3, 3, device="meta"), torch.zeros(3, 3) + 0j]
)
def test_a_mask_without_numbers_to_look_at_is_refused_all_the_same(mask):
    with pytest.raises(TypeError, match=r"mask must be bool, .* where 1 means “hidden”, mask == 0"):
        mask_scores(torch.zeros(3, 3, device=mask.device), mask)

"""Tasks that rule something out: a right answer that uses it is told so, in whichever way it is written."""

import sys
from types import SimpleNamespace

import numpy as np
import pytest
import torch
from exercise_rules import exercises_of, modules, status
from numpy import dot, einsum, matmul
from sample_exercises import FourLayers, double, told
from torch import nn
from torch.nn import functional as F

import mha_helpers
from mha_helpers.exercises import (
    e02_qkv_projection,
    e03_qk_scores,
    e05_causal_mask,
    e06_softmax,
    e07_weighted_values,
    e08_splitting_heads,
    e09_concat_and_output,
)
from mha_helpers.exercises.called import noting_calls


def jacobian(weights):
    return torch.autograd.functional.jacobian(
        lambda s: torch.softmax(s, dim=-1), weights.log().clamp(min=-99)
    )


def with_backward(weights):
    scores = weights.log().clamp(min=-99).requires_grad_()
    rows = []
    for i in range(len(weights)):
        scores.grad = None
        torch.softmax(scores, dim=-1)[i].backward()
        rows.append(scores.grad.clone())
    return torch.stack(rows)


def my_merge(heads):
    return heads.transpose(1, 2).flatten(2)


def scaled_dot_product_attention(q, k, v, mask=None):  # as page 07 defines it
    scores = mha_helpers.scale_scores(mha_helpers.attention_scores(q, k), q.shape[-1])
    if mask is not None:
        scores = mha_helpers.mask_scores(scores, mask)
    weights = mha_helpers.attention_weights(scores)
    return mha_helpers.weighted_values(weights, v), weights


class OfTheCourse(mha_helpers.MultiHeadAttention):
    pass


class MaskOfTheCourse(FourLayers):
    def forward(self, x, mask=None):
        q, k, v = self.cut(x)
        scores = q @ k.mT / q.shape[-1] ** 0.5
        if mask is not None:
            scores = mha_helpers.mask_scores(scores, mask)
        weights = torch.softmax(scores, dim=-1).nan_to_num()
        return self.w_o((weights @ v).transpose(1, 2).flatten(2)), weights


def by_identity(q, k, v, mask=None):
    identity = torch.eye(k.shape[-2]).expand(*k.shape[:-1], -1)
    weights = F.scaled_dot_product_attention(q, k, identity, attn_mask=mask)
    return weights @ v, weights


class FusedTwice(FourLayers):
    def forward(self, x, mask=None):
        heads, weights = by_identity(*self.cut(x), mask)
        return self.w_o(heads.transpose(1, 2).flatten(2)), weights


def own_logs(weights):
    return weights.log().clamp(min=-99)


def by_autograd(weights):
    scores = own_logs(weights).requires_grad_()
    again = torch.softmax(scores, dim=-1)
    return torch.stack([torch.autograd.grad(one, scores, retain_graph=True)[0] for one in again])


def row_by_row(derivative):
    return lambda weights: torch.stack(
        [derivative(own_logs(weights), row) for row in torch.eye(len(weights))]
    )


def dot_of_rows(q, k):
    return torch.tensor(np.array([[dot(query.numpy(), key.numpy()) for key in k] for query in q]))


def own_function_around_it(q, k):
    def dot(query, key):
        return query.numpy().dot(key.numpy())

    return torch.tensor(np.array([[dot(query, key) for key in k] for query in q]))


class Around:
    def __init__(self, row):
        self.row = row.numpy()

    def dot(self, other):
        return self.row.dot(other.row)


def own_method_around_it(q, k):
    return torch.tensor(np.array([[Around(query).dot(Around(key)) for key in k] for query in q]))


KIND = np.dtype("float32")
WHOLE = "scaled_dot_product_attention"
SHORTCUTS = [
    (e02_qkv_projection.linear_by_hand, F.linear, "linear"),
    (e03_qk_scores.by_loops, lambda q, k: q @ k.T, "@"),
    (e03_qk_scores.by_loops, lambda q, k: torch.matmul(q, k.mT), "@"),
    (e03_qk_scores.by_loops, lambda q, k: torch.stack([torch.stack([a @ b for b in k]) for a in q]), "@"),
    (e03_qk_scores.by_loops, lambda q, k: torch.stack([k.mv(row) for row in q]), "mv"),
    (e03_qk_scores.by_loops, lambda q, k: torch.einsum("id,jd->ij", q, k), "einsum"),
    (e03_qk_scores.by_loops, mha_helpers.attention_scores, "attention_scores"),
    (e05_causal_mask.causal, lambda n: mha_helpers.causal_mask(n), "causal_mask"),
    (e05_causal_mask.padding, mha_helpers.padding_mask, "padding_mask"),
    (e07_weighted_values.mix_all, mha_helpers.weighted_values, "weighted_values"),
    (e06_softmax.stable_softmax, lambda scores: scores.softmax(-1), "softmax"),
    (e06_softmax.stable_softmax, lambda scores: F.softmax(scores, dim=-1), "softmax"),
    (e06_softmax.stable_softmax, lambda scores: nn.Softmax(dim=-1)(scores), "softmax"),
    (e06_softmax.stable_softmax, lambda scores: torch.log_softmax(scores, dim=-1).exp(), "log_softmax"),
    (e06_softmax.stable_softmax, lambda scores: F.softmin(-scores, dim=-1), "softmin"),
    (e06_softmax.derivative, jacobian, "jacobian"),
    (e06_softmax.derivative, with_backward, "backward"),
    (
        e06_softmax.derivative,
        lambda w: torch.func.jacrev(lambda s: s.softmax(-1))(own_logs(w)),
        "jacrev",
    ),
    (
        e06_softmax.derivative,
        lambda w: torch.func.jacfwd(lambda s: s.softmax(-1))(own_logs(w)),
        "jacfwd",
    ),
    (
        e06_softmax.derivative,
        row_by_row(lambda s, row: torch.func.vjp(lambda t: t.softmax(-1), s)[1](row)[0]),
        "vjp",
    ),
    (
        e06_softmax.derivative,
        row_by_row(lambda s, row: torch.autograd.functional.vjp(lambda t: t.softmax(-1), s, row)[1]),
        "vjp",
    ),
    (
        e06_softmax.derivative,  # a symmetric table, so rows may be columns
        row_by_row(lambda s, row: torch.func.jvp(lambda t: t.softmax(-1), (s,), (row,))[1]),
        "jvp",
    ),
    (
        e06_softmax.derivative,
        row_by_row(lambda s, row: torch.func.grad(lambda t: t.softmax(-1) @ row)(s)),
        "grad",
    ),
    (e06_softmax.derivative, by_autograd, "grad"),
    (e07_weighted_values.whole_attention, mha_helpers.scaled_dot_product_attention, WHOLE),
    (e07_weighted_values.whole_attention, scaled_dot_product_attention, WHOLE),
    (e07_weighted_values.whole_attention, by_identity, WHOLE),
    (e08_splitting_heads.cut_into_heads, mha_helpers.split_heads, "split_heads"),
    (
        e08_splitting_heads.cut_into_heads,
        lambda x, num_heads: mha_helpers.split_heads(x, num_heads),
        "split_heads",
    ),
    (e09_concat_and_output.merge_the_heads, mha_helpers.merge_heads, "merge_heads"),
    (e09_concat_and_output.merge_the_heads, my_merge, "my_merge"),
    (e09_concat_and_output.the_class, mha_helpers.MultiHeadAttention, "MultiHeadAttention"),
    (e09_concat_and_output.the_class, OfTheCourse, "MultiHeadAttention"),
    (e09_concat_and_output.the_class, MaskOfTheCourse, "mask_scores"),
    (e09_concat_and_output.the_class, FusedTwice, WHOLE),
    (e09_concat_and_output.three_bugs, mha_helpers.MultiHeadAttention, "MultiHeadAttention"),
    (e03_qk_scores.by_loops, lambda q, k: torch.from_numpy(q.numpy() @ k.numpy().T), "@"),
    (e03_qk_scores.by_loops, lambda q, k: torch.from_numpy(np.matmul(q.numpy(), k.numpy().T)), "@"),
    (e03_qk_scores.by_loops, lambda q, k: torch.from_numpy(q.numpy().dot(k.numpy().T)), "dot"),
    (
        e03_qk_scores.by_loops,
        lambda q, k: torch.from_numpy(np.einsum("id,jd->ij", q.numpy(), k.numpy())),
        "einsum",
    ),
    (e03_qk_scores.by_loops, dot_of_rows, "dot"),
    (e03_qk_scores.by_loops, own_function_around_it, "dot"),
    (e03_qk_scores.by_loops, own_method_around_it, "dot"),
    (e03_qk_scores.by_loops, lambda q, k: torch.from_numpy(matmul(q.numpy(), k.numpy().T)), "@"),
    (
        e03_qk_scores.by_loops,  # KIND is NumPy's, and has no name
        lambda q, k: torch.from_numpy(matmul(q.numpy(), k.numpy().T, dtype=KIND)),
        "@",
    ),
    (
        e03_qk_scores.by_loops,
        lambda q, k: torch.from_numpy(einsum("id,jd->ij", q.numpy(), k.numpy())),
        "einsum",
    ),
    (
        e03_qk_scores.by_loops,
        lambda q, k: torch.from_numpy(np.linalg.multi_dot([q.numpy(), k.numpy().T])),
        "multi_dot",
    ),
    (e03_qk_scores.by_loops, lambda q, k: torch.addmm(torch.zeros(len(q), len(k)), q, k.T), "addmm"),
]


@pytest.mark.parametrize(("exercise", "answer", "left_out"), SHORTCUTS)
def test_a_shortcut_is_told_to_do_without(exercise, answer, left_out):
    assert told(exercise, answer) == (
        f"The result is right, but this task does without {left_out}, even to check your own result:"
        " write that step yourself."
    )


@pytest.mark.parametrize("name", modules())
def test_each_exercise_that_rules_something_out_has_a_shortcut_here(name):
    ruled_out = [one for one in exercises_of(name).values() if getattr(one, "without", ())]
    assert all(any(one is exercise for exercise, _, _ in SHORTCUTS) for one in ruled_out)


def test_a_shortcut_that_writes_to_the_screen_is_seen():
    def talkative(scores):
        sys.stdout.write("my softmax\n")
        return scores.softmax(-1)

    assert "does without softmax" in e06_softmax.stable_softmax.verdict(talkative).sentence


def test_a_helper_of_ones_own_may_have_any_name():
    def softmax(row):
        powers = (row - row.max()).exp()
        return powers / powers.sum()

    def my_softmax(scores):
        rows = [softmax(row) for row in scores.flatten(0, -2)]
        return torch.stack(rows).view(scores.shape)

    def dot(query, key):
        return sum(a * b for a, b in zip(query, key, strict=True))

    def my_loop(q, k):
        return torch.stack([torch.stack([dot(query, key) for key in k]) for query in q])

    assert status(e06_softmax.stable_softmax, my_softmax)[0] == "correct"
    assert status(e03_qk_scores.by_loops, my_loop)[0] == "correct"


def inner(query, key):
    return sum(a * b for a, b in zip(query, key, strict=True))


def test_a_helper_of_ones_own_may_stand_in_a_cell_of_its_own():
    def my_loop(q, k):
        return torch.stack([torch.stack([inner(query, key) for key in k]) for query in q])

    assert status(e03_qk_scores.by_loops, my_loop)[0] == "correct"


class Row:
    """A learner's own vector, with a product of its own."""

    def __init__(self, numbers):
        self.numbers = list(numbers)

    def dot(self, other):
        return sum(a * b for a, b in zip(self.numbers, other.numbers, strict=True))


def test_nobody_is_blamed_for_a_method_of_their_own():
    def my_loop(q, k):
        return torch.tensor([[Row(query).dot(Row(key)) for key in k] for query in q])

    assert status(e03_qk_scores.by_loops, my_loop)[0] == "correct"


def test_nobody_is_blamed_for_what_pytorch_calls_inside():
    def my_loop(q, k):  # a function inside vmap is called "inner"
        return torch.vmap(lambda query: (query * k).sum(-1))(q)

    assert status(e03_qk_scores.by_loops, my_loop)[0] == "correct"


def test_nobody_is_blamed_for_what_numpy_does_inside():
    def from_lengths(q, k):
        both, gap = (q[:, None] + k).numpy(), (q[:, None] - k).numpy()
        return torch.from_numpy(np.linalg.norm(both, axis=-1) ** 2 - np.linalg.norm(gap, axis=-1) ** 2) / 4

    assert status(e03_qk_scores.by_loops, from_lengths)[0] == "correct"


def test_other_ways_without_it_are_right():
    assert status(e03_qk_scores.by_loops, lambda q, k: (q[:, None] * k).sum(-1))[0] == "correct"
    assert (
        status(e06_softmax.stable_softmax, lambda s: (s - s.logsumexp(-1, keepdim=True)).exp())[0]
        == "correct"
    )
    assert (
        status(e02_qkv_projection.linear_by_hand, lambda x, weight, bias: x @ weight.mT + bias)[0]
        == "correct"
    )


def test_a_wrong_answer_hears_what_is_wrong_first():
    assert "does without" not in told(e06_softmax.stable_softmax, lambda scores: scores.softmax(-2))


def test_it_is_seen_on_every_input():
    only_large = double(without=["torch.add"])
    assert "without add" in told(only_large, lambda x: 2 * x if x.dim() < 3 else torch.add(x, x))


def test_the_first_that_is_named_is_told():
    both = double(without=["torch.mul", "torch.add"])
    assert "without mul, even" in told(both, lambda x: torch.add(torch.mul(x, 1), x))


def test_a_profiler_that_was_there_is_there_again():
    before = sys.getprofile()
    watcher = SimpleNamespace(seen=0)

    def watch(frame, event, argument):
        watcher.seen += 1

    sys.setprofile(watch)
    try:
        with pytest.raises(ZeroDivisionError), noting_calls():
            1 / 0  # noqa: B018
        assert sys.getprofile() is watch
    finally:
        sys.setprofile(before)
    with noting_calls() as names:
        torch.ones(2)
    torch.zeros(2).exp()
    assert "torch.exp" not in names

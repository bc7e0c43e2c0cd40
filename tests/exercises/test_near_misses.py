"""Answers that look right: each is wrong on one kind of input, or right in other words."""

import math

import pytest
import torch
from exercise_rules import status
from sample_exercises import told

from mha_helpers import mask_scores
from mha_helpers.exercises import (
    e01_inputs_and_shapes,
    e02_qkv_projection,
    e03_qk_scores,
    e04_scaling,
    e05_causal_mask,
    e06_softmax,
    e07_weighted_values,
    e08_splitting_heads,
    e09_concat_and_output,
    e10_trained_heads,
)
from mha_helpers.exercises.whole_mistakes import attention_class, attention_with


def cut_in_three(x, w_q, w_k, w_v):
    return (x @ torch.cat([w_q, w_k, w_v], dim=-1)).chunk(3, dim=-1)


def plain_exponentials(scores, mask):
    exponentials = scores.masked_fill(~mask, -math.inf).exp()
    return (exponentials / exponentials.sum(dim=-1, keepdim=True)).nan_to_num()


def masked_late(q, k, v, mask=None):
    weights = torch.softmax(q @ k.mT / math.sqrt(q.shape[-1]), dim=-1)
    if mask is not None:
        weights = weights * mask
        weights = (weights / weights.sum(dim=-1, keepdim=True)).nan_to_num()
    return weights @ v, weights


def keys_before(first):
    def score(weights):
        n = weights.shape[-1]
        return sum(weights[..., i, i - 1] for i in range(first, n)) / (n - 1)

    return score


def equal_spreads(scale):
    spreads = [scale(torch.randn(400, d) @ torch.randn(400, d).mT, d).std() for d in (16, 256)]
    return bool(abs(spreads[0] - spreads[1]) < 0.1)


def no_products(scale):
    return all(bool(0.8 < scale(torch.randn(200, 200), d_k).std() < 1.25) for d_k in (16, 256))


def row_by_row(token_ids, table, positions):
    rows = []
    for place, word in enumerate(token_ids):
        rows.append(table[word] + positions[place])
    return torch.stack(rows)


def three_numbers_of_each_token(split):
    x = torch.arange(24.0).view(4, 6)
    heads = split(x, 3)
    return all(heads[i, t, 0] == x[t, i * 2] for t in range(4) for i in range(3))


def first_and_last(split):
    x = torch.arange(24.0).view(4, 6)
    heads = split(x, 3)
    return torch.equal(heads[:, 0].flatten(), x[0]) and torch.equal(heads[:, -1].flatten(), x[-1])


def one_token_of_each_head(split):
    x = torch.arange(24.0).view(4, 6)
    heads = split(x, 3)
    return all(torch.equal(heads[i, i], x[i, 2 * i : 2 * i + 2]) for i in range(3))


def in_double_precision(scores):
    exponentials = scores.double().exp()
    return (exponentials / exponentials.sum(dim=-1, keepdim=True)).float()


def one_token(split):
    x = torch.arange(24.0).view(4, 6)
    return torch.equal(split(x, 3)[:, 0].flatten(), x[0])


def last_token(split):
    x = torch.arange(24.0).view(4, 6)
    return torch.equal(split(x, 3)[:, -1].flatten(), x[-1])


def last_verdict(scale):
    for d_k in (16, 256):
        q, k = torch.randn(400, d_k), torch.randn(400, d_k)
        verdict = 0.8 < scale(q @ k.mT, d_k).std() < 1.25
    return bool(verdict)


def all_asserted(scale):
    assert spread_at(16, 256)(scale)
    return True


def by_number_of_axes(x, w_q, w_k, w_v):
    if x.dim() == 2:
        return x @ w_q, x @ w_k, x @ w_v
    return tuple(torch.einsum("bnd,dk->bnk", x, w) for w in (w_q, w_k, w_v))


def weight_before_x(x, weight, bias):
    turned = x.T if x.dim() == 2 else x.transpose(1, 2)
    return (weight @ turned).transpose(-1, -2) + bias


@pytest.mark.parametrize(
    ("exercise", "answer"),
    [
        (e02_qkv_projection.all_three, by_number_of_axes),
        (e02_qkv_projection.all_three, cut_in_three),
        (e07_weighted_values.whole_attention, masked_late),
        (e08_splitting_heads.catch_the_scramble, one_token),
        (e08_splitting_heads.catch_the_scramble, first_and_last),
        (e08_splitting_heads.catch_the_scramble, one_token_of_each_head),
        (e06_softmax.stable_softmax, in_double_precision),
        (e08_splitting_heads.catch_the_scramble, last_token),
    ],
)
def test_an_answer_that_fails_on_one_kind_of_input_is_refused(exercise, answer):
    assert status(exercise, answer)[0] == "not yet"


def read_by_the_query(weights, letters):
    score = torch.zeros(weights.shape[:2])
    for i in range(len(letters)):
        for j in range(i + 1):
            if letters[j] == letters[i] and j + 1 < len(letters):
                score[:, i] += weights[:, i, j + 1]
    return score


def after_any_copy(weights, letters):
    found = letters[:, None] == letters.roll(1)
    found[:, 0] = False
    return (weights * found).sum(dim=-1)


def before_a_copy(weights, letters):
    return (weights.tril() * (letters[:, None] == letters.roll(-1))).sum(dim=-1)


def exact(scale):
    scores = torch.randn(10, 10)
    return all(torch.equal(scale(scores, d_k), scores / math.sqrt(d_k)) for d_k in (4, 37, 300))


def spread_at(*d_ks):
    def test(scale):
        for d_k in d_ks:
            q, k = torch.randn(400, d_k), torch.randn(400, d_k)
            if not 0.8 < scale(q @ k.mT, d_k).std() < 1.25:
                return False
        return True

    return test


def moves_one_row(split):
    x = torch.arange(18.0).view(3, 6)
    changed = x.clone()
    changed[1] += 1
    moved = (split(x, 3) != split(changed, 3)).any(dim=-1)
    return moved.int().tolist() == [[0, 1, 0]] * 3


def first_two(query, key):
    total = 0
    for feature in range(2):
        total = total + query[feature] * key[feature]
    return total


def cells(write):
    def scores(q, k):
        table, total = torch.zeros(len(q), len(k)), 0
        for i in range(len(q)):
            for j in range(len(k)):
                for feature in range(q.shape[1]):
                    product = q[i, feature] * k[j, feature]
                    total = total + product
                    table[i, j] = product if write == "last" else total
        return table

    return scores


def sum_loses_its_axis(scores):
    return scores.exp() / scores.exp().sum(dim=-1)


def to_add(lengths, n):
    return torch.where(torch.arange(n) < lengths[:, None], 0.0, -math.inf)[:, None, None]


def a_number(blocked):
    return lambda scores, mask: torch.softmax(scores.masked_fill(~mask, blocked), -1) * mask


def over_columns(scores, mask):
    return torch.softmax(scores.masked_fill(~mask, -math.inf), dim=-2).nan_to_num()


@pytest.mark.parametrize(
    ("exercise", "answer", "words"),
    [
        (e01_inputs_and_shapes.tokens_to_x, row_by_row, "Your loop goes over the first axis."),
        (e03_qk_scores.one_score, first_two, "Only the first two features are counted"),
        (e03_qk_scores.by_loops, cells("last"), "Only the last product is left"),
        (e03_qk_scores.by_loops, cells("all"), "Every cell also holds all cells before it"),
        (e04_scaling.scale_any_head, lambda s, d_model, h: s / math.sqrt(2), "You divide by √2"),
        (e04_scaling.published_scale, torch.tensor([1.0, 0.01, 0.02]), "Your 100 became 1."),
        (e04_scaling.scale_test, spread_at(128), "Your test tries one d_k"),
        (e04_scaling.scale_test, spread_at(100, 128), "Your test tries one d_k"),
        (e04_scaling.scale_test, last_verdict, "Your test lets pass what is wrong at the first d_k alone"),
        (e05_causal_mask.leak, ["c", "c", "d", "b"], "c and d leak. b moves by rounding alone"),
        (
            e05_causal_mask.causal,
            lambda n: bool(torch.ones(n, n).tril()),
            "With n = 3, it raises RuntimeError",
        ),
        (
            e05_causal_mask.masked_weights,
            lambda s, m: torch.softmax(s + m, -1),
            "You add the mask, which is 0 or 1",
        ),
        (
            e08_splitting_heads.catch_the_scramble,
            three_numbers_of_each_token,
            "One split slips through: the last number of each head comes a token late.",
        ),
        (e04_scaling.scale_test, equal_spreads, "Your test asks for equal spreads alone"),
        (e04_scaling.scale_test, no_products, "Your scores have spread 1 before the scale"),
        (e05_causal_mask.masked_weights, plain_exponentials, "e to the power of 150 is too large"),
        (e10_trained_heads.previous_letter_score, keys_before(0), "At query 0 you read key −1"),
        (e05_causal_mask.masked_weights, over_columns, "The columns sum to 1"),
        (
            e05_causal_mask.masked_weights,
            lambda s, m: torch.softmax(s + (1 - m.float()) * -math.inf, -1).nan_to_num(),
            "At the end you write 0 over the weights that count (True means “may attend”), or clear away NaN",
        ),
        (
            e05_causal_mask.masked_weights,
            lambda s, m: a_number(-math.inf)(s, m).masked_fill(~m.any(dim=-2, keepdim=True), 0.0),
            "Right for the example, wrong for other inputs: with scores of shape (2, 3, 5, 5) and mask of shape"
            " (5, 5), the result has NaN",
        ),
        (e06_softmax.stable_softmax, sum_loses_its_axis, "The sum of a row has lost its axis"),
        (e08_splitting_heads.catch_the_scramble, moves_one_row, "Your test takes one token alone."),
        (e04_scaling.scale_test, exact, "You compare to the last bit."),
        (
            e06_softmax.stable_softmax,
            lambda s: torch.softmax(s.clamp(max=90), -1),
            "You cut large scores off",
        ),
        (e10_trained_heads.weight_after_copies, read_by_the_query, "You take the query for a copy of itself"),
        (e10_trained_heads.weight_after_copies, after_any_copy, "You count places after the query as well"),
        (e10_trained_heads.weight_after_copies, before_a_copy, "You look one place before the copies."),
        (e03_qk_scores.best_match, ("eats", "fish"), "Give two numbers, row and column."),
        (e06_softmax.one_weight, 0.886, "Your answer is close, but not right to 3 decimals."),
        (e06_softmax.one_weight, 0.893, "One of the three is missing from the sum"),
        (e03_qk_scores.best_match, (1, 3), "The row is right."),
        (
            e03_qk_scores.all_scores,
            lambda q, k: q @ k.reshape(*k.shape[:-2], k.shape[-1], -1),
            "The numbers of k are cut into other rows",
        ),
        (e04_scaling.scale_any_head, lambda s, d, h: (s / (d // h)).sqrt(), "The result has NaN in 10 of 27"),
        (e05_causal_mask.padding, to_add, "This is a mask to add"),
        (e05_causal_mask.masked_weights, a_number(-20), "Your blocked score is a number"),
        (e05_causal_mask.masked_weights, a_number(-1e4), "Your blocked score is a number"),
        (e06_softmax.one_weight, 0.89, "Your answer is close; give it with 3 decimals."),
    ],
)
def test_such_an_answer_is_told_what_it_does(exercise, answer, words):
    assert told(exercise, answer).startswith(words)


def the_last_step_right(masking):
    """The solution of 7.5 and 9.6 with another masking; the hidden weights are set to 0, as hint 4 says."""

    def attention(q, k, v, mask=None):
        scores = q @ k.transpose(-2, -1) / q.shape[-1] ** 0.5
        if mask is not None:
            scores = masking(scores, mask)
        weights = torch.softmax(scores, dim=-1)
        if mask is not None:
            weights = weights.masked_fill(~mask, 0.0)
        return weights @ v, weights

    return attention


def by_index(scores, mask):
    scores[~mask] = -torch.inf
    return scores


def result_thrown_away(scores, mask):
    scores.masked_fill(~mask, -torch.inf)
    return scores


@pytest.mark.parametrize(
    ("masking", "words"),
    [
        (lambda scores, mask: scores.masked_fill(mask, -torch.inf), "The mask is read the wrong way round"),
        (lambda scores, mask: scores.masked_fill(~mask, 0), "A blocked score becomes 0"),
        (lambda scores, mask: scores * mask, "A blocked score becomes 0"),
        (lambda scores, mask: scores + mask, "You add the mask"),
        (lambda scores, mask: scores + ~mask * -torch.inf, "False times −∞ is 0 · ∞"),
        (result_thrown_away, "The mask works after softmax alone"),
    ],
)
def test_one_slip_in_the_mask_and_all_else_right(masking, words):
    attention = the_last_step_right(masking)
    assert told(e07_weighted_values.whole_attention, attention).startswith(words)
    of_heads = attention_class(attend=attention)
    assert told(e09_concat_and_output.the_class, of_heads).startswith(words)


def the_visible_set_to_0(q, k, v, mask=None):
    scores = q @ k.transpose(-2, -1) / q.shape[-1] ** 0.5
    if mask is not None:
        scores = scores.masked_fill(~mask, -torch.inf)
    weights = torch.softmax(scores, dim=-1)
    if mask is not None:
        weights = weights.masked_fill(mask, 0.0)
    return weights @ v, weights


def test_a_last_step_the_wrong_way_round_is_told_so():
    words = "At the end you write 0 over the weights that count"
    assert told(e07_weighted_values.whole_attention, the_visible_set_to_0).startswith(words)
    assert told(e09_concat_and_output.the_class, attention_class(attend=the_visible_set_to_0)).startswith(
        words
    )
    for last in (lambda w, m: w.masked_fill(m, 0.0), lambda w, m: (w * ~m).nan_to_num()):
        answer = lambda s, m, last=last: last(torch.softmax(s.masked_fill(~m, -torch.inf), -1), m)  # noqa: E731
        assert told(e05_causal_mask.masked_weights, answer).startswith(words)


def test_a_mask_by_index_is_told_so_after_the_last_step_as_well():
    words = "In square brackets a mask is not broadcast"
    assert told(e07_weighted_values.whole_attention, the_last_step_right(by_index)).startswith(words)


def test_power_before_division():
    attention = attention_with(scale=lambda scores, d_k: scores / d_k**1 / 2)
    words = "You divide by d_k, then by 2"
    assert told(e07_weighted_values.whole_attention, attention).startswith(words)
    assert told(e09_concat_and_output.the_class, attention_class(attend=attention)).startswith(words)


@pytest.mark.parametrize("way", ["first", "sum", "others"])
def test_what_comes_of_the_printed_numbers_is_known(way):
    cat, eats, fish = (math.exp(score) for score in (3.536, -1.414, 1.414))
    answer = {"first": cat, "sum": cat + eats + fish, "others": cat / (eats + fish)}[way]
    assert "not the right one" not in told(e06_softmax.one_weight, answer)


def test_after_the_copies_from_place_1():
    def equal_letters(weights, letters):
        found = torch.zeros(weights.shape[:-1])
        for i in range(len(letters)):
            for j in range(1, i + 1):
                if letters[j] == letters[i]:
                    found[..., i] += weights[..., i, j]
        return found

    assert told(e10_trained_heads.weight_after_copies, equal_letters).startswith(
        "That is the weight on all equal letters."
    )


def forgets_that_there_may_be_no_mask(q, k, v, mask=None):
    scores = (q @ k.transpose(-2, -1) / math.sqrt(q.shape[-1])).masked_fill(~mask, -math.inf)
    weights = torch.softmax(scores, dim=-1)
    return weights @ v, weights


def marks_by_index(scores, mask):
    scores = scores.clone()
    scores[~mask] = -math.inf
    return torch.softmax(scores, dim=-1).nan_to_num()


def whole_lengths(lengths, n):
    mask = torch.zeros(len(lengths), 1, 1, n, dtype=torch.bool)
    mask[..., :lengths] = True
    return mask


def asks_the_mask_itself(q, k, v, mask=None):
    scores = q @ k.mT / math.sqrt(q.shape[-1])
    if mask:
        scores = scores.masked_fill(~mask, -math.inf)
    weights = torch.softmax(scores, dim=-1)
    return weights @ v, weights


def masks_without_asking(q, k, v, mask=None):
    weights = torch.softmax(mask_scores(q @ k.mT / math.sqrt(q.shape[-1]), mask), dim=-1)
    return weights @ v, weights


def multiplied_too_early(n):
    place = torch.arange(n)
    return torch.ones(n, n) & (place[:, None] >= place)


@pytest.mark.parametrize(
    ("exercise", "answer", "words"),
    [
        (e04_scaling.scale_test, all_asserted, "A failed assert ends the call: where the answer is no"),
        (
            e07_weighted_values.whole_attention,
            forgets_that_there_may_be_no_mask,
            "it raises TypeError: bad op",
        ),
        (e05_causal_mask.masked_weights, marks_by_index, "In square brackets a mask is not broadcast"),
        (
            e05_causal_mask.padding,
            whole_lengths,
            "A single whole number is needed there, not a whole tensor.",
        ),
        (e05_causal_mask.causal, multiplied_too_early, "it raises NotImplementedError: "),
        (
            e07_weighted_values.whole_attention,
            forgets_that_there_may_be_no_mask,
            "ask `if mask is not None`.",
        ),
        (
            e07_weighted_values.whole_attention,
            asks_the_mask_itself,
            "`is not None` asks whether there is one.",
        ),
        (
            e07_weighted_values.whole_attention,
            masks_without_asking,
            "got NoneType. Without a mask, leave the step out",
        ),
        (
            e08_splitting_heads.cut_into_heads,
            lambda x, h: x.view(*x.shape[:2], h, x.shape[-1] / h).transpose(1, 2),
            "A size must be a whole number: // in place of / keeps it one.",
        ),
        (
            e06_softmax.stable_softmax,
            lambda scores: (scores - scores.max(dim=-1, keepdim=True)).exp(),
            "max along an axis returns two things",
        ),
        (
            e01_inputs_and_shapes.tokens_to_x,
            lambda token_ids, table, positions: table[token_ids] + positions[: token_ids.shape[1]],
            "A tuple, as .shape is one, has fewer entries than that",
        ),
    ],
)
def test_an_error_is_told_with_its_own_cause(exercise, answer, words):
    assert words in told(exercise, answer)


@pytest.mark.parametrize(
    "answer",
    [
        lambda scores: (scores - scores.logsumexp(dim=-1, keepdim=True)).exp(),
        lambda scores: (scores.double() - scores.double().logsumexp(-1, True)).exp().float(),
    ],
)
def test_a_softmax_by_logarithms_is_right(answer):
    assert status(e06_softmax.stable_softmax, answer)[0] == "correct"


def test_the_same_loop_from_the_second_letter_on_is_right():
    assert status(e10_trained_heads.previous_letter_score, keys_before(1))[0] == "correct"

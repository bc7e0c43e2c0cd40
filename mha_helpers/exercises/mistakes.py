"""The usual mistakes of each step, as code that makes them, with what to tell the learner.

Every list belongs to one function of the course and takes its arguments: ``SCALING`` those of
``scale_scores(scores, d_k)``, and so on. ``pick(SCALING, "÷d_k")`` takes some of a list by name.
Mistakes in whole attention and in the class are put together from these in ``whole_mistakes.py``.
"""

import torch

from mha_helpers.attention import (
    attention_scores,
    attention_weights,
    mask_scores,
    scale_scores,
)
from mha_helpers.exercises.framework import Mistake


def pick(mistakes, *names):
    """Return the mistakes with these names, in this order; a ``KeyError`` names one that is not there."""
    by_name = {mistake.name: mistake for mistake in mistakes}
    return [by_name[name] for name in names]


# 02: project_qkv(x, w_q, w_k, w_v)

PROJECTION = [
    Mistake(
        "V from W_K",
        lambda x, w_q, w_k, w_v: (x @ w_q, x @ w_k, x @ w_k),
        "Your values are made with W_K, so they repeat the keys: each of the three has a matrix of its own.",
    ),
    Mistake(
        "Q and K swapped",
        lambda x, w_q, w_k, w_v: (x @ w_k, x @ w_q, x @ w_v),
        "Queries and keys have changed places: which matrix makes which, and in which order do you return"
        " them?",
    ),
    Mistake(
        "K = Q",
        lambda x, w_q, w_k, w_v: (x @ w_q, x @ w_q, x @ w_v),
        "Your keys repeat the queries: look at which matrix makes the keys.",
    ),
    Mistake(
        "one matrix for all",
        lambda x, w_q, w_k, w_v: (x @ w_q, x @ w_q, x @ w_q),
        "One matrix makes all three: a query, a key and a value each need their own.",
    ),
    Mistake(
        "matrices transposed",
        lambda x, w_q, w_k, w_v: (x @ w_q.T, x @ w_k.T, x @ w_v.T),
        "The matrices are turned over: their rows belong to the features of x, as they are.",
    ),
    Mistake(
        "x left as it is",
        lambda x, w_q, w_k, w_v: (x, x, x),
        "All three are x itself: the three matrices have not been used yet.",
    ),
]

# 03: attention_scores(q, k)

SCORES = [
    Mistake(
        ".T",
        lambda q, k: q @ k.T,
        "`.T` turns all axes round, batch and heads too: which two axes of k should change places?",
    ),
    Mistake(
        "view in place of transpose",
        lambda q, k: q @ k.reshape(*k.shape[:-2], k.shape[-1], k.shape[-2]),
        "The numbers of k are cut into other rows. Neither view nor reshape turns an axis round: what does?",
    ),
    Mistake(
        "transposed picture",
        lambda q, k: k @ q.transpose(-2, -1),
        "Your table is turned over: keys stand in the rows. Which of the two should give the rows?",
    ),
    Mistake(
        "transpose of the wrong axes: heads",
        lambda q, k: q @ k.transpose(-3, -1),
        "The transpose moves the axis of heads: count from the end which two axes should move.",
    ),
    Mistake(
        "transpose of the wrong axes: 1 and 2",
        lambda q, k: q @ k.transpose(1, 2),
        "Here transpose(1, 2) fits three axes; with four it mixes heads and tokens. Count axes from the end.",
    ),
    Mistake(
        "transpose of the wrong axes: 0 and 1",
        lambda q, k: q @ k.transpose(0, 1),
        "Here transpose(0, 1) fits two axes; with more it mixes up batch and heads. Count axes from the end.",
    ),
    Mistake(
        "no transpose",
        lambda q, k: q @ k,
        "Nothing is turned, so features of q meet tokens of k: which axis of k must face the features of q?",
    ),
    Mistake(
        "elementwise product",
        lambda q, k: q * k,
        "This multiplies cell by cell: each query meets one key only, and the products are never added up.",
    ),
    Mistake(
        "sum of elementwise product",
        lambda q, k: (q * k).sum(dim=-1),
        "Each query meets the key of its own place only: a table needs every query with every key.",
    ),
    Mistake(
        "queries with queries",
        lambda q, k: q @ q.transpose(-2, -1),
        "Queries are compared with queries; k is never used.",
    ),
    Mistake(
        "keys with keys",
        lambda q, k: k @ k.transpose(-2, -1),
        "Keys are compared with keys; q is never used.",
    ),
    Mistake(
        "scaled already",
        lambda q, k: scale_scores(attention_scores(q, k), q.shape[-1]),
        "These are the scores after scaling: that is the next step, the raw dot products are asked for.",
    ),
    Mistake(
        "weights",
        lambda q, k: attention_weights(attention_scores(q, k)),
        "These are weights, after softmax: a score is what stands before it.",
    ),
    Mistake(
        "weights, scaled",
        lambda q, k: attention_weights(scale_scores(attention_scores(q, k), q.shape[-1])),
        "These are weights, after softmax: a score is what stands before it.",
    ),
    Mistake(
        "q turned",
        lambda q, k: q.transpose(-2, -1) @ k,
        "You turn q, so the tokens are added up and features stay: which of the two should stay?",
    ),
    Mistake(
        "lengths divided out",
        lambda q, k: attention_scores(q / q.norm(dim=-1, keepdim=True), k / k.norm(dim=-1, keepdim=True)),
        "This is the cosine of the angle: the lengths of q and k are divided out, and they belong in.",
    ),
]

# 04: scale_scores(scores, d_k)

SCALING = [
    Mistake(
        "no scale",
        lambda scores, d_k: scores,
        "These are the raw scores: which step stands between score and softmax, and do you keep its result?",
    ),
    Mistake(
        "÷d_k",
        lambda scores, d_k: scores / d_k,
        "In all you divide by d_k itself (or twice by its root), which makes the scores too small: think of"
        " what their spread grows with.",
    ),
    Mistake(
        "×√d_k",
        lambda scores, d_k: scores * d_k**0.5,
        "The scores are multiplied by √d_k, so they spread wider instead of less: which way round is it?",
    ),
    Mistake(
        "÷d_k²",
        lambda scores, d_k: scores / d_k**2,
        "You divide by d_k squared: a root was meant, not a square.",
    ),
    Mistake(
        "÷√d_model",
        lambda scores, d_k: scores / (d_k * (scores.shape[-3] if scores.dim() > 2 else 1)) ** 0.5,
        "You divide by √d_model: the dot product of one head has fewer terms than that. How many?",
    ),
    Mistake(
        "÷√n_k",
        lambda scores, d_k: scores / scores.shape[-1] ** 0.5,
        "You scale by the number of keys: the spread of a score grows with another size.",
    ),
    Mistake(
        "** 1/2 without brackets",
        lambda scores, d_k: scores / d_k / 2,
        "You divide by d_k, then by 2: ** comes before /, so what must stand in brackets in d_k ** 1/2?",
    ),
]

# 05: mask_scores(scores, mask) -> masked scores


def _fill(number):
    return lambda scores, mask: scores.masked_fill(~mask, number)


def _off_diagonal(mask):
    """A causal mask without its diagonal; a row that would be empty keeps what it had."""
    return mask & ~torch.eye(mask.shape[-2], mask.shape[-1], dtype=torch.bool)


MASKING = [
    Mistake(
        "mask polarity",
        lambda scores, mask: mask_scores(scores, ~mask),
        "The mask is read the wrong way round: True means “may attend” here. Which keys do you block?",
    ),
    Mistake(
        "mask left out",
        lambda scores, mask: scores,
        "Every key is still open to every query: is the mask used, and do you keep the result of that step?",
    ),
    Mistake(
        "multiplied by the mask",
        lambda scores, mask: scores * mask,
        "A blocked score becomes 0, and softmax gives a score of 0 a weight above 0. Which score gives none?",
    ),
    Mistake(
        "mask added",
        lambda scores, mask: scores + mask,
        "You add the mask, which is 0 or 1, so no key is hidden: which score gets weight 0?",
    ),
    Mistake(
        "−1e9",
        _fill(-1e9),
        "In a row without any key all keys get equal weights, as with a number in place of −∞:"
        " what should they get?",
    ),
    Mistake(
        "+∞",
        _fill(float("inf")),
        "The blocked keys get +∞, the highest score of all: look at the sign.",
    ),
    Mistake(
        "−∞ times False",
        lambda scores, mask: scores + ~mask * -torch.inf,
        "False times −∞ is 0 · ∞, which is NaN: masked_fill writes −∞ without multiplying.",
    ),
    Mistake(
        "padding on rows",
        lambda scores, mask: mask_scores(scores, mask.transpose(-2, -1)),
        "The mask blocks queries, so rows: columns are keys, and keys are what a mask blocks.",
    ),
    Mistake(
        "diagonal masked",
        lambda scores, mask: mask_scores(scores, _off_diagonal(mask)),
        "The diagonal is blocked: may a token not attend to itself?",
    ),
]

# 06: attention_weights(scores)


def _softmax_without_the_maximum(scores):
    return scores.exp() / scores.exp().sum(dim=-1, keepdim=True)


SOFTMAX = [
    Mistake(
        "softmax over queries",
        lambda scores: torch.softmax(scores, dim=-2),
        "The columns sum to 1, not the rows: softmax ran over the queries. Who shares out attention?",
    ),
    Mistake(
        "softmax over everything",
        lambda scores: torch.softmax(scores.flatten(), dim=0).view(scores.shape),
        "All cells together sum to 1: softmax ran over the whole tensor. Each query has a whole of its own.",
    ),
    Mistake(
        "softmax over axis 0",
        lambda scores: torch.softmax(scores, dim=0),
        "Softmax ran over the first axis. With a batch that is the batch: count the axis from the end.",
    ),
    Mistake(
        "softmax over axis 1",
        lambda scores: torch.softmax(scores, dim=1),
        "Softmax ran over axis 1, the keys only if there is no batch and no head: count it from the end.",
    ),
    Mistake(
        "softmax without the maximum",
        _softmax_without_the_maximum,
        "Large scores overflow: exp of 100 is too large for float32. What can you subtract from a row first?",
    ),
    Mistake(
        "NaN in a fully masked row",
        lambda scores: torch.softmax(scores, dim=-1),
        "A row that is −∞ everywhere becomes NaN: nothing is left to share among. What should it give,"
        " and do you keep the result of that step?",
    ),
    Mistake(
        "exp without dividing",
        lambda scores: (scores - scores.amax(dim=-1, keepdim=True)).exp().nan_to_num(),
        "The rows do not sum to 1 yet: after exp, one step is left.",
    ),
    Mistake(
        "divided by the sum of scores",
        lambda scores: scores / scores.sum(dim=-1, keepdim=True),
        "Scores divided by their sum can be negative: what makes every number positive first?",
    ),
]

# 07: weighted_values(weights, v)

VALUES = [
    Mistake(
        "weights transposed",
        lambda weights, v: weights.transpose(-2, -1) @ v,
        "The weights are turned over: each key collects from the queries. Rows are queries.",
    ),
    Mistake(
        "weights built from V",
        lambda weights, v: attention_weights(attention_scores(v, v)) @ v,
        "These weights are made from the values: weights come from queries and keys, and are handed to you.",
    ),
    Mistake(
        "plain mean",
        lambda weights, v: v.mean(dim=-2, keepdim=True).expand(*weights.shape[:-1], v.shape[-1]),
        "Every value counts the same here: the weights are not used.",
    ),
    Mistake(
        "only the largest weight",
        lambda weights, v: torch.nn.functional.one_hot(weights.argmax(-1), weights.shape[-1]).to(v) @ v,
        "You take the value with the largest weight alone: the others have a share as well.",
    ),
]

# 05: causal_mask(n)

TO_ADD = "This is a mask to add to the scores; a bool mask is asked for, True where a query may attend."

# Two ways to the same zeros, which no input tells apart.
NOTHING_LEFT = (
    "At the end you write 0 over the weights that count (True means “may attend”), or clear away NaN that"
    " 0 · ∞ has made of them: which of the two?"
)

CAUSAL_MASK = [
    Mistake(
        "triu for tril",
        lambda n: torch.ones(n, n, dtype=torch.bool).triu(),
        "The upper triangle is True: each token would see itself and what comes after it.",
    ),
    Mistake(
        "mask polarity",
        lambda n: torch.ones(n, n, dtype=torch.bool).triu(1),
        "True and False have changed places: True means “may attend” here.",
    ),
    Mistake(
        "diagonal masked",
        lambda n: torch.ones(n, n, dtype=torch.bool).tril(-1),
        "The diagonal is False: the first token would have no key at all.",
    ),
    Mistake(
        "one token too far",
        lambda n: torch.ones(n, n, dtype=torch.bool).tril(1),
        "Each token but the last sees one place ahead: one True too many stands right of the diagonal.",
    ),
    Mistake(
        "everything allowed",
        lambda n: torch.ones(n, n, dtype=torch.bool),
        "Every cell is True: nothing is blocked yet.",
    ),
    Mistake(
        "0 and 1 with −∞",
        lambda n: torch.zeros(n, n).masked_fill(~torch.ones(n, n, dtype=torch.bool).tril(), -torch.inf),
        TO_ADD,
    ),
    Mistake(
        "0 and 1 with −∞, as 1 and −∞",
        lambda n: torch.ones(n, n).tril().masked_fill(~torch.ones(n, n).tril().bool(), -torch.inf),
        TO_ADD,
    ),
    Mistake(
        "0 and 1 with −∞, as −1e9",
        lambda n: torch.full((n, n), -1e9).triu(1),
        TO_ADD,
    ),
]

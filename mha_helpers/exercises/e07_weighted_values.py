"""Exercises of notebook 07: values mixed by weights, and the whole of attention."""

import torch

from mha_helpers.attention import (
    attention_scores,
    project_qkv,
    scale_scores,
    scaled_dot_product_attention,
    split_heads,
    weighted_values,
)
from mha_helpers.examples import golden_example
from mha_helpers.exercises.framework import Mistake
from mha_helpers.exercises.functions import FunctionExercise
from mha_helpers.exercises.mistakes import SCORES, VALUES, pick
from mha_helpers.exercises.running import case, numbers
from mha_helpers.exercises.values import ChoiceExercise, ValueExercise
from mha_helpers.exercises.whole_mistakes import ATTENTION, BLOCKED_BY_A_NUMBER, CLEARED, attention_with
from mha_helpers.masks import causal_mask, padding_mask, sliding_window_mask


def _golden_heads():
    """q, k and v of the golden example, (h, n, d_k)."""
    example = golden_example()
    projected = project_qkv(example.x, example.w_q, example.w_k, example.w_v)
    return [split_heads(each, example.num_heads) for each in projected]


def _golden_head_2():
    q, k, v = (each[1] for each in _golden_heads())
    return k, v, scaled_dot_product_attention(q, k, v)[1]


output_of_eats = ValueExercise(
    "7.1",
    "What eats takes home in head 2",
    stars=1,
    minutes=3,
    variable="output_of_eats",
    answer=lambda: (_golden_head_2()[2] @ _golden_head_2()[1])[1],
    decimals=2,
    mistakes=[
        Mistake(
            "V from W_K",
            lambda: (_golden_head_2()[2] @ _golden_head_2()[0])[1],
            "You mixed the keys: what is taken home stands in the other table.",
        ),
        Mistake(
            "plain mean",
            lambda: _golden_head_2()[1].mean(dim=0),
            "Every value counts the same here: the weights are not used.",
        ),
        Mistake(
            "values added without weights",
            lambda: _golden_head_2()[1].sum(dim=0),
            "The values are added as they are: each counts only as much as its weight says.",
        ),
        Mistake(
            "only the largest weight",
            lambda: _golden_head_2()[1][2],
            "You take the value of “fish” alone: the others have a share as well.",
        ),
        Mistake(
            "largest share only",
            lambda: _golden_head_2()[2][1, 2] * _golden_head_2()[1][2],
            "That is the share of “fish”: two more shares are to be added.",
        ),
        Mistake(
            "shares not added",
            lambda: _golden_head_2()[2][1][:, None] * _golden_head_2()[1],
            "Those are the three shares, one in each row: what is left to do with them?",
        ),
        Mistake(
            "outputs of all tokens",
            lambda: _golden_head_2()[2] @ _golden_head_2()[1],
            "Those are the outputs of all three tokens: which row is that of “eats”?",
        ),
        Mistake(
            "output of cat",
            lambda: (_golden_head_2()[2] @ _golden_head_2()[1])[0],
            "That is what “cat” takes home: in which row of the weights does “eats” ask?",
        ),
        Mistake(
            "value of eats",
            lambda: _golden_head_2()[1][1],
            "That is the value of “eats” itself: what does “eats” take of each of the three values?",
        ),
        Mistake(
            "weights transposed",
            lambda: (_golden_head_2()[2].T @ _golden_head_2()[1])[1],
            "You used the column of “eats”: the weights with which it asks stand in its row.",
        ),
    ],
    praise="Mostly “fish”, (2, 1), pulled a little towards the other two: it asked what is eaten.",
    hints=[
        "Multiply the value of each token by the weight of that token: both numbers of a value by the same"
        " weight.",
        "You have three rows of two numbers now. Add them up, column by column.",
        "The first number is 0.088 · 0 + 0.178 · 1 + 0.734 · 2.",
    ],
    solution="""
weights_of_eats = torch.tensor([0.088, 0.178, 0.734])
values = torch.tensor([[0.0, 2.0], [1.0, 0.0], [2.0, 1.0]])
output_of_eats = weights_of_eats @ values  # (n) @ (n, d_v) -> (d_v)
""",
)

cannot_be_outputs = ChoiceExercise(
    "7.2",
    "Which points cannot be outputs?",
    stars=1,
    minutes=4,
    variable="my_points",
    answer={"c", "d", "e"},
    also_right=["cde", "c, d, e"],
    wrong={
        frozenset(
            "e"
        ): "Each number alone is in range for c and d, but the hull is a triangle, not a box: draw it.",
        frozenset("ce"): "One more lies outside: look above the upper edge, from (−1, 1) to (2, 2).",
        frozenset("de"): "One more lies outside: look right of the edge from (0, −1) to (2, 2).",
        frozenset(
            "cd"
        ): "Two lie outside though each of their numbers is in range; one more is further away.",
        frozenset("ab"): "Those two lie inside: the points that cannot be outputs are asked for.",
    },
    otherwise="Draw the triangle with the corners (2, 2), (0, −1), (−1, 1): what lies inside can be an"
    " output.",
    praise="Weights that are positive and sum to 1 reach every point inside the triangle, and none outside.",
    hints=[
        "Draw the three values on paper, and join them to a triangle.",
        "Then draw the five points. Being between the smallest and the largest number is not enough.",
        "The upper edge rises from (−1, 1) to (2, 2): over 0.5 it is at height 1.5.",
    ],
    solution='my_points = {"c", "d", "e"}  # right of, above, and far off the triangle',
)


def _loops_over_two_axes(weights, v):
    out = torch.zeros(weights.shape[0], v.shape[1])
    for i in range(weights.shape[0]):
        for j in range(v.shape[0]):
            out[i] += weights[i, j] * v[j]
    return out


mix_all = FunctionExercise(
    "7.3",
    "Mix the values of all heads",
    stars=2,
    minutes=5,
    variable="my_mix",
    reference=weighted_values,
    without=["mha_helpers.weighted_values"],
    cases=lambda: [
        case(_weights_of(*_golden_heads()[:2])[0], _golden_heads()[2][0]),
        case(_weights_of(*_golden_heads()[:2]), _golden_heads()[2]),
        case(torch.softmax(numbers(4, 5, name="weights"), dim=-1), numbers(5, 3, name="v")),
        case(torch.softmax(numbers(2, 3, 4, 4, name="weights"), dim=-1), numbers(2, 3, 4, 5, name="v")),
        case(torch.softmax(numbers(4, 4, name="weights"), dim=-1), numbers(4, 4, name="v")),
        case(torch.tensor([[0.0, 0.0], [0.25, 0.75]]), numbers(2, 3, name="v")),  # a row without any key
    ],
    mistakes=[
        *VALUES,
        Mistake(
            "weights transposed, .T",
            lambda weights, v: weights.T @ v,
            pick(VALUES, "weights transposed")[0].sentence,
        ),
        Mistake(
            "values transposed",
            lambda weights, v: weights @ v.transpose(-2, -1),
            "The values are turned over: each key owns a row of v, and a weight goes with a whole row.",
        ),
        Mistake(
            "product the other way round",
            lambda weights, v: v @ weights,
            "The product is the other way round: whose rows should the rows of the result be?",
        ),
        Mistake(
            "softmax once more",
            lambda weights, v: torch.softmax(weights, dim=-1) @ v,
            "Softmax has run a second time: what you are handed are weights already.",
        ),
        Mistake(
            "loops over two axes",
            _loops_over_two_axes,
            "Your loops go over the first two axes: with heads in front, where are queries and keys?",
        ),
        Mistake(
            "column sums",
            lambda weights, v: weights.sum(dim=-2).unsqueeze(-1) * v,
            "You add up over the queries, so each value stays in its own row: which axis do both share?",
        ),
        Mistake(
            "divided by the number of keys",
            lambda weights, v: weights @ v / v.shape[-2],
            "The sum is divided by the number of keys: the weights sum to 1 already, so the sum is the mean.",
        ),
    ],
    praise="It holds for any axes in front, and for more keys than queries.",
    hints=[
        "Write both shapes below each other: (…, n_q, n_k) and (…, n_k, d_v). Which axis is summed away?",
        "`@` sums over the last axis of the left and the last but one of the right.",
    ],
    solution="""
def my_mix(weights, v):
    return weights @ v  # (…, n_q, n_k) @ (…, n_k, d_v) -> (…, n_q, d_v)
""",
)


def _weights_of(q, k):
    return torch.softmax(scale_scores(attention_scores(q, k), q.shape[-1]), dim=-1)


PUBLISHED = torch.tensor([[1.0, 0.0], [0.0, 0.0], [0.0, 0.0]])

published_output = ValueExercise(
    "7.4",
    "Find the error in a published example",
    stars=2,
    minutes=6,
    variable="right_output",
    answer=lambda: scaled_dot_product_attention(PUBLISHED, PUBLISHED, PUBLISHED)[0],
    decimals=2,
    mistakes=[
        Mistake(
            "as printed",
            lambda: PUBLISHED.clone(),
            "That is what the tutorial prints: those rows are the values themselves, so nothing was mixed.",
        ),
        Mistake(
            "no scale",
            lambda: torch.softmax(PUBLISHED @ PUBLISHED.T, dim=-1) @ PUBLISHED,
            "The scale is missing: these are weights of the raw scores. Which step comes before softmax?",
        ),
        Mistake(
            "no softmax",
            lambda: PUBLISHED @ PUBLISHED.T / 2**0.5 @ PUBLISHED,
            "Scores have been used as weights: which step turns them into shares that sum to 1?",
        ),
        Mistake(
            "softmax over queries",
            lambda: torch.softmax(PUBLISHED @ PUBLISHED.T / 2**0.5, dim=-2) @ PUBLISHED,
            "The columns sum to 1, not the rows: softmax ran over the queries. Who shares out attention?",
        ),
        Mistake(
            "rows of zeros left",
            torch.tensor([[0.5, 0.0], [0.0, 0.0], [0.0, 0.0]]),
            "Row 1 is right. Tokens 2 and 3 score 0 on every key: which weights do equal scores give?",
        ),
        Mistake(
            "÷d_k",
            lambda: torch.softmax(PUBLISHED @ PUBLISHED.T / 2, dim=-1) @ PUBLISHED,
            "You divide by d_k itself: think of what the spread of the scores grows with.",
        ),
        Mistake(
            "weights",
            lambda: torch.softmax(PUBLISHED @ PUBLISHED.T / 2**0.5, dim=-1),
            "These are the weights, rightly: one step is left, in which they mix the values.",
        ),
    ],
    praise="No row can equal a value: every token has a share above 0, and the first value is not like the"
    " other two, which are equal.",
    hints=[
        "Only one score is not zero. Equal scores give equal weights.",
        "Row by row: scores, divided by √2, softmax, then the mixture of the values.",
        "`scaled_dot_product_attention` of this page does all steps; it returns the output first.",
    ],
    given="published = torch.tensor([[1.0, 0.0], [0.0, 0.0], [0.0, 0.0]])",
    solution="""
right_output, right_weights = scaled_dot_product_attention(published, published, published)
""",
)


def _attention_cases():
    q, k, v = _golden_heads()
    four = (numbers(2, 3, 5, 4, name="q"), numbers(2, 3, 5, 4, name="k"), numbers(2, 3, 5, 4, name="v"))
    window = sliding_window_mask(5, 1) & padding_mask([3, 5], 5)  # its first sentence has rows without a key
    return [
        case(q[0], k[0], v[0], mask=None),
        case(q, k, v, mask=causal_mask(3)),
        case(*four, mask=window),
        case(*four, mask=causal_mask(5)),
        case(100 * four[0], 100 * four[1], four[2]),
        case(100 * four[0], 100 * four[1], four[2], mask=causal_mask(5)),
        case(numbers(4, 3, name="q"), numbers(5, 3, name="k"), numbers(5, 3, name="v")),
        case(numbers(4, 3, name="q"), numbers(6, 3, name="k"), numbers(6, 2, name="v")),
    ]


_QUERIES_COUNTED = "You take the number of queries, or of heads, for d_k: on which axis of q do features lie?"


def _scaled_by(size):
    def attention(q, k, v, mask=None):
        return attention_with(scale=lambda scores, d_k: scores / size(q, v) ** 0.5)(q, k, v, mask)

    return attention


def _half_cleared(clear_output):
    def attention(q, k, v, mask=None):
        output, weights = attention_with(softmax=lambda table: torch.softmax(table, dim=-1))(q, k, v, mask)
        return (output.nan_to_num(), weights) if clear_output else (output, weights.nan_to_num())

    return attention


_NOT_BROADCAST = (
    "In square brackets a mask is not broadcast, so it marks heads and queries: which method of page 05"
    " broadcasts it?"
)


def _marked_by_index(scores, mask):
    scores[~mask] = -torch.inf
    return scores


whole_attention = FunctionExercise(
    "7.5",
    "Attention in one function",
    stars=3,
    minutes=10,
    variable="my_attention",
    reference=scaled_dot_product_attention,
    returns=("output", "weights"),
    cases=_attention_cases,
    without=[  # the course's, PyTorch's, the page's own
        "mha_helpers.scaled_dot_product_attention",
        "torch.scaled_dot_product_attention",
        "scaled_dot_product_attention",
    ],
    mistakes=[
        *ATTENTION,
        *(
            Mistake(m.name, attention_with(scores=m.wrong), m.sentence)
            for m in pick(
                SCORES, ".T", "transpose of the wrong axes: 1 and 2", "transpose of the wrong axes: 0 and 1"
            )
        ),
        Mistake("÷√n_q", _scaled_by(lambda q, v: q.shape[-2]), _QUERIES_COUNTED),
        Mistake("÷√n_q, len(q)", _scaled_by(lambda q, v: len(q)), _QUERIES_COUNTED),
        Mistake("÷√n_q, q.shape[1]", _scaled_by(lambda q, v: q.shape[1]), _QUERIES_COUNTED),
        Mistake(
            "÷√d_v",
            _scaled_by(lambda q, v: v.shape[-1]),
            "You scale by the width of v: which two are multiplied in a score, and how wide are they?",
        ),
        *BLOCKED_BY_A_NUMBER,
        Mistake(
            "mask by index",
            attention_with(masking=_marked_by_index),
            _NOT_BROADCAST,
        ),
        Mistake(
            "mask by index, hidden weights 0",
            attention_with(masking=_marked_by_index, **CLEARED),
            _NOT_BROADCAST,
        ),
        Mistake(
            "NaN left in the output",
            _half_cleared(clear_output=False),
            "You clear NaN in the weights, and the output still holds it: which of them is made first?",
        ),
        Mistake(
            "NaN left in the weights",
            _half_cleared(clear_output=True),
            "You clear NaN in the output, and the weights still hold it: which of them is made first?",
        ),
    ],
    praise="You have written the first equation of the paper, with masks, and for rows without any key.",
    hints=[
        "Five steps: scores, scale, mask, softmax, mixture. Each is one line.",
        "The d_k of the scale is the size of the last axis of q. The mask is used only if there is one.",
        "A row of −∞ alone is NaN after a plain softmax; `attention_weights` of page 06 gives zeros there.",
    ],
    solution="""
def my_attention(q, k, v, mask=None):
    scores = attention_scores(q, k)  # (…, n_q, d_k), (…, n_k, d_k) -> (…, n_q, n_k)
    scores = scale_scores(scores, d_k=q.shape[-1])
    if mask is not None:
        scores = mask_scores(scores, mask)
    weights = attention_weights(scores)
    output = weighted_values(weights, v)  # (…, n_q, n_k) @ (…, n_k, d_v) -> (…, n_q, d_v)
    return output, weights
""",
)

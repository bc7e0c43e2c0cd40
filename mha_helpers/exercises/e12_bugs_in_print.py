"""The exercises of page 12: numbers that a bug produces, a line to repair, a test to write, a line-up."""

import math

import torch

from mha_helpers.attention import scaled_dot_product_attention
from mha_helpers.exercises import FunctionExercise, TestExercise, ValueExercise, case, numbers

query_of_eats = ValueExercise(
    "12.1",
    "A question for “eats”",
    stars=2,
    minutes=4,
    right=math.sqrt(2) * math.log(8),
    decimals=2,
    task="""
    Repair head 1 of *Three heads with fine names*. Its d_k is 2 and its keys stay, (1, 0) for “cat”, (0, 0)
    for “eats” and “fish”. It gets a $W_Q$ of its own, [[1, 0], [a, 0]], so that “eats” asks (a, 0). For
    which a does “eats” give “cat” a weight of 0.8? Give two decimals.
    """,
    stub="my_a = ...",
    mistakes=[
        (math.log(8), "That is the scaled score: what was it before the division by √d_k?"),
        (
            math.log(8) / math.sqrt(2),
            "You scale once more; is the raw score larger than the scaled, or smaller?",
        ),
        (math.sqrt(2) * math.log(4), "You compare “cat” with all the rest: how many words share the 0.2?"),
        (2 * math.log(8), "You undo a division by d_k: what does page 04 divide by?"),
        (8.0, "That is the ratio of two weights: which difference of scores makes it?"),
        (0.8, "0.8 is a weight; a is a score before scale and softmax."),
    ],
    praise="A head can find who acts only if its W_Q lets the word ask: from (0, 0) nothing follows.",
    hints=[
        "0.8 for “cat” leaves 0.1 for each of the others, whose scores are 0: which ratio is that?",
        "The ratio of two weights is e to the power of the difference of their scaled scores.",
    ],
    solution="my_a = math.sqrt(2) * math.log(0.8 / 0.1)",
)

two_scales = ValueExercise(
    "12.2",
    "One wrong scale, one right",
    stars=1,
    minutes=3,
    right={"too large": 100.0, "divide each by": 3.0},
    decimals=2,
    task="""
    Two more models. One has d_k = 100 and divides its scores by `d_k ** -0.5`: how many times too large are
    they, compared with page 04? The other has d_k = 81 and divides the queries and the keys, both by the same
    number, so that the scores come out right: by which?
    """,
    stub='my_numbers = {"too large": ..., "divide each by": ...}',
    mistakes=[
        ({"too large": 10.0}, "They are multiplied by 10, but what should have been done with 10?"),
        ({"too large": 0.01}, "Does dividing by 0.1 make a score larger or smaller?"),
        (
            {"divide each by": 9.0},
            "Both are divided by it, and the score is their product: by how much then?",
        ),
        ({"divide each by": 4.5}, "Is a product divided by the sum of the two numbers?"),
        ({"divide each by": 1 / 3}, "By that number you would multiply, to the same effect."),
    ],
    praise="A wrong sign in an exponent costs a factor of d_k; two fourth roots make one square root.",
    hints=[
        "The first are multiplied by 10 where division by 10 is right.",
        "A number that, times itself, is √81.",
    ],
    solution="""
my_numbers = {"too large": 10 * 10, "divide each by": 81**0.25}
""",
)

masks_for_all_heads = FunctionExercise(
    "12.3",
    "One mask for each head, in PyTorch's order",
    stars=2,
    minutes=5,
    reference=lambda hidden, num_heads: hidden.repeat_interleave(num_heads, dim=0),
    without=("repeat_interleave",),
    cases=lambda: [
        case(numbers(2, 3, 4) > 0, 3, label="with 2 sentences and 3 heads"),
        case(numbers(3, 5, 4, seed=1) > 0, 2, label="with 3 sentences and 2 heads"),
    ],
    task="""
    Repair *Sentence 1 in the mask of sentence 2*. `hidden` is (b, n_q, n_k); return (b·h, n_q, n_k), in the
    order in which `nn.MultiheadAttention` reads it. Do it with a new axis, without `repeat_interleave`.
    """,
    stub="""
def my_masks(hidden, num_heads):
    # (b, n_q, n_k) -> (b·h, n_q, n_k)
    ...
""",
    mistakes=[
        (
            lambda m, h: m.repeat(h, 1, 1),
            "Yours has every sentence for head 1 first: which index runs faster?",
        ),
        (
            lambda m, h: m[:, None].expand(-1, h, -1, -1),
            "The new axis is in its place: how do two become one?",
        ),
        (lambda m, h: m, "There is one mask a sentence, as before: where do the heads come in?"),
        (
            lambda m, h: ~m.repeat_interleave(h, dim=0),
            "True means hidden, before and after: yours says the opposite.",
        ),
    ],
    praise="The axis of heads comes right behind the sentences, and then both are read as one.",
    hints=[
        "hidden[:, None] has an axis of size 1 behind the sentences.",
        "expand makes that axis h long; flatten(0, 1) makes one axis of the first two.",
    ],
    solution="""
def my_masks(hidden, num_heads):
    each = hidden[:, None].expand(-1, num_heads, -1, -1)  # -> (b, h, n_q, n_k)
    return each.flatten(0, 1)  # -> (b·h, n_q, n_k)
""",
)

the_most_it_can_give = ValueExercise(
    "12.4",
    "The most that a second softmax can give",
    stars=2,
    minutes=4,
    right=math.e / (math.e + 7),
    decimals=3,
    task="""
    A row of eight weights goes through softmax once more, as in *Four rows that add up to one*.
    Whatever the eight weights are: what is the largest number that can come out? Give three decimals.
    """,
    stub="my_largest = ...",
    mistakes=[
        (1.0, "The largest weight that can go in is 1: what are e¹ and e⁰?"),
        (math.e / (math.e + 8), "How many others are there besides the largest?"),
        (math.e / 8, "The others have exponentials, too: what is e to the power of 0?"),
        (1 / 8, "That comes from eight equal weights: which row is the sharpest?"),
        (math.e / (math.e + 3), "That is right for a row of four, as in S2: here are eight."),
    ],
    praise="Even a head that was certain now gives 0.280: a softmax too many makes everything pale.",
    hints=[
        "Which row of eight weights is the sharpest?",
        "A single 1 and seven 0: take the softmax of that.",
    ],
    solution="my_largest = math.e / (math.e + 7)",
)


def _one_head(q, k, v, axis=-1, transposed=False):
    weights = torch.softmax(q @ k.T / math.sqrt(q.shape[-1]), dim=axis)
    return (weights.T if transposed else weights) @ v


def _sum_only(attend):
    ones = torch.ones(4, 2)
    return bool((attend(numbers(4, 3), numbers(4, 3, seed=1), ones).sum() - 8).abs() < 1e-4)


test_with_ones = TestExercise(
    "12.5",
    "A test that needs no reference",
    stars=2,
    minutes=6,
    candidates=[
        ("a healthy head", lambda q, k, v: scaled_dot_product_attention(q, k, v)[0], True),
        ("keys in place of values", lambda q, k, v: _one_head(q, k, k), False, "Do keys and values differ?"),
        ("softmax over the queries", lambda q, k, v: _one_head(q, k, v, axis=0), False),
        ("weights transposed", lambda q, k, v: _one_head(q, k, v, transposed=True), False),
        ("no softmax", lambda q, k, v: q @ k.T @ v, False),
    ],
    task="""
    Write a test that is handed one head without a mask, `attend(q, k, v)`, and returns True only if it
    mixes rightly. Make the q, k and v yourself. Do not compare with another attention: let every token
    give 1.
    """,
    stub="""
def my_test(attend):
    # return True if attend(q, k, v) mixes rightly, else False
    ...
""",
    mistakes=[
        (
            _sum_only,
            "A wrong axis passes: do you look at each output, and do the queries differ from each other?",
        ),
    ],
    praise="The average of ones is 1, whatever the weights: four bugs cannot pass, without any reference.",
    hints=[
        "v = torch.ones(…), and q and k random, different from each other.",
        "torch.allclose(output, v, atol=1e-5) looks at each number and leaves room for rounding.",
    ],
    solution="""
def my_test(attend):
    q, k, v = torch.randn(5, 4), torch.randn(5, 4), torch.ones(5, 4)
    return torch.allclose(attend(q, k, v), v, atol=1e-5)
""",
)


line_up = ValueExercise(
    "12.6",
    "Name the bug of each suspect",
    stars=3,
    minutes=12,
    right={"A": "values", "B": "mask", "C": "healthy", "D": "softmax", "E": "heads", "F": "scale"},
    task="""
    Write for each suspect where its bug is: "mask", "scale", "softmax", "values", "heads", or
    "healthy". Each word is needed once.
    """,
    stub='my_verdicts = {"A": ..., "B": ..., "C": ..., "D": ..., "E": ..., "F": ...}',
    mistakes=[
        (
            {"A": "softmax"},
            "A: do its earlier outputs move with the last word, as a wrong axis would make them?",
        ),
        (
            {"B": "softmax"},
            "B: if every word gives 1, each of its outputs is 1: can a softmax be wrong then?",
        ),
        ({"B": "healthy"}, "B: when the last word changes, which outputs move?"),
        ({"A": "mask"}, "A: let every word give 1, which needs no mask: what comes out?"),
        ({"D": "mask"}, "D: let every word give 1, which needs no mask: what comes out?"),
        (
            {"D": "values"},
            "D: which outputs move with the last word, and does a mix of other values explain that?",
        ),
        ({"E": "mask"}, "E: shuffle the words, which needs no mask: what does it do?"),
        ({"F": "softmax"}, "F: what happens to the spread of its scores as d_k grows?"),
    ],
    praise="Six suspects, five experiments, no line of code: you can debug somebody else's attention.",
    hints=[
        "One experiment clears the healthy one at once.",
        "Shuffling accuses the heads, a growing d_k the scale, and nothing else.",
        "Two fail when every word gives 1; the last word tells these two apart.",
    ],
    solution="""
my_verdicts = {"A": "values", "B": "mask", "C": "healthy", "D": "softmax", "E": "heads", "F": "scale"}
""",
)

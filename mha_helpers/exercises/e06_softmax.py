"""The exercises of page 06: a row with a hidden key, how sharp a factor makes it, softmax for every row."""

import math

import torch

from mha_helpers.attention import attention_weights
from mha_helpers.exercises import FunctionExercise, ValueExercise, case, numbers

row_by_hand = ValueExercise(
    "6.1",
    "A row with a hidden key",
    stars=1,
    minutes=3,
    right=lambda: torch.softmax(torch.tensor([1.0, 0.0, -math.inf, 1.0]), dim=-1),
    decimals=2,
    task="""
    A mask has hidden the third word, so one row of scores is [1, 0, −∞, 1]. Compute its four weights with a pocket
    calculator and e ≈ 2.718, to two decimals at least.
    """,
    stub="my_weights = ...  # four numbers, as a list",
    mistakes=[
        (
            torch.softmax(torch.tensor([1.0, 0.0, 0.0, 1.0]), dim=-1),
            "The hidden word gets a share: what is e to the power of −∞?",
        ),
        (
            torch.softmax(torch.tensor([1.0, 0.0, 1.0]), dim=-1),
            "The three shares are right. Which weight does the hidden word get, in its own place?",
        ),
        (
            [math.e, 1, 0, math.e],
            "These are the exponentials. What do they add up to, and which share of that is each?",
        ),
        (
            [0.5, 0, 0, 0.5],
            "These are shares of the sum of the scores. Which step comes before the division?",
        ),
        (
            [0.366, 0.134, 0, 0.366],
            "The hidden word took its share before it was hidden, and your row adds up to 0.87: which comes first?",
        ),
        ([0.4, 0.2, 0, 0.4], "You took 2 to the power of the scores; softmax takes e, about 2.718."),
        (
            [math.e / (1 + math.e), 1 / (2 * math.e), 0, math.e / (1 + math.e)],
            "You divide by the other exponentials only: the sum is over all, its own too.",
        ),
        (
            [1 / 3, 1 / 3, 0, 1 / 3],
            "You share out equally: the second word scored less, so what becomes of its share?",
        ),
        (
            [0.5, 0.5, 0, 0.5],
            "Each of the three is compared with one other: one sum is meant for the whole row.",
        ),
        (
            [math.e / (2 * math.e), 0, 0, math.e / (2 * math.e)],
            "e to the power of 0 is not 0: what does the second word score, and what does that make?",
        ),
    ],
    praise="A score of −∞ becomes a weight of exactly 0, and the others share what it does not take.",
    hints=[
        "Write e to the power of each score below it: 2.718, 1, 0 and 2.718.",
        "Add these four numbers up, and divide each of them by the sum.",
    ],
    solution="""
exponentials = [2.718, 1, 0, 2.718]  # e to the power of 1, 0, −∞ and 1
my_weights = [number / sum(exponentials) for number in exponentials]
""",
)

how_sharp = ValueExercise(
    "6.2",
    "How sharp does a factor make it?",
    stars=2,
    minutes=5,
    right=math.log(9) / 2,
    decimals=2,
    task="""
    A row holds two scores, 5 and 3, and the larger weight is 0.881. By which factor must both scores be multiplied
    so that it becomes 0.900? Reason with the ratio of the two weights, or try numbers until it fits; give two
    decimals.
    """,
    stub="my_factor = ...",
    mistakes=[
        (math.log(9), "That would be right for two scores that differ by 1: by how much do 5 and 3 differ?"),
        (
            2 / math.log(9),
            "That is the number to divide by, which is also called temperature. Which factor does the same?",
        ),
        (
            0.9 / 0.881,
            "You multiply a weight: what is multiplied here is the scores, and softmax stands between.",
        ),
        (4.5, "The weights are to be 9 to 1. Which number, in the exponent, makes a ratio of 9?"),
        (
            9.0,
            "9 is the ratio of the two weights. How does a difference of scores become a ratio of weights?",
        ),
        (
            math.log(0.9 / 0.881),
            "That is the logarithm of the ratio of new to old weight: compare the two weights of one row.",
        ),
        (
            math.log(9) / 8,
            "You divide by the sum of the scores: does softmax depend on their sum, or on their difference?",
        ),
        (
            math.log(9) / 5,
            "You divide by the larger score: does softmax depend on it, or on the difference of the two?",
        ),
        (
            math.log10(9) / 2,
            "That is a logarithm to the base of 10: which number does softmax raise to a power?",
        ),
        (
            math.log2(9) / 2,
            "That is a logarithm to the base of 2: which number does softmax raise to a power?",
        ),
    ],
    praise="Only the difference of the scores counts: e to the power of 2 · 1.10 is 9, and 9 to 1 makes 0.9.",
    hints=[
        "If the larger weight is 0.9, what is the smaller one, and what is their ratio?",
        "The ratio of two weights is e to the power of the difference of their scores.",
        "After the factor the difference is 2 times the factor; math.log leads from the ratio back to it.",
    ],
    solution="my_factor = math.log(0.9 / 0.1) / (5 - 3)",
)


def _shares(exponentials, axis=-1):
    return exponentials / exponentials.sum(dim=axis, keepdim=True)


def _masked_rows():
    scores = numbers(3, 5, seed=3)
    scores[0, 2:] = scores[1, 0] = -math.inf
    return scores


def _empty_rows():
    scores = numbers(2, 3, 4, seed=4)
    scores[0, 1] = scores[1, 0, 1:] = -math.inf
    return scores


def _large_scores():
    scores = 60 * numbers(2, 3, 5, seed=5)
    scores[0, 0, :2] = torch.tensor([300.0, 299.0])
    scores[1, 2, :] -= 2000.0
    return scores


_OVERFLOW = "infinite or lost: e to the power of 100 is more than float32 holds"

softmax_for_every_row = FunctionExercise(
    "6.3",
    "Softmax for every row",
    stars=3,
    minutes=10,
    reference=attention_weights,
    without=(
        "softmax",
        "log_softmax",
        "softmin",
        "Softmax",
        "logsumexp",
        "attention_weights",
        "scaled_dot_product_attention",
    ),
    cases=lambda: [
        case(numbers(2, 3), label="with a small table"),
        case(numbers(2, 3, 4, 5, seed=1), label="with a batch and heads in front"),
        case(_masked_rows(), label="with some scores of −∞"),
        case(
            _large_scores(),
            label="with scores of several hundred",
            mistakes=[
                (
                    lambda s: _shares(s.exp()),
                    "With scores of several hundred e to their power is ∞: what may you take from a whole row first?",
                ),
                (
                    lambda s: _shares(s.clamp(max=80).exp()),
                    "You cut large scores off, so that 300 and 299 get equal weights: what keeps their difference?",
                ),
                (
                    lambda s: _shares((s - s.max()).exp()),
                    "You take one maximum from all rows, and a row far below it is lost: whose maximum does a row need?",
                ),
                (
                    lambda s: _shares((s - s.mean(dim=-1, keepdim=True)).exp()),
                    "You take the mean from a row, and a score far above it still overflows: which number is safe?",
                ),
            ],
        ),
        case(
            _empty_rows(),
            label="with a row without any key",
            mistakes=[
                (
                    lambda s: torch.softmax(s, dim=-1),
                    "With a row without any key: −∞ − (−∞) is NaN. What does such a row need, and where is it last in your hands?",
                ),
                (
                    lambda s: torch.softmax(s.masked_fill(s.isneginf().all(-1, keepdim=True), 0.0), dim=-1),
                    "A row without any key shares out equally. Which weights say that it looks nowhere?",
                ),
            ],
        ),
    ],
    task="""
    Write softmax over the keys, without calling a softmax of PyTorch's, for tables of any shape (…, n_q, n_k). It has
    to do what the page's four lines cannot: scores may be as large as 1000, some are −∞, and a row in which all are
    −∞, a word that may look nowhere, gets weights of 0.
    """,
    stub="""
def my_softmax(scores):
    # (…, n_q, n_k) -> (…, n_q, n_k)
    ...
""",
    mistakes=[
        (
            lambda s: _shares(s.exp(), -2),
            "Your columns add up to 1, not your rows: which axis holds the keys of one query?",
        ),
        (lambda s: s.exp() / s.exp().sum(), "All cells together add up to 1: each row has a sum of its own."),
        (
            lambda s: _shares(s.exp(), 1),
            "You add up along axis 1, the keys only if nothing stands in front: count the axis from the end.",
        ),
        (
            lambda s: _shares((s.amax(dim=-1, keepdim=True) - s).exp()),
            "The largest score gets the smallest weight: which is taken from which?",
        ),
        (lambda s: s.exp(), "These are the exponentials: they are not yet shares of their row."),
        (lambda s: _shares(2**s), "You take 2 to the power of the scores; softmax takes e."),
        (lambda s: _shares(s), "You divide the scores by their sum: which step makes them positive first?"),
        (
            lambda s: s.exp() / s.exp().sum(dim=-1),
            "The sum of a row has lost its axis, so that it meets a column: keepdim=True lets it stay.",
        ),
    ],
    praise="Large scores, hidden keys and rows without a key: this is what softmax needs before it meets real sentences.",
    hints=[
        "Which number can you take from all scores of a row so that none overflows and no weight changes?",
        "scores.amax(dim=-1, keepdim=True) finds it for each row; keepdim=True lets the axis stay.",
        "In a row without any key this number is −∞, and −∞ − (−∞) is NaN: put 0 in its place there.",
        "Such a row now has exponentials of 0 and a sum of 0; torch.nan_to_num turns 0/0 into 0.",
    ],
    solution="""
def my_softmax(scores):
    largest = scores.amax(dim=-1, keepdim=True)  # (…, n_q, n_k) -> (…, n_q, 1)
    largest = largest.masked_fill(largest == -torch.inf, 0.0)  # a row without any key
    exponentials = (scores - largest).exp()
    return (exponentials / exponentials.sum(dim=-1, keepdim=True)).nan_to_num()
""",
)

"""The exercises of page 06: a row with a hidden key, how sharp a factor makes it, softmax for every row."""

from math import e, inf, log, log10

import torch

from mha_course.exercises import FunctionExercise, ValueExercise, case, changes, numbers
from mha_helpers.style import number


def _weights(*scores):
    return torch.softmax(torch.tensor(scores, dtype=torch.float32), dim=-1)


row_by_hand = ValueExercise(
    "6.1 ★ · 3 min · A row with a hidden key",
    decimals=2,
    task="""
    A mask has hidden the third word, so one row of scores is [1, 0, −∞, 1]. Compute its four weights
    with a pocket calculator and e ≈ 2.718, to at least two decimals.
    """,
    stub="my_weights = ...  # four numbers, as a list",
    mistakes=[
        (_weights(1, 0, 0, 1), "The hidden word gets a share: what is e to the power of −∞?"),
        (_weights(1, 0, 1), "The three shares are right: what does the hidden word get, and where?"),
        ([0.5, 0, 0, 0.5], "The second word gets nothing: its score is 0, and what is e to the power of 0?"),
        (_weights(1, -inf, 0, 1), "The second word gets nothing: which one has the mask hidden?"),
        ([0.4, 0.2, 0, 0.4], "You took 2 to the power of the scores; softmax takes e, about 2.718."),
        ([1 / 3, 1 / 3, 0, 1 / 3], "Your shares are equal, but the scores 1, 0 and 1 are not."),
    ],
    praise="A score of −∞ becomes a weight of exactly 0, and the others share what it does not take.",
    hints=[
        "Write e to the power of each score below it: 2.718, 1, 0 and 2.718.",
        "Add these four numbers up, and divide each of them by the sum.",
    ],
    solution="""
powers = [2.718, 1, 0, 2.718]  # e to the power of 1, 0, −∞ and 1
my_weights = [power / sum(powers) for power in powers]
""",
)


def _weight_of_5(factor, _):
    difference, weight = number(2 * factor, 3), torch.sigmoid(2 * factor)
    return f"makes the scores differ by {difference}, and so the weight of the first {weight:.3f}, not 0.900"


how_sharp = ValueExercise(
    "6.2 ★★ · 7 min · How sharp does a factor make it?",
    right=round(log(9) / 2, 2),  # which the exact one rounds to, and 1.094 does not
    decimals=2,
    task="""
    A row holds two scores, 5 and 3, and the larger weight is 0.881. By what factor must both scores be
    multiplied so that it becomes 0.900? Reason with the ratio of the two weights, or try numbers until it
    fits; give two decimals.
    """,
    describe=_weight_of_5,
    mistakes=[
        (log(9), "That would be right for two scores that differ by 1: how far apart are 5 and 3?"),
        (2 / log(9), "That is the number to divide by, also called temperature. Which factor does the same?"),
        (0.9 / 0.881, "That factor turns the old weight into the new one: here scores are multiplied."),
        (9 / e**2, "The ratio of the weights grows that much: does a factor on the scores do that?"),
        ([2.5 * log(9), 1.5 * log(9)], "Those are the two new scores: by which factor have both grown?"),
        (log(9) / 8, "You divide by the sum of the scores: what of two scores counts in softmax?"),
        (log(9) / 5, "You divide by the larger score: what of two scores counts in softmax?"),
        (log(9, 2) / 2, "You take a logarithm to base 2: which number does softmax raise to a power?"),
        (-log(9) / 2, "The size is right: with your sign, which of the two gets the larger weight?"),
        (4.5, "The weights are to be 9 to 1: which number in the exponent of e makes a ratio of 9?"),
        (9.0, "9 is the ratio of the two weights: how does a difference of scores become a ratio?"),
        (log10(9) / 2, "You take a logarithm to base 10: which number does softmax raise to a power?"),
    ],
    praise="Only their difference counts: e to the power of 2 · 1.10 is about 9, and 9 to 1 makes 0.9.",
    hints=[
        "If the larger weight is 0.9, what is the smaller one, and what is their ratio?",
        "The ratio of two weights is e to the power of the difference of their scores.",
        "After the factor the difference is 2 times the factor; math.log turns the ratio back into it.",
    ],
    solution="my_factor = math.log(0.9 / 0.1) / (5 - 3)",
)


def _empty_rows():
    scores = numbers(2, 3, 4, seed=4)
    scores[0, 1] = scores[1, 0, 1:] = -inf
    return scores


def _large_scores():
    scores = 9 * numbers(2, 3, 5, seed=5)  # small but for two, so that any limit between cuts these off
    scores[0, 0, :2] = torch.tensor([300.0, 299.0])
    scores[1, 2] = 40 * torch.arange(5) - 2000  # far apart: at −2000 float32 has few decimals
    scores[1, 2, 0] = -inf  # which no number of this size may stand for
    return scores


_NO_KEY = changes("""
    .nan_to_num() => .nan_to_num(1.0)
    A row without any key gets weights of 1: which weights would say that it looks nowhere?
    .nan_to_num() => .nan_to_num() * (scores != -torch.inf).any(dim=-1).all()
    One row without any key empties all the others: which row may your 0 reach?
""")

_LOW = changes("""
    scores.amax => scores.nan_to_num(neginf=-1e3).amax
    (scores - => (scores.nan_to_num(neginf=-1e3) -
    .nan_to_num() => .nan_to_num() * (scores > -torch.inf).any(dim=-1, keepdim=True)
    You put a number in place of −∞, and in one row all other scores are lower: which number never is?
""")

softmax_for_every_row = FunctionExercise(
    "6.3 ★★★ · 12 min · Softmax for every row",
    without=("softmax", "log_softmax", "softmin", "attention_weights", "scaled_dot_product_attention"),
    cases=lambda: [
        case(numbers(2, 3), label="with a small table"),
        case(numbers(2, 3, 4, 5, seed=1), label="with a batch and heads in front"),
        case(numbers(1, 4, 3, seed=2), label="with one table in a batch"),
        case(numbers(1, 1), label="with one query and one key"),
        case(numbers(3, 5, seed=3) + torch.full((3, 5), -inf).tril(-1), label="with some scores of −∞"),
        case(_large_scores(), label="with scores of several hundred", mistakes=_LOW),
        case(_empty_rows(), label="with a row without any key", mistakes=_NO_KEY),
    ],
    task="""
    Write softmax over the keys for tables of any shape (…, n_q, n_k), without PyTorch's own softmax. It has
    to do what the page's three lines cannot. Scores may be as large as 1000, and some are −∞. A row in which
    all are −∞ belongs to a word that may not look anywhere, and gets weights of 0. Leave `scores` as it is.
    """,
    mistakes=changes("""
        powers.sum(dim=-1, keepdim=True) => powers.sum(dim=-1)
        A sum or maximum lost its axis, and broadcasts over columns.
        (scores - largest).exp() => scores
        .nan_to_num() =>
        You divide scores by their sum: what does softmax make of a score first?
        scores - largest => scores / largest
        You divide by the largest score: which operation with it leaves the shares as they are?
        scores - largest => scores.nan_to_num(neginf=0.0) - largest
        You put 0 in place of −∞, and a score of 0 gets a share: what is e to the power of 0?
        scores - largest => scores - scores.mean(dim=-1, keepdim=True)
        ).nan_to_num() => )
        One score of −∞ turns what you subtract from its row into ∞ or −∞: which number would do?
        .nan_to_num() => .nan_to_num().masked_fill((scores == -torch.inf).any(dim=-1, keepdim=True), 0.0)
        A row with one score of −∞ loses all its weights: does your 0 or NaN reach the whole row?
        scores - largest => scores
        ).nan_to_num() => )
        In some row e to a power is ∞, or 0 all along it: what may you subtract from each row first?
        scores - largest => scores.clamp(max=80)
        ).nan_to_num() => )
        Large scores or their powers are clipped, so that 300 and 299 get equal weights.
        scores - largest => scores - scores.max()
        ).nan_to_num() => )
        You subtract one maximum from all rows, and a row far below it is lost.
        ).nan_to_num() => ).log().nan_to_num()
        These are logarithms of weights: what does each row of weights add up to?
        .nan_to_num() => .nan_to_num(1 / scores.shape[-1])
        A row without any key gets equal shares: which weights would say that it looks nowhere?
    """),
    praise="Large scores, hidden keys, rows without any key: it is ready for the scores of real sentences.",
    hints=[
        "Which number can you subtract from a row of scores so that none overflows and no weight changes?",
        "scores.amax(dim=-1, keepdim=True) finds it for each row; keepdim=True keeps the axis.",
        "In a row without any key this number is −∞, and −∞ − (−∞) is NaN: put 0 in its place there.",
        "Such a row's powers and sum are now 0; torch.nan_to_num turns 0/0 into 0.",
    ],
    solution="""
def my_softmax(scores):
    # tensor (…, n_q, n_k) -> tensor (…, n_q, n_k)
    largest = scores.amax(dim=-1, keepdim=True)  # (…, n_q, n_k) -> (…, n_q, 1)
    largest = largest.masked_fill(largest == -torch.inf, 0.0)  # a row without any key
    powers = (scores - largest).exp()
    return (powers / powers.sum(dim=-1, keepdim=True)).nan_to_num()
""",
)

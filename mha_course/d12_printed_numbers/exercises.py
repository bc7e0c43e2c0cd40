"""The exercise of the deeper page on printed numbers: a query that asks."""

from math import log, log10, sqrt

from mha_course.exercises import ValueExercise


def _weight_of_cat(a, _):
    """Say which weight a wrong a gives to “cat”, beside two scores of 0."""
    weight = 1 / (1 + 2 * (-a / sqrt(2)).exp())
    return f"gives “cat” a weight of {weight:.3g}, not 0.8: is the ratio, the logarithm or √d_k wrong?"


query_of_eats = ValueExercise(
    "D12.1 ★★ · 6 min · A question for “eats”",
    decimals=2,
    task="""
    Repair head 1 of S1's “cat eats fish”. Its d_k is 2 and its keys stay as they are, (1, 0) for “cat”,
    (0, 0) for “eats” and “fish”. It gets a $W_Q$ of its own, [[1, 0], [a, 0]], so that “eats” asks (a, 0).
    For what value of a does “eats” give “cat” a weight of 0.8? Give two decimals.
    """,
    describe=_weight_of_cat,
    mistakes=[
        (log(8), "That is the scaled score: what was it before the division by √d_k?"),
        (log(8) / sqrt(2), "The scaled score is then ln 8 / 2: what do the key (1, 0) and √d_k make of a?"),
        (sqrt(2) * log(4), "You compare “cat” with all the rest: how many words share the 0.2?"),
        (2 * log(8), "You undo a division by d_k: what does page 04 divide by?"),
        (log(4), "Two words share the 0.2, and √d_k is missing: write down the softmax of “eats”."),
        (-sqrt(2) * log(8), "The size is right: does “cat” get more weight than the others, or less?"),
        (sqrt(2) * log10(8), "Softmax raises e to the power of a score: what is your logarithm's base?"),
        (8.0, "That is the ratio of two weights: which difference of scores makes it?"),
        (0.8 * sqrt(2), "0.8 is a weight; which score gives it, beside two scores of 0?"),
        (sqrt(2) * log(0.8), "A weight is e to the score over a sum: which ratio has that sum left out?"),
        (0.8, "0.8 is a weight; a is a score before scaling and softmax."),
    ],
    praise="A head finds who acts only if its W_Q lets the word ask: (0, 0) asks nothing.",
    hints=[
        "0.8 for “cat” leaves 0.1 for each of the others, whose scores are 0: which ratio is that?",
        "The ratio of two weights is e to the power of the difference of their scaled scores.",
    ],
    solution="my_a = math.sqrt(2) * math.log(0.8 / 0.1)",
)

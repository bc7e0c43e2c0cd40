"""The one exercise of page 00: what “fish” gets, and how an exercise works."""

import itertools

import torch

from mha_course.exercises import ValueExercise

V = torch.tensor([[2.0, 2.0], [0.0, -1.0], [-1.0, 1.0]])  # the values
FISH, EATS = torch.tensor([0.576, 0.140, 0.284]), torch.tensor([0.919, 0.027, 0.054])
WORDS, SHARES = ("cat", "eats", "fish"), FISH[:, None] * V
WAYS = torch.tensor([*itertools.product((1.0, 0.0), repeat=3), *itertools.product((1.0, -1.0), repeat=3)])


def _shares(numbers, wanted):
    """Say by which factor both numbers are wrong, or which shares one leaves out or turns."""
    factor = numbers / wanted
    if torch.allclose(factor, factor.mean(), rtol=5e-3):
        return f"is {factor.mean():.3g} times the right one in both numbers"
    fits = (WAYS @ SHARES - numbers).abs() < 6e-3  # (ways, 2): some way must lead to each of the numbers
    for name, way in zip(("first", "second"), WAYS[fits.int().argmax(0)], strict=True):
        words = [f"“{word}”" for word, sign in zip(WORDS, way, strict=True) if sign < 1]
        if words and fits.any(0).all():
            slip = "leaves out" if 0 in way else "turns the sign of"
            return f"{slip} the share of {' and '.join(words)} in its {name} number"
    return None


fish_gets = ValueExercise(
    "0.1 ★ · 4 min · What “fish” gets",
    decimals=2,
    describe=_shares,
    task="""
    In head 1 the row of “fish” is 0.576, 0.140, 0.284. The values are those of the table above: (2, 2)
    from “cat”, (0, −1) from “eats” and (−1, 1) from “fish” itself. Which two numbers does “fish” get,
    to at least two decimals? Put them in place of the dots, as in `[1.23, 4.56]`, and run the cell.
    If you are stuck, remove a `#` in the cell below.
    """,
    stub="fish_gets = ...  # two numbers, as a list",
    mistakes=[
        (EATS @ V, "That is what “eats” collects: which row of weights is “fish”?"),
        (V.sum(0), "That adds up whole values: how much of each does “fish” take?"),
        (V.mean(0), "That takes a third of each value: the shares of “fish” differ."),
        (FISH.flip(0) @ V, "That takes the weights from last to first: whose share is 0.576?"),
        (V[0], "That is the whole value of “cat”, but its share here is 0.576."),
        (FISH, "Those are the weights alone: of which numbers does “fish” take these shares?"),
    ],
    praise="You have computed an output of attention: a mix of values, in one row's proportions.",
    hints=[
        "Do as the table for “eats” does: weight · value for each word, then add up.",
        "The first number: 0.576 · 2 + 0.140 · 0 + 0.284 · (−1).",
    ],
    solution="""
weights = torch.tensor([0.576, 0.140, 0.284])  # how much “fish” takes from cat, eats, fish
values = torch.tensor([[2.0, 2.0], [0.0, -1.0], [-1.0, 1.0]])  # what cat, eats, fish offer
fish_gets = weights @ values  # (3) @ (3, 2) -> (2)
""",
)

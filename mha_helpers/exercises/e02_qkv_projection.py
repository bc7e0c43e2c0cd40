"""The exercises of notebook 02: one query by hand, all three projections, a published example, nn.Linear."""

import torch

from mha_helpers.attention import project_qkv
from mha_helpers.exercises.framework import Mistake
from mha_helpers.exercises.functions import FunctionExercise
from mha_helpers.exercises.mistakes import PROJECTION
from mha_helpers.exercises.running import case, numbers
from mha_helpers.exercises.values import ValueExercise

query_of_fish = ValueExercise(
    "2.1",
    "What does fish ask in head 2?",
    stars=1,
    minutes=3,
    variable="query_of_fish",
    answer=torch.tensor([-2.0, 1.0]),
    mistakes=[
        Mistake(
            "head 1",
            torch.tensor([1.0, 0.0]),
            "That is the query of fish in head 1. Head 2 owns the third and fourth column of W_Q.",
        ),
        Mistake(
            "head 3",
            torch.tensor([1.0, -1.0]),
            "That is the query of fish in head 3. Head 2 owns the third and fourth column of W_Q.",
        ),
        Mistake(
            "key", torch.tensor([1.0, 2.0]), "That is the key of fish in head 2. Which matrix makes queries?"
        ),
        Mistake(
            "value",
            torch.tensor([2.0, 1.0]),
            "That is the value of fish in head 2, or its query without the minus: which matrix did you use?",
        ),
        Mistake(
            "eats",
            torch.tensor([-1.0, 1.0]),
            "That is what eats asks in head 2, or fish with a 1 for the 2 of “what is eaten”: check the row"
            " of x, and its numbers.",
        ),
        Mistake(
            "eats in head 1",
            torch.tensor([2.0, -1.0]),
            "That is what eats asks in head 1, from the page above: which row, and which columns, are meant?",
        ),
        Mistake(
            "all heads",
            torch.tensor([1.0, 0.0, -2.0, 1.0, 1.0, -1.0]),
            "These are the queries of fish in all three heads, two numbers each: which two are of head 2?",
        ),
        Mistake(
            "cat",
            torch.tensor([0.0, 2.0]),
            "That is what cat asks in head 2: check the row of x.",
        ),
        Mistake(
            "one column late",
            torch.tensor([1.0, 1.0]),
            "You took the fourth and fifth column of W_Q: columns are counted from 0, the end is left out.",
        ),
        Mistake(
            "one column early",
            torch.tensor([0.0, -2.0]),
            "You took the second and third column of W_Q: columns are counted from 0, the end is left out.",
        ),
        Mistake(
            "the other way round",
            torch.tensor([1.0, -2.0]),
            "The two numbers have changed places: the third column of W_Q gives the first of them.",
        ),
    ],
    praise="W_Q turns the sign of the 2 in x. What fish asks, (−2, 1), is not what it offers, (1, 2).",
    hints=[
        "Take the row of fish in x, and the third and fourth column of W_Q.",
        "For the first number, multiply the six features of fish with the six numbers of the third column,"
        " and add.",
        "Third column: only “what is eaten” gives a product other than zero. Fourth column: only “who acts”.",
    ],
    solution="""
fish = example.x[2]
query_of_fish = fish @ example.w_q[:, 2:4]  # (d_model) @ (d_model, d_k) -> (d_k)
""",
    given="example = golden_example()",
)


def _cases():
    golden = [
        torch.tensor([[2.0, 0, 0, 1], [0, 1, 0, 0], [1, 0, 2, 0]]),
        torch.tensor([[1.0, 0], [2, -1], [0, 0], [0, 1]]),
        torch.tensor([[1.0, 0], [0, 1], [0, 1], [1, 1]]),
        torch.tensor([[1.0, 1], [0, -1], [-1, 0], [0, 1]]),
    ]
    return [
        case(*golden),
        case(numbers(5, 4), numbers(4, 3, name="q"), numbers(4, 3, name="k"), numbers(4, 5, name="v")),
        case(numbers(2, 3, 5), numbers(5, 5, name="q"), numbers(5, 5, name="k"), numbers(5, 5, name="v")),
        case(numbers(1, 2, 4, 3), numbers(3, 2, name="q"), numbers(3, 2, name="k"), numbers(3, 5, name="v")),
    ]


all_three = FunctionExercise(
    "2.2",
    "All three projections",
    stars=2,
    minutes=4,
    variable="my_projections",
    reference=lambda x, w_q, w_k, w_v: project_qkv(x, w_q, w_k, w_v),
    cases=_cases,
    returns=("q", "k", "v"),
    mistakes=PROJECTION,
    praise="Three products with one x. Everything a head knows about a token goes through them.",
    hints=[
        "One matrix product turns all tokens at once: every row of x meets every column of the matrix.",
        "Return three tensors, separated by commas: first the queries, then the keys, then the values.",
    ],
    solution="""
def my_projections(x, w_q, w_k, w_v):
    q = x @ w_q  # (..., n, d_model) @ (d_model, d_k) -> (..., n, d_k)
    k = x @ w_k  # (..., n, d_model) @ (d_model, d_k) -> (..., n, d_k)
    v = x @ w_v  # (..., n, d_model) @ (d_model, d_v) -> (..., n, d_v)
    return q, k, v
""",
)

PUBLISHED_X = torch.tensor([[1.0, 0.5, -1.0, 2.0], [-0.5, 1.0, 0.3, -2.0]])
PUBLISHED_W_Q2 = torch.tensor([[-0.3, 0.2], [1.1, 0.6], [-0.4, 0.8], [0.7, -0.1]])

published_queries = ValueExercise(
    "2.3",
    "Find the error in a published example",
    stars=2,
    minutes=5,
    variable="right_queries",
    answer=lambda: PUBLISHED_X @ PUBLISHED_W_Q2,
    decimals=2,
    mistakes=[
        Mistake(
            "as published",
            torch.tensor([[2.15, 0.65], [-1.32, 1.02]]),
            "These are the published numbers. Multiply the first row by hand: what do you get?",
        ),
        Mistake(
            "the first head",
            lambda: PUBLISHED_X @ torch.tensor([[0.1, 0.4], [-0.2, 0.3], [1.0, -0.5], [0.5, 0.2]]),
            "These are the right queries of head 1. This exercise asks for head 2.",
        ),
        Mistake(
            "signs dropped",
            lambda: PUBLISHED_X.abs() @ PUBLISHED_W_Q2.abs(),
            "The minus signs got lost on the way. Keep them in x and in the matrix.",
        ),
    ],
    praise="None of the four published numbers is right. A printed example is a claim: recompute it.",
    hints=[
        "The shapes tell what to multiply: (2, 4) and (4, 2).",
        "The first number is 1·(−0.3) + 0.5·1.1 + (−1)·(−0.4) + 2·0.7.",
    ],
    solution="""
right_queries = published_x @ published_w_q2  # (n, d_model) @ (d_model, d_k) -> (n, d_k)
""",
    given="""
published_x = torch.tensor([[1.0, 0.5, -1.0, 2.0], [-0.5, 1.0, 0.3, -2.0]])
published_w_q2 = torch.tensor([[-0.3, 0.2], [1.1, 0.6], [-0.4, 0.8], [0.7, -0.1]])
""",
)


def _linear(x, weight, bias):
    return x @ weight.T + bias


def _linear_cases():
    return [
        case(numbers(3, 6), numbers(6, 6, name="weight"), numbers(6, name="bias")),
        case(numbers(3, 6), numbers(2, 6, name="weight"), numbers(2, name="bias")),
        case(numbers(2, 5, 4), numbers(7, 4, name="weight"), numbers(7, name="bias")),
        case(numbers(1, 3, 2, 4), numbers(5, 4, name="weight"), numbers(5, name="bias")),
    ]


linear_by_hand = FunctionExercise(
    "2.4",
    "What nn.Linear computes",
    stars=3,
    minutes=5,
    variable="my_linear",
    reference=_linear,
    cases=_linear_cases,
    without=["torch.linear"],
    mistakes=[
        Mistake(
            "weight not transposed",
            lambda x, weight, bias: x @ weight + bias,
            "nn.Linear stores its matrix as (d_out, d_in), the other way round than x @ W needs it.",
        ),
        Mistake(
            "view in place of transpose",
            lambda x, weight, bias: x @ weight.reshape(weight.shape[1], weight.shape[0]) + bias,
            "The numbers of weight are cut into other rows. Neither view nor reshape turns an axis: what"
            " does?",
        ),
        Mistake(
            "weight in front",
            lambda x, weight, bias: (weight @ x.T).T + bias,
            "x.T turns all axes of x, sentences too. Which of the two has two axes alone, and may be turned?",
        ),
        Mistake(
            "bias added to x",
            lambda x, weight, bias: (x + bias) @ weight.T,
            "The bias is added to x, before the product: to what does the task add it?",
        ),
        Mistake(
            "a bias forgotten",
            lambda x, weight, bias: x @ weight.T,
            "The product is right. The bias is missing: one number for each output feature.",
        ),
        Mistake(
            "neither transposed nor bias",
            lambda x, weight, bias: x @ weight,
            "Two things are missing: look at the order of the axes of weight, and at the bias.",
        ),
        Mistake(
            "bias subtracted",
            lambda x, weight, bias: x @ weight.T - bias,
            "The bias has the wrong sign.",
        ),
    ],
    praise="Now you can read the weights out of any PyTorch model. Page 09 does it with a whole module.",
    hints=[
        "Print torch.nn.Linear(6, 2).weight.shape and compare it with the W that x @ W needs.",
        "A matrix M with its axes swapped is M.T.",
        "The bias has shape (d_out). PyTorch adds it to every row by itself.",
    ],
    solution="""
def my_linear(x, weight, bias):
    return x @ weight.T + bias  # (..., d_in) @ (d_in, d_out) -> (..., d_out)
""",
)

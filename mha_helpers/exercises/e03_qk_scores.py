"""Exercises of notebook 03: scores, the dot products of queries and keys."""

import torch

from mha_helpers.attention import attention_scores, project_qkv, split_heads
from mha_helpers.examples import golden_example
from mha_helpers.exercises.framework import Mistake
from mha_helpers.exercises.functions import FunctionExercise
from mha_helpers.exercises.mistakes import SCORES, pick
from mha_helpers.exercises.running import case, numbers
from mha_helpers.exercises.values import ChoiceExercise


def _golden_heads():
    """q and k of the golden example, (h, n, d_k)."""
    example = golden_example()
    q, k, _ = project_qkv(example.x, example.w_q, example.w_k, example.w_v)
    return split_heads(q, example.num_heads), split_heads(k, example.num_heads)


def _dot(query, key):
    return sum(query[feature] * key[feature] for feature in range(len(query)))


def _dot_cases():
    q, k = _golden_heads()
    return [
        case(q[0, 1].tolist(), k[0, 0].tolist()),  # "eats" asks "cat", head 1
        case([1.0, -2.0, 3.0], [4.0, 5.0, -0.5]),
        case([2.0], [-3.0]),
        case([0.25, 0.5], [0.25, 0.25]),  # 0.1875: a rounded score is another one
        case([0.5, 1.5, -1.0, 2.0, 1.0], [3.0, 0.0, 2.0, 1.0, -4.0]),
    ]


one_score = FunctionExercise(
    "3.1",
    "One score by hand",
    stars=1,
    minutes=3,
    variable="my_score",
    reference=_dot,
    cases=_dot_cases,
    mistakes=[
        Mistake(
            "products not added",
            lambda query, key: [a * b for a, b in zip(query, key, strict=True)],
            "These are the products, one for each feature: a score is one number, so one step is left.",
        ),
        Mistake(
            "only the last product",
            lambda query, key: query[-1] * key[-1],
            "Only the last product is left: does your loop add to the total, or begin again at 0 each time?",
        ),
        Mistake(
            "only the first product",
            lambda query, key: query[0] * key[0],
            "Only the first product is counted: is the `return` inside the loop?",
        ),
        Mistake(
            "the first two products",
            lambda query, key: query[0] * key[0] + query[1] * key[1],
            "Only the first two features are counted: len(query) says how many there are.",
        ),
        Mistake(
            "last feature left out",
            lambda query, key: _dot(query[:-1], key[:-1]),
            "The last feature is left out: where does range stop?",
        ),
        Mistake(
            "first feature left out",
            lambda query, key: _dot(query[1:], key[1:]),
            "The first feature is left out: from which number are features counted?",
        ),
        Mistake(
            "sums multiplied",
            lambda query, key: sum(query) * sum(key),
            "Every feature of the query meets every feature of the key: each should meet its own alone.",
        ),
        Mistake(
            "added instead of multiplied",
            lambda query, key: sum(query) + sum(key),
            "You add query and key: how do two features combine to say that they fit?",
        ),
        Mistake(
            "query with itself",
            lambda query, key: _dot(query, query),
            "The query is compared with itself: the key is never used.",
        ),
        Mistake(
            "scaled already",
            lambda query, key: _dot(query, key) / len(query) ** 0.5,
            "This is scaled already, which is page 04: the raw dot product is asked for.",
        ),
    ],
    praise="A score is large where query and key are large, with the same sign, in the same features.",
    hints=[
        "Go through the features one by one: feature 0 of the query belongs to feature 0 of the key.",
        "Multiply the two numbers of each feature.",
        "Start a total at 0 before the loop, add each product inside it, return it after it.",
    ],
    solution="""
def my_score(query, key):
    total = 0
    for feature in range(len(query)):
        total = total + query[feature] * key[feature]
    return total
""",
)


def _table(q, k):
    scores = torch.zeros(q.shape[0], k.shape[0])
    for i in range(q.shape[0]):
        for j in range(k.shape[0]):
            scores[i, j] = (q[i] * k[j]).sum()
    return scores


def _all_scores_cases():
    q, k = _golden_heads()
    return [
        case(q[0], k[0]),
        case(q, k),
        case(numbers(4, 3, name="q"), numbers(5, 3, name="k")),
        case(numbers(2, 3, 4, 5, name="q"), numbers(2, 3, 4, 5, name="k")),
        case(numbers(2, 3, 4, 5, name="q"), numbers(2, 3, 6, 5, name="k")),
        case(numbers(4, 4, 4, 4, name="q"), numbers(4, 4, 4, 4, name="k")),  # every wrong transpose runs
    ]


all_scores = FunctionExercise(
    "3.2",
    "All scores of all heads at once",
    stars=2,
    minutes=5,
    variable="my_scores",
    reference=attention_scores,
    cases=_all_scores_cases,
    mistakes=SCORES,
    praise="It holds for any number of leading axes, and for more keys than queries.",
    hints=[
        "Write the shapes of q and k below each other: which axis of each holds the features?",
        "`@` multiplies rows of the left with columns of the right: the features of k must become its rows.",
        "Two axes of k change places. Count them from the end, so that batch and heads stay where they are.",
    ],
    solution="""
def my_scores(q, k):
    return q @ k.transpose(-2, -1)
""",
)

best_match = ChoiceExercise(
    "3.3",
    "Read a table of scores",
    stars=1,
    minutes=2,
    variable="my_cell",
    answer=(1, 2),
    wrong={
        (2, 1): "That is what “fish” asks of “eats”: which of the two numbers names the row?",
        (1, 0): "That is “cat”, who acts: in this head “eats” looks for somebody else.",
        (2, 3): "You counted from 1. Rows and columns are counted from 0 here: take 1 from both.",
        (2, 2): "The column is right. Rows are counted from 0 as well.",
        (1, 3): "The row is right. Columns are counted from 0 as well.",
        (1, 1): "That is “eats” itself: another key in this row has a larger score.",
    },
    otherwise="Give two numbers, row and column. “eats” asks, so its row is meant: row 1, counted from 0.",
    praise="Rows ask, columns answer: “eats” fits “fish” best in the head that finds what is eaten.",
    hints=[
        "A row belongs to the token that asks. Rows are counted from 0.",
        "Within that row, look for the largest number: its column is the token that fits best.",
    ],
    solution="my_cell = (1, 2)  # row of “eats”, column of “fish”",
)

PRODUCTS = (
    "matmul",
    "__matmul__",
    "mm",
    "bmm",
    "mv",
    "dot",
    "inner",
    "vdot",
    "einsum",
    "tensordot",
    "linear",
    "addmm",
    "addbmm",
    "baddbmm",
    "addmv",
    "__rmatmul__",
    "chain_matmul",
    "linalg_matmul",
    "linalg_multi_dot",
    "multi_dot",
    "linalg_vecdot",
    "vecdot",
    "matvec",
    "vecmat",
)

by_loops = FunctionExercise(
    "3.4",
    "The same table without @",
    stars=3,
    minutes=10,
    variable="my_loop",
    reference=_table,
    cases=lambda: [
        case(_golden_heads()[0][1], _golden_heads()[1][1]),
        case(numbers(4, 3, name="q"), numbers(5, 3, name="k")),
        case(numbers(5, 2, name="q"), numbers(3, 2, name="k")),
        case(numbers(4, 4, name="q"), numbers(4, 4, name="k")),
    ],
    without=[
        "mha_helpers.attention_scores",
        "@",
        *(f"{front}.{name}" for front in ("torch", "") for name in PRODUCTS),
    ],  # "": NumPy's
    mistakes=[
        *pick(
            SCORES,
            "transposed picture",
            "elementwise product",
            "sum of elementwise product",
            "queries with queries",
            "keys with keys",
            "scaled already",
        ),
        Mistake(
            "only the last product",
            lambda q, k: q[:, None, -1] * k[None, :, -1],
            "Only the last product is left: does your loop add to the cell, or begin again at 0 each time?",
        ),
        Mistake(
            "first row alone",
            lambda q, k: torch.cat([_table(q, k)[:1], torch.zeros(len(q) - 1, len(k))]),
            "Only the first row is filled: at which depth of your loops does the `return` stand?",
        ),
        Mistake(
            "first cell alone",
            lambda q, k: torch.nn.functional.pad(_table(q, k)[:1, :1], (0, len(k) - 1, 0, len(q) - 1)),
            "Only the first cell is filled: at which depth of your loops does the `return` stand?",
        ),
        Mistake(
            "one list for all rows",
            lambda q, k: _table(q, k).sum(dim=0).expand(len(q), -1),
            "All rows are alike, and hold the sums over all queries: [row] * n repeats one list. How many do"
            " you need?",
        ),
        Mistake(
            "one total for all cells",
            lambda q, k: _table(q, k).flatten().cumsum(dim=0).view(len(q), len(k)),
            "Every cell also holds all cells before it: the total must start at 0 for each cell.",
        ),
        Mistake(
            "one total for each row",
            lambda q, k: _table(q, k).cumsum(dim=1),
            "Every cell also holds the cells before it in its row: the total must start at 0 for each cell.",
        ),
    ],
    praise="Each cell is a sum of products, one for each feature. `@` computes the same table, only faster.",
    hints=[
        "The table has one row for each query and one column for each key: make it first, filled with zeros.",
        "Two loops go through the cells, i over the queries and j over the keys.",
        "Inside, a third loop goes through the features and adds up products.",
    ],
    solution="""
def my_loop(q, k):
    n_q, d_k = q.shape
    n_k = k.shape[0]
    scores = torch.zeros(n_q, n_k)
    for i in range(n_q):
        for j in range(n_k):
            for feature in range(d_k):
                scores[i, j] += q[i, feature] * k[j, feature]
    return scores
""",
)

"""The exercises of notebook 11: a mask for padding, a fused projection, what a number allows one to say."""

import torch

from mha_helpers.exercises.framework import Mistake
from mha_helpers.exercises.functions import FunctionExercise
from mha_helpers.exercises.mistakes import TO_ADD
from mha_helpers.exercises.running import case, numbers
from mha_helpers.exercises.values import ChoiceExercise


def _mask(attention_mask):
    return attention_mask.bool()[:, None, None, :]


def _to_add(hidden):
    return lambda attention_mask: torch.where(_mask(attention_mask), 0.0, hidden)


padding = FunctionExercise(
    "11.1",
    "From 1 and 0 to True and False",
    stars=1,
    minutes=4,
    variable="my_mask",
    reference=_mask,
    cases=lambda: [
        case(torch.tensor([[1, 1, 1, 1], [1, 1, 1, 0]])),
        case(torch.tensor([[1, 1, 1, 0, 0], [1, 1, 1, 1, 1], [1, 0, 0, 0, 0]])),
        case(torch.tensor([[1, 1, 1, 0, 0, 0]])),
    ],
    mistakes=[
        Mistake(
            "no axes added",
            lambda attention_mask: attention_mask.bool(),
            "The values are right, with shape (b, n). The class needs an axis for heads and one for queries.",
        ),
        Mistake(
            "queries masked",
            lambda attention_mask: attention_mask.bool()[:, None, :, None],
            "That shuts padding out as a query. Nobody may look at padding: which axis holds the keys?",
        ),
        Mistake(
            "turned round",
            lambda attention_mask: ~attention_mask.bool()[:, None, None, :],
            "Padding may be looked at here, and words may not. In this course True means: may attend.",
        ),
        *(
            Mistake(f"to add, as {hidden}", _to_add(hidden), TO_ADD)
            for hidden in (-1e9, -1e4, torch.finfo(torch.float32).min, -torch.inf)
        ),
        Mistake(
            "~ of whole numbers",
            lambda attention_mask: ~attention_mask[:, None, None, :],
            "~ makes −2 of 1 and −1 of 0: turn them into bool first. And which way round is it then?",
        ),
        Mistake(
            "batch in the wrong place",
            lambda attention_mask: attention_mask.bool()[None, None, :, :],
            "The batch axis must come first: (b, 1, 1, n). Yours stands where the queries belong.",
        ),
        Mistake(
            "queries and keys masked",
            lambda attention_mask: (
                attention_mask.bool()[:, None, :, None] & attention_mask.bool()[:, None, None, :]
            ),
            "Queries are masked too, so rows of padding have no key at all. Only keys need to be shut out.",
        ),
    ],
    praise="One row for each sentence, one column for each key; heads and queries share it.",
    hints=[
        "Two things differ: 1 and 0 must become True and False, and two axes are missing.",
        "The axes of the scores are (b, h, n_q, n_k). Which of them does the given mask have?",
        "Indexing with None makes an axis of size 1.",
    ],
    solution="""
def my_mask(attention_mask):
    real = attention_mask.bool()  # (b, n): 1 -> True
    return real[:, None, None, :]  # (b, n) -> (b, 1, 1, n)
""",
)


def _parts(weight):
    return tuple(part.T for part in weight.chunk(3, dim=1))


fused = FunctionExercise(
    "11.2",
    "GPT-2 keeps Q, K and V in one matrix",
    stars=2,
    minutes=8,
    variable="my_parts",
    reference=_parts,
    returns=("w_q", "w_k", "w_v"),
    cases=lambda: [
        case(numbers(6, 18, name="c_attn")),
        case(numbers(4, 12, name="c_attn")),
        case(numbers(9, 27, name="c_attn")),
    ],
    mistakes=[
        Mistake(
            "not transposed",
            lambda weight: weight.chunk(3, dim=1),
            "The three parts are right, but they are (in, out). A Linear keeps its weight as (out, in).",
        ),
        Mistake(
            "another order",
            lambda weight: tuple(_parts(weight)[i] for i in (1, 0, 2)),
            "You have the key's part where the query's belongs. In which order do they stand?",
        ),
        Mistake(
            "values first",
            lambda weight: tuple(_parts(weight)[i] for i in (2, 1, 0)),
            "Your order is V, K, Q. The order in the matrix is the one of the heading.",
        ),
        Mistake(
            "every third column",
            lambda weight: tuple(weight[:, i::3].T for i in range(3)),
            "You took every third column. The columns of one part stand side by side.",
        ),
        Mistake(
            "cut along the rows",
            lambda weight: weight.chunk(3, dim=0),
            "You cut the rows, which are the features of x. Q, K and V stand side by side, in the columns.",
        ),
    ],
    praise="The same three matrices as ever, in other clothes. Two layouts, one computation.",
    hints=[
        "x @ weight gives (n, 3·d_model): the first d_model columns are q, the next k, the last v.",
        "weight.chunk(3, dim=…) cuts into three equal parts. Along which axis?",
        "A Linear computes x @ weight.T, GPT-2 computes x @ weight.",
    ],
    solution="""
def my_parts(weight):
    # (d_model, 3·d_model) -> 3 of (d_model, d_model)
    q_part, k_part, v_part = weight.chunk(3, dim=1)
    return q_part.T, k_part.T, v_part.T  # (in, out) -> (out, in)
""",
)

what_it_says = ChoiceExercise(
    "11.3",
    "What may you say?",
    stars=1,
    minutes=3,
    variable="conclusion",
    answer="b",
    wrong={
        "a": "One sentence was measured. What would you need to see before you say “always”?",
        "c": "A weight says where values come from, not what they are used for. Has anything tested grammar?",
        "d": "The picture does not show what the model needs. Which experiment would?",
    },
    otherwise="Answer with one letter: a, b, c or d.",
    praise="A measurement, on this sentence, of where the values come from. The rest needs experiments.",
    hints=[
        "For each sentence ask: which cell of this page measured that?",
        "“Always”, “understands” and “needs” each need an experiment of their own.",
    ],
    solution="""
conclusion = "b"  # what was measured, and no more
""",
)

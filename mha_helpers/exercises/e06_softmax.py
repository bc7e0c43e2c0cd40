"""The exercises of notebook 06: one weight, softmax in general, a published row, the derivative."""

import math

import torch

from mha_helpers.exercises.framework import Mistake
from mha_helpers.exercises.functions import FunctionExercise
from mha_helpers.exercises.mistakes import SOFTMAX, pick
from mha_helpers.exercises.running import case, numbers
from mha_helpers.exercises.values import ValueExercise

# Head 3 of the golden example: what "eats" scores on cat, eats and fish, before scaling. No page before
# this one prints its weights to three decimals.
SCORES = torch.tensor([5.0, -2.0, 2.0])
SCALED = torch.tensor([3.536, -1.414, 1.414])  # ÷√2, as the task gives it

one_weight = ValueExercise(
    "6.1",
    "One weight by hand",
    stars=1,
    minutes=3,
    variable="weight_of_cat",
    answer=lambda: torch.softmax(SCALED, dim=-1)[0].item(),
    decimals=3,
    mistakes=[
        Mistake(
            "no scale",
            lambda: torch.softmax(SCORES, dim=-1)[0].item(),
            "That uses the scores before they are divided by √2. The row above is divided already.",
        ),
        Mistake(
            "scaled again",
            lambda: torch.softmax(SCALED / math.sqrt(2), dim=-1)[0].item(),
            "You divided by √2 as well. These scores are scaled already.",
        ),
        Mistake(
            "exp without dividing",
            lambda: SCALED[0].exp().item(),
            "That is e to the power of the score. One step is left: what part of the sum is it?",
        ),
        Mistake(
            "the sum",
            lambda: SCALED.exp().sum().item(),
            "That is the sum of the three. Which part of it belongs to cat?",
        ),
        Mistake(
            "divided by the others",
            lambda: (SCALED[0].exp() / SCALED[1:].exp().sum()).item(),
            "You divided by the two others. The sum is over all three.",
        ),
        Mistake(
            "eats left out",
            lambda: torch.softmax(SCALED[[0, 2]], dim=-1)[0].item(),
            "One of the three is missing from the sum: a negative score counts as well.",
        ),
        Mistake(
            "weight of fish",
            lambda: torch.softmax(SCALED, dim=-1)[2].item(),
            "That is the weight of fish. The score of cat is the first of the three.",
        ),
        Mistake(
            "weight of eats",
            lambda: torch.softmax(SCALED, dim=-1)[1].item(),
            "That is the weight of eats itself. The score of cat is the first of the three.",
        ),
        Mistake(
            "powers of two",
            lambda: (2**SCALED / (2**SCALED).sum())[0].item(),
            "That uses 2 to the power of the score. Softmax uses e, about 2.718.",
        ),
        Mistake("the score", lambda: SCALED[0].item(), "That is the score of cat. A score is no weight yet."),
    ],
    praise="Three steps for a whole row: e to the power, add, divide.",
    hints=[
        "Compute e to the power of each of the three scores: math.exp(3.536), and so on.",
        "Add the three results. The weight of cat is its own result, divided by this sum.",
    ],
    solution="""
exponentials = [math.exp(3.536), math.exp(-1.414), math.exp(1.414)]
weight_of_cat = exponentials[0] / sum(exponentials)
""",
)


def _softmax(scores):
    return torch.softmax(scores, dim=-1)


def _exponentials(scores):
    return (scores - scores.amax(dim=-1, keepdim=True)).exp()


def _shares(exponentials):
    return exponentials / exponentials.sum(dim=-1, keepdim=True)


def _shares_without_keepdim(exponentials):
    return exponentials / exponentials.sum(dim=-1)


_AXIS_LOST = "The {0} of a row has lost its axis, so it meets a column: keepdim=True in the {0} lets it stay."


def _softmax_cases():
    masked = numbers(3, 4)
    masked[0, 2:] = -math.inf
    large = 60 * numbers(2, 3, 5, name="large")
    large[0, 0, :2] = torch.tensor([300.0, 299.0])
    large[0, 1, :2] = torch.tensor([1000.0, 900.0])  # too large for float64 as well
    return [
        case(torch.tensor([[4.0, 0, 2], [4, -1, 0], [2, 0, 1]]) / math.sqrt(2)),
        case(numbers(2, 3, 4, 5)),
        case(masked),
        case(large),
    ]


stable_softmax = FunctionExercise(
    "6.2",
    "A softmax that never overflows",
    stars=2,
    minutes=6,
    variable="my_softmax",
    reference=_softmax,
    cases=_softmax_cases,
    without=[f"torch.{name}" for name in ("softmax", "special_softmax", "log_softmax", "softmin")],
    mistakes=[
        *pick(
            SOFTMAX,
            "softmax over queries",
            "softmax over everything",
            "softmax over axis 0",
            "softmax over axis 1",
            "softmax without the maximum",
            "exp without dividing",
            "divided by the sum of scores",
        ),
        Mistake(
            "exp alone",
            lambda scores: scores.exp(),
            "These are the exponentials. The rows do not sum to 1 yet: one step is left.",
        ),
        Mistake(
            "maximum taken off above alone",
            lambda scores: _exponentials(scores) / scores.exp().sum(dim=-1, keepdim=True),
            "You subtract the maximum before the division sign, and not in the sum behind it: both need"
            " the same exponentials.",
        ),
        Mistake(
            "large scores cut off",
            lambda scores: scores.clamp(max=80).exp() / scores.clamp(max=80).exp().sum(dim=-1, keepdim=True),
            "You cut large scores off, so 300 and 299 get equal weights: subtract the maximum of the row.",
        ),
        Mistake(
            "maximum of everything",
            lambda scores: (
                (scores - scores.max()).exp() / (scores - scores.max()).exp().sum(dim=-1, keepdim=True)
            ),
            "You subtract one maximum from all rows. A row far below it loses every number: each row needs"
            " its own maximum.",
        ),
        Mistake(
            "sum without keepdim",
            lambda scores: _shares_without_keepdim(_exponentials(scores)),
            _AXIS_LOST.format("sum"),
        ),
        Mistake(
            "sum without keepdim, without the maximum",
            lambda scores: _shares_without_keepdim(scores.exp()),
            _AXIS_LOST.format("sum"),
        ),
        Mistake(
            "maximum without keepdim",
            lambda scores: _shares((scores - scores.amax(dim=-1)).exp()),
            _AXIS_LOST.format("maximum"),
        ),
        Mistake(
            "maximum and sum without keepdim",
            lambda scores: _shares_without_keepdim((scores - scores.amax(dim=-1)).exp()),
            "Maximum and sum of a row have both lost their axis: keepdim=True lets it stay.",
        ),
        Mistake(
            "sum over queries",
            lambda scores: _exponentials(scores) / _exponentials(scores).sum(dim=-2, keepdim=True),
            "The columns sum to 1, not the rows: which axis do you add up?",
        ),
        Mistake(
            "sum over axis 1",
            lambda scores: _exponentials(scores) / _exponentials(scores).sum(dim=1, keepdim=True),
            "You add up along axis 1, the keys only if there is no batch and no head: count it from the end.",
        ),
        Mistake(
            "subtracted the wrong way round",
            lambda scores: _shares((scores.amax(dim=-1, keepdim=True) - scores).exp()),
            "You subtract the scores from the maximum, so the largest gets least: which is taken from which?",
        ),
        Mistake(
            "no exp",
            lambda scores: _shares(scores - scores.amax(dim=-1, keepdim=True)),
            "The maximum is subtracted, and e to the power of what is left is missing: which step follows?",
        ),
        Mistake(
            "minimum subtracted",
            lambda scores: _shares((scores - scores.amin(dim=-1, keepdim=True)).exp()),
            "You subtract the smallest score of a row, so the others grow, and can overflow: which is safe?",
        ),
        Mistake(
            "mean subtracted",
            lambda scores: _shares((scores - scores.mean(dim=-1, keepdim=True)).exp()),
            "You subtract the mean of a row. A score far above it can still overflow: which number is safe?",
        ),
        Mistake(
            "maximum of each column",
            lambda scores: _shares((scores - scores.amax(dim=-2, keepdim=True)).exp()),
            "You subtract the maximum of each column: a row keeps its weights if all of it loses one number.",
        ),
        Mistake(
            "maximum of the first axis",
            lambda scores: _shares((scores - scores.amax(dim=0)).exp()),
            "You subtract the maximum along axis 0: a row keeps its weights if all of it loses one number.",
        ),
        Mistake(
            "divided by the maximum",
            lambda scores: _shares((scores / scores.amax(dim=-1, keepdim=True)).exp()),
            "You divide by the maximum, and softmax depends on differences: what leaves differences alone?",
        ),
        Mistake(
            "exponentials over the sum of scores",
            lambda scores: scores.exp() / scores.sum(dim=-1, keepdim=True),
            "You divide by the sum of the scores: what are your exponentials to be shares of?",
        ),
        Mistake(
            "sum over the first axis",
            lambda scores: _exponentials(scores) / sum(_exponentials(scores)),
            "Your sum runs over the first axis, as Python's sum does: which axis holds the keys?",
        ),
        Mistake(
            "loop over the first axis",
            lambda scores: torch.stack(
                [(block - block.max()).exp() / (block - block.max()).exp().sum() for block in scores]
            ),
            "Your loop goes over the first axis, which holds rows only if there are two axes: and with more?",
        ),
        Mistake(
            "sum over everything",
            lambda scores: (
                (scores - scores.amax(dim=-1, keepdim=True)).exp()
                / (scores - scores.amax(dim=-1, keepdim=True)).exp().sum()
            ),
            "All cells together sum to 1. Each row has a sum of its own.",
        ),
    ],
    praise="Your softmax takes scores of any size, and −∞ as well.",
    hints=[
        "Which number can you take from all scores of a row, so that none overflows and no weight changes?",
        "scores.amax(dim=-1, keepdim=True) finds it for each row; keepdim=True lets the axis stay.",
        "Take it away, then e to the power of what is left, then divide by the sum of each row, with"
        " keepdim=True again.",
    ],
    solution="""
def my_softmax(scores):
    largest = scores.amax(dim=-1, keepdim=True)  # (..., n_q, n_k) -> (..., n_q, 1)
    exponentials = (scores - largest).exp()
    return exponentials / exponentials.sum(dim=-1, keepdim=True)
""",
)

published_row = ValueExercise(
    "6.3",
    "Find the error in a published example",
    stars=2,
    minutes=4,
    variable="right_row",
    answer=lambda: torch.softmax(torch.tensor([0.32, 0.04, -math.inf]), dim=-1),
    decimals=2,
    mistakes=[
        Mistake(
            "as published",
            torch.tensor([0.52, 0.48, 0.0]),
            "That is the published row. The two scores differ by 0.28: e to the power of 0.28 is about 1.32."
            " What should the two weights have to do with each other?",
        ),
        Mistake(
            "divided by the sum of scores",
            torch.tensor([0.32, 0.04, 0.0]) / 0.36,
            "That divides the scores by their sum. Softmax takes e to their power first.",
        ),
        Mistake(
            "masked cell as zero",
            lambda: torch.softmax(torch.tensor([0.32, 0.04, 0.0]), dim=-1),
            "The masked cell got a share. Its score is −∞, not 0: e to the power of −∞ is 0.",
        ),
        Mistake(
            "exp without dividing",
            lambda: torch.tensor([0.32, 0.04, -math.inf]).exp(),
            "Those are the exponentials, which sum to 2.42: what part of their sum is each?",
        ),
        Mistake(
            "masked after softmax",
            lambda: torch.softmax(torch.tensor([0.32, 0.04, 0.0]), dim=-1) * torch.tensor([1.0, 1.0, 0.0]),
            "The hidden key took its share before you hid it, so the row sums to 0.71: which comes first?",
        ),
        Mistake(
            "hidden key left out",
            lambda: torch.softmax(torch.tensor([0.32, 0.04]), dim=-1),
            "The two numbers are right. The hidden key keeps its place in the row: which weight does it get?",
        ),
        Mistake(
            "scaled again",
            lambda: torch.softmax(torch.tensor([0.32, 0.04, -math.inf]) / math.sqrt(2), dim=-1),
            "You divided by √2 as well. These scores are scaled already.",
        ),
    ],
    praise="The weights are 1.32 to 1, not nearly equal. A row that sums to 1 can still be wrong.",
    hints=[
        "A tensor may hold −∞: write -math.inf, or float('-inf').",
        "torch.softmax(row, dim=-1) is enough.",
    ],
    solution="""
row = torch.tensor([0.32, 0.04, -math.inf])
right_row = torch.softmax(row, dim=-1)
""",
)


def _derivative(weights):
    return torch.diag(weights) - torch.outer(weights, weights)


AUTOGRAD = ("jacobian", "jacrev", "jacfwd", "vjp", "jvp", "grad", "backward")

derivative = FunctionExercise(
    "6.4",
    "The derivative of one row",
    stars=3,
    minutes=8,
    variable="my_derivative",
    reference=_derivative,
    cases=lambda: [
        case(torch.softmax(SCALED, dim=-1)),
        case(torch.softmax(numbers(5), dim=-1)),
        case(torch.tensor([1.0, 0.0, 0.0, 0.0])),
        case(torch.softmax(4 * numbers(3, name="steep"), dim=-1)),
    ],
    without=[f"torch.{name}" for name in AUTOGRAD],
    mistakes=[
        Mistake(
            "diagonal alone",
            lambda weights: torch.diag(weights * (1 - weights)),
            "The diagonal is right. Raising one score also lowers the weights of the others: which cells"
            " say that?",
        ),
        Mistake(
            "no diagonal",
            lambda weights: -torch.outer(weights, weights),
            "The cells beside the diagonal are right. On the diagonal something is missing: where does a"
            " weight react to its own score?",
        ),
        Mistake(
            "sign",
            lambda weights: torch.outer(weights, weights) - torch.diag(weights),
            "Every sign is turned round: raising a score raises its own weight.",
        ),
        Mistake(
            "plus",
            lambda weights: torch.diag(weights) + torch.outer(weights, weights),
            "Beside the diagonal the sign is wrong: raising one score takes from the others.",
        ),
        Mistake(
            "taken off twice on the diagonal",
            lambda weights: torch.diag(weights * (1 - weights)) - torch.outer(weights, weights),
            "On the diagonal w_i² is taken off twice: once in w_i · (1 − w_i), once in the outer product.",
        ),
        Mistake(
            "1 − w everywhere",
            lambda weights: torch.outer(weights, 1 - weights),
            "The diagonal is right. Beside it your cells are w_i · (1 − w_j), and none is below 0: raising"
            " one score lowers the others.",
        ),
        Mistake(
            "w @ w.T",
            lambda weights: torch.diag(weights) - weights @ weights,
            "With one axis, w @ w.T is a single number. The table needs every product w_i · w_j.",
        ),
        Mistake(
            "w * w.T",
            lambda weights: torch.diag(weights) - weights * weights,
            "With one axis, w * w.T is w², so each row of your table loses the same: where is w_i · w_j?",
        ),
        Mistake(
            "w alone, not on a diagonal",
            lambda weights: weights - torch.outer(weights, weights),
            "w without a diagonal is added to every row: only w_i reacts to its own score.",
        ),
        Mistake(
            "1 on the diagonal",
            lambda weights: torch.eye(len(weights)) - torch.outer(weights, weights),
            "Beside the diagonal all is right. On it you begin with 1: which number belongs there?",
        ),
        Mistake(
            "plus beside a right diagonal",
            lambda weights: 2 * torch.diag(weights * (1 - weights)) - _derivative(weights),
            "The diagonal is right. Beside it the sign is wrong: raising one score takes from the others.",
        ),
        Mistake(
            "the diagonal as a row",
            lambda weights: weights * (1 - weights),
            "Those are the cells of the diagonal alone: each weight also reacts to the other scores.",
        ),
        Mistake(
            "weights on the diagonal",
            torch.diag,
            "Only the first of two parts is there. Raising one score also takes from all others.",
        ),
    ],
    praise="Where one cell holds nearly the whole row, this table is nearly zero: its scores hardly learn.",
    hints=[
        "Cell (i, j) says how weight i changes when score j grows.",
        "Write w for weights. On the diagonal the cell is w_i · (1 − w_i), beside it −w_i · w_j.",
        "torch.diag(w) puts w on a diagonal, torch.outer(w, w) holds every product w_i · w_j.",
    ],
    solution="""
def my_derivative(weights):
    return torch.diag(weights) - torch.outer(weights, weights)  # (n_k) -> (n_k, n_k)
""",
)

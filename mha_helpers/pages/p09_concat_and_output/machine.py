"""The whole machine for "cat eats fish": each number, its name, what it was made from, and its arithmetic."""

import functools
import math
import operator
from collections import namedtuple

import torch

from mha_helpers.golden import golden_example
from mha_helpers.masks import causal_mask, sliding_window_mask
from mha_helpers.style import number

EXAMPLE = golden_example()
N, D_K = len(EXAMPLE.tokens), EXAMPLE.d_k
NEIGHBOURS = "neighbours only"
MASKS = {"none": torch.ones(N, N, dtype=torch.bool), "causal": causal_mask(N)}
MASKS |= {NEIGHBOURS: sliding_window_mask(N, window=1)}
# What is made by a product, and of which two: a row of the first meets a column of the second, of K a row.
PRODUCTS = {"Q": ("x", "W_Q"), "K": ("x", "W_K"), "V": ("x", "W_V")}
PRODUCTS |= {"scores": ("Q", "K"), "head": ("weights", "V"), "output": ("concat", "W_O")}
MADE_OF_ONE = {"scaled": "scores", "masked": "scaled", "concat": "head"}  # each number of a single one
MATRICES = (  # from the output back to x; a click names them by their index
    "output", "W_O", "concat", "head", "weights", "masked", "scaled", "scores",
    "W_Q", "Q", "x", "K", "W_K", "W_V", "V",
)  # fmt: skip
SINGULAR = {"Q": "query", "K": "key", "V": "value", "weights": "weight", "head": "output"}
SINGULAR |= {"scores": "score", "scaled": "scaled score", "masked": "masked score"}
Cell = namedtuple("Cell", "matrix row column")  # one number; row and column are counted from 0


class Machine:
    """Every number from x to the output, seen from one head under one mask.

    ``values`` holds a matrix for each name of ``MATRICES``; concat, W_O and output are those of all heads.

    >>> it = Machine(head=0, mask="none")
    >>> it.name(Cell("weights", 1, 0)), it.arithmetic(Cell("weights", 1, 0))
    ('weight of head 1: eats → cat', 'e^2.828 / (e^2.828 + e^−0.707 + e^0) = 0.919')
    """

    def __init__(self, head, mask):
        self.head, self.mask, self.allowed = head, mask, MASKS[mask]
        trace = EXAMPLE.trace(self.allowed)
        own = slice(D_K * head, D_K * (head + 1))  # the columns of this head
        matrices = {
            "x": trace.x, "W_Q": EXAMPLE.w_q[:, own], "W_K": EXAMPLE.w_k[:, own], "W_V": EXAMPLE.w_v[:, own],
            "Q": trace.q[head], "K": trace.k[head], "V": trace.v[head], "scores": trace.scores[head],
            "scaled": trace.scaled[head], "masked": trace.masked[head], "weights": trace.weights[head],
            "head": trace.heads[head], "concat": trace.concat, "W_O": EXAMPLE.w_o, "output": trace.output,
        }  # fmt: skip
        self.values = {name: matrix.tolist() for name, matrix in matrices.items()}

    def value(self, cell):
        return self.values[cell.matrix][cell.row][cell.column]

    def shown(self, cell):
        """Write a number as the machine shows it: whole ones as they are, others with three decimals."""
        value = self.value(cell)
        is_whole = math.isfinite(value) and abs(value - round(value)) < 1e-6
        return number(value, 3, trim=is_whole)

    def shape(self, matrix):
        return len(self.values[matrix]), len(self.values[matrix][0])

    def sources(self, cell):
        """Return the cells this number was made from, in the order in which its arithmetic has them."""
        matrix, row, column = cell
        if matrix in PRODUCTS:
            left, right = PRODUCTS[matrix]
            inner = range(self.shape(left)[1])
            across = [Cell(left, row, i) for i in inner]
            down = [Cell(right, column, i) if matrix == "scores" else Cell(right, i, column) for i in inner]
            return [*across, *down]
        if matrix == "weights":
            return [Cell("masked", row, key) for key in range(N)]
        is_hidden = matrix == "masked" and not self.allowed[row, column]
        if is_hidden or matrix not in MADE_OF_ONE:
            return []
        return [Cell(MADE_OF_ONE[matrix], row, column % D_K if matrix == "concat" else column)]

    # --- in words ------------------------------------------------------------------------------------

    def row_names(self, matrix):
        if matrix == "W_O":
            return self.column_names("concat")
        return EXAMPLE.features if matrix.startswith("W_") else EXAMPLE.tokens

    def column_names(self, matrix):
        """Return what the columns say: features, keys that are looked at, or the two numbers of a head."""
        if matrix in ("x", "W_O", "output"):
            return EXAMPLE.features
        if matrix in ("scores", "scaled", "masked", "weights"):
            return EXAMPLE.tokens
        if matrix == "concat":
            pairs = enumerate(EXAMPLE.value_names, start=1)
            return [f"head {head}: {name}" for head, names in pairs for name in names]
        names = EXAMPLE.value_names if matrix in ("W_V", "V", "head") else EXAMPLE.key_names
        return names[self.head]

    def name(self, cell):
        """Say which number this is."""
        matrix, row, column = cell
        row, column = self.row_names(matrix)[row], self.column_names(matrix)[column]
        if self.column_names(matrix) is EXAMPLE.tokens:
            where = f"{row} → {column}"
        elif matrix.startswith("W_"):
            where = f"“{row}” to “{column}”"
        else:
            where = f"{row}, “{column}”"
        of_one_head = matrix not in ("x", "concat", "W_O", "output")
        return f"{SINGULAR.get(matrix, matrix)}{f' of head {self.head + 1}' * of_one_head}: {where}"

    def step(self, cell, before=None):
        """Say in short which number this is; what it shares with the number ``before`` it is left out."""
        matrix, row, column = cell
        name = f"head {self.head + 1}" if matrix == "head" else matrix
        names = self.column_names(matrix)
        is_same_pair = before and before[1:] == (row, column) and self.column_names(before.matrix) is names
        if before and (is_same_pair or MADE_OF_ONE.get(before.matrix) == matrix):
            return name
        row = self.row_names(matrix)[row] if not matrix.startswith("W_") else f"row {row + 1}"
        if names is EXAMPLE.tokens:
            return f"{name} {row} → {names[column]}"
        return f"{name} {row}, {names[column] if matrix in ('x', 'output') else column + 1}"

    def arithmetic(self, cell):
        """Write how this number was made, with the numbers shown; "≈" where these do not give it exactly."""
        matrix, _, column = cell
        texts, value = list(map(self.shown, self.sources(cell))), self.shown(cell)
        numbers = [round(self.value(source), 3) for source in self.sources(cell)]
        if matrix in PRODUCTS:
            half = len(numbers) // 2
            factors = [f"({text})" if text.startswith("−") else text for text in texts]
            written = " + ".join(map("{} · {}".format, factors[:half], factors[half:]))
            result = sum(map(operator.mul, numbers[:half], numbers[half:]))
        elif matrix == "scaled":
            written, result = f"{texts[0]} / √{D_K}", numbers[0] / math.sqrt(D_K)
        elif matrix == "weights":
            written = f"e^{texts[column]} / ({' + '.join(map('e^{}'.format, texts))})"
            result = math.exp(numbers[column]) / sum(map(math.exp, numbers))
        else:
            return f"{value}{self._origin(cell)}"
        is_exact = value in (number(result, 3), number(result, 3, trim=False))
        return f"{written} {'=' if is_exact else '≈'} {value}"

    def _origin(self, cell):
        """Go on with where a number comes from that no arithmetic made."""
        matrix, row, column = cell
        if matrix == "concat":
            return f" is copied from head {column // D_K + 1}'s output."
        if matrix == "x":
            return f" is given, in the row of “{EXAMPLE.tokens[row]}”: here the way ends."
        if matrix != "masked":
            return " would be learned in training; in this example it was set by hand."
        query, key = EXAMPLE.tokens[row], EXAMPLE.tokens[column]
        if self.allowed[row, column]:
            return f", as before, because {query} may look at {key}."
        if self.mask == NEIGHBOURS:
            return f", because {key} is {abs(column - row)} words away from {query}."
        return f", because {key} comes after {query}."


machine = functools.cache(Machine)  # there are nine, and each is made once

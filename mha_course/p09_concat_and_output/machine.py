"""The whole machine of three words: each number, its name, what it was made from, and its arithmetic."""

import dataclasses
import functools
import itertools
import math
import operator
from collections import namedtuple

import torch

from mha_helpers import causal_mask, golden_example, sliding_window_mask, split_heads
from mha_helpers.style import number

EXAMPLE = golden_example()
SENTENCES = (" ".join(EXAMPLE.tokens), "fish eats cat")
N, D_K = len(EXAMPLE.tokens), EXAMPLE.d_k
MASKS = {"none": torch.ones(N, N, dtype=torch.bool), "causal": causal_mask(N)}
MASKS |= {"neighbours": sliding_window_mask(N, window=1)}
Cell = namedtuple("Cell", "matrix row column")  # one number; row and column are counted from 0

# What is known of each matrix: the name of a number, given its head, row and column; what rows and columns
# stand for; of which it is made: of two, a row of the first meets a column of the second, of K a row. In the
# picture: where its cells begin on the left, where they and its name begin above, a cell's width, the colour.
Matrix = namedtuple("Matrix", "called rows columns made_of left y width colour", defaults=["positive"])
UPPER, MIDDLE, LOWER = (18, 13), (170, 153), (284, 259)  # pixels, as all of the picture
TABLE = {  # from the output back to x; a click names them by their index
    "output": Matrix("output: {1}, “{2}”", "token", "feature", ("concat", "W_O"), 598, LOWER, 43, "output"),
    "W_O": Matrix("W_O: “{1}” to “{2}”", "every value", "feature", (), 598, UPPER, 43, "output"),
    "concat": Matrix("concat: {1}, “{2}”", "token", "every value", ("head",), 302, LOWER, 43, "head"),
    "head": Matrix("output of head {}: {}, “{}”", "token", "value", ("weights", "V"), 190, LOWER, 43, "head"),
    "weights": Matrix("weight of head {}: {} → {}", "token", "token", ("masked",), 36, LOWER, 40, "head"),
    "masked": Matrix("masked score of head {}: {} → {}", "token", "token", ("scaled",), 727, MIDDLE, 43),
    "scaled": Matrix("scaled score of head {}: {} → {}", "token", "token", ("scores",), 564, MIDDLE, 43),
    "scores": Matrix("score of head {}: {} → {}", "token", "token", ("Q", "K"), 444, MIDDLE, 28),
    "W_Q": Matrix("W_Q of head {}: “{}” to “{}”", "feature", "key", (), 214, UPPER, 28, "query"),
    "Q": Matrix("query of head {}: {}, “{}”", "token", "key", ("x", "W_Q"), 214, MIDDLE, 28, "query"),
    "x": Matrix("x: {1}, “{2}”", "token", "feature", (), 36, MIDDLE, 26, "label"),
    "K": Matrix("key of head {}: {}, “{}”", "token", "key", ("x", "W_K"), 282, MIDDLE, 28, "key"),
    "W_K": Matrix("W_K of head {}: “{}” to “{}”", "feature", "key", (), 282, UPPER, 28, "key"),
    "W_V": Matrix("W_V of head {}: “{}” to “{}”", "feature", "value", (), 350, UPPER, 28, "value"),
    "V": Matrix("value of head {}: {}, “{}”", "token", "value", ("x", "W_V"), 350, MIDDLE, 28, "value"),
}
MATRICES = list(TABLE)
GIVEN = tuple(name for name in MATRICES if not TABLE[name].made_of)  # x and the W: what can be changed


class Machine:
    """Every number from x to the output, seen from one head under one mask.

    ``values`` holds the number of each cell, ``axes`` what rows and columns of each matrix say; concat, W_O
    and output are those of all heads. ``changes`` are pairs of a cell as ``whole`` names it and its number.

    >>> it = Machine("cat eats fish", head=0, mask="none")
    >>> it.name(Cell("weights", 1, 0)), it.arithmetic(Cell("weights", 1, 0))
    ('weight of head 1: eats → cat', 'e^2.828 / (e^2.828 + e^−0.707 + e^0) = 0.919')
    """

    def __init__(self, sentence, head, mask, changes=()):
        self.sentence, self.head, self.mask = sentence, head, mask
        self.allowed, self.changes = MASKS[mask], dict(changes)
        example = golden_example(sentence)
        given = {name.lower(): getattr(example, name.lower()).clone() for name in GIVEN}
        for (name, row, column), number_set in changes:
            given[name.lower()][row, column] = number_set
        trace = dataclasses.replace(example, **given).trace(self.allowed)
        matrices = given | vars(trace) | {"head": trace.heads}  # by their names in small letters
        for name in ("w_q", "w_k", "w_v"):
            matrices[name] = split_heads(matrices[name], example.num_heads)
        self.values = {}
        for name in MATRICES:
            matrix = matrices[name.lower()]
            matrix = matrix[head] if matrix.dim() == 3 else matrix  # (h, …, …) -> (…, …)
            for row, column in itertools.product(*map(range, matrix.shape)):
                self.values[Cell(name, row, column)] = matrix[row, column].item()
        pairs = enumerate(example.value_names, start=1)
        names = {
            "token": example.tokens, "feature": example.features, "key": example.key_names[head],
            "value": example.value_names[head],
            "every value": [f"head {i}: {name}" for i, pair in pairs for name in pair],
        }  # fmt: skip
        self.tokens = example.tokens
        self.axes = {name: (names[matrix.rows], names[matrix.columns]) for name, matrix in TABLE.items()}

    def whole(self, cell):
        """Return where a cell of W_Q, W_K or W_V stands in the matrix of all heads, any other as it is."""
        is_cut = cell.matrix in ("W_Q", "W_K", "W_V")
        return cell._replace(column=cell.column + is_cut * D_K * self.head)

    @functools.cached_property
    def unchanged(self):
        return machine(self.sentence, self.head, self.mask)

    @functools.cached_property
    def moved(self):
        """The cells that show another number than without the changes."""
        return {cell for cell in self.values if self.shown(cell) != self.unchanged.shown(cell)}

    def shown(self, cell):
        """Write a number as the machine shows it: whole ones as they are, others with three decimals."""
        value = self.values[cell]
        is_whole = math.isfinite(value) and abs(value - round(value)) < 1e-6
        return number(value, 3, trim=is_whole)

    def head_of(self, cell):
        return cell.column // D_K if cell.matrix == "concat" else self.head

    def sources(self, cell):
        """Return the cells this number was made from, in the order in which its arithmetic has them."""
        matrix, row, column = cell
        made_of = TABLE[matrix].made_of
        if not made_of or (matrix == "masked" and not self.allowed[row, column]):
            return []
        across = [each for each in self.values if (each.matrix, each.row) == (made_of[0], row)]
        if len(made_of) == 1:  # softmax takes the whole row, all others a single number
            return across if matrix == "weights" else [across[column % len(across)]]
        axis = "row" if matrix == "scores" else "column"
        down = [each for each in self.values if (each.matrix, getattr(each, axis)) == (made_of[1], column)]
        return across + down

    # --- in words ------------------------------------------------------------------------------------

    def title(self, matrix):
        return f"head {self.head + 1}" if matrix == "head" else matrix

    def name(self, cell):
        """Say which number this is."""
        rows, columns = self.axes[cell.matrix]
        return TABLE[cell.matrix].called.format(self.head + 1, rows[cell.row], columns[cell.column])

    def short_name(self, cell, before=None):
        """Say in short which number this is; what it shares with the number ``before`` it is left out."""
        matrix, row, column = cell
        rows, columns = self.axes[matrix]
        is_same_pair = before and before[1:] == (row, column) and self.axes[before.matrix][1] is columns
        if is_same_pair or (before and before.matrix == "concat"):
            return self.title(matrix)
        row = f"row {row + 1}" if matrix.startswith("W_") else rows[row]
        if TABLE[matrix].columns == "token":
            return f"{self.title(matrix)} {row} → {columns[column]}"
        return f"{self.title(matrix)} {row}, {columns[column] if matrix in ('x', 'output') else column + 1}"

    def arithmetic(self, cell):
        """Write how this number was made, with the numbers shown; "≈" where these do not give it exactly."""
        matrix, _, column = cell
        texts, value = list(map(self.shown, self.sources(cell))), self.shown(cell)
        numbers = [round(self.values[source], 3) for source in self.sources(cell)]
        if len(TABLE[matrix].made_of) == 2:
            half = len(numbers) // 2
            factors = [f"({text})" if text.startswith("−") else text for text in texts]
            written = " + ".join(map("{} · {}".format, factors[:half], factors[half:]))
            result = sum(map(operator.mul, numbers[:half], numbers[half:]))
        elif matrix == "scaled":
            written, result = f"{texts[0]} / √{D_K}", numbers[0] / math.sqrt(D_K)
        elif matrix == "weights":
            written = f"e^{texts[column]} / ({' + '.join(map('e^{}'.format, texts))})"
            result = torch.tensor(numbers).double().softmax(dim=0)[column]
        else:
            return f"{value}{self._origin(cell)}"
        is_exact = number(result, 3) == number(self.values[cell], 3)
        return f"{written} {'=' if is_exact else '≈'} {value}"

    def _origin(self, cell):
        """Go on with where a number comes from that no arithmetic made."""
        matrix, row, column = cell
        if matrix == "concat":
            return f" is copied from head {self.head_of(cell) + 1}'s output."
        if self.whole(cell) in self.changes:
            return f" was set by you, in place of {self.unchanged.shown(cell)}."
        if matrix == "x":
            return f" is given, in the row of “{self.tokens[row]}”: no arithmetic made it."
        if matrix != "masked":
            return " would be learned in training; in this example it was set by hand."
        query, key = self.tokens[row], self.tokens[column]
        if self.allowed[row, column]:
            return f", as before, because {query} may look at {key}."
        why = "comes after" if self.mask == "causal" else f"is {abs(column - row)} words away from"
        return f", because {key} {why} {query}."


machine = functools.lru_cache(maxsize=400)(Machine)  # eighteen without changes; each is made once

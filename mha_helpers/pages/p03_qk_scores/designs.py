"""What the matrices of exercise 3.3 do: which word finds which, and where the design goes wrong."""

import torch
from torch.nn import functional as F

from mha_helpers.exercises import FunctionExercise, numbers
from mha_helpers.exercises.compare import as_numbers, kind_of
from mha_helpers.exercises.running import AnswerError, run


class Design(FunctionExercise):
    """The answer makes two matrices. Which key wins is compared, so every design that works is right."""

    def _run(self, answer, case):
        return run(lambda x: _winners(x, answer()), case.args)

    def _difference(self, outcome, right):
        sentence = super()._difference(outcome, right)
        if not sentence or not torch.is_tensor(outcome.value):
            return sentence
        wrong = outcome.value != right.value
        word, best = int(wrong.int().argmax()), int(outcome.value[wrong][0])
        what = "has no single highest score" if best == -1 else "has no score but 0"
        what = f"has its highest score with word {best + 1}" if best >= 0 else what
        return f"word {word + 1} of the sentence {what}, and it should find word {word + 2}."

    def _words(self, answer, cases, outcomes, first, difference):
        words = super()._words(answer, cases, outcomes, first, difference)
        if outcomes[first].error or "highest" not in words:
            return words
        read = [name for name, matrix in zip(("w_q", "w_k"), _two(answer()), strict=True) if matrix[:5].any()]
        rows = f"Rows 0 to 4 of your {' and '.join(read)} are not 0, so the numbers of the words count"
        return f"{rows}: which rows meet the places?" if read else words


def _two(matrices):
    """Return w_q and w_k, or say which of them is no matrix of numbers of shape (11, 6)."""
    if torch.is_tensor(matrices) or not isinstance(matrices, tuple | list) or len(matrices) != 2:
        raise AnswerError("your function should return two matrices, w_q and w_k, each of shape (11, 6).")
    parts = list(map(as_numbers, matrices))
    for name, matrix, part in zip(("w_q", "w_k"), matrices, parts, strict=True):
        if matrix is ...:
            raise AnswerError(f"your {name} is still `...`: put a matrix in its place.")
        if part is None or part.shape != (11, 6):
            shape = f" of shape {tuple(part.shape)}" if part is not None and isinstance(matrix, list) else ""
            raise AnswerError(f"your {name} is {kind_of(matrix)}{shape}; a matrix (11, 6) is needed.")
        if isinstance(matrix, torch.Tensor) and not matrix.is_floating_point():
            raise AnswerError(f"your {name} holds {matrix.dtype}: x @ {name} needs floating-point numbers.")
        if not part.isfinite().all():
            raise AnswerError(f"your {name} has NaN or ∞ in it: was something divided by 0?")
    return parts


def _winners(x, matrices):
    """Return the key that scores highest for each word but the last, −1 if two tie, −2 if all are 0."""
    if matrices is None:
        return None
    w_q, w_k = _two(matrices)
    scores = (x.double() @ w_q) @ (x.double() @ w_k).T
    best, winners = scores.topk(2)
    margin = 1e-4 * scores.abs().amax()
    winners = winners[:, 0].masked_fill(best[:, 0] - best[:, 1] <= margin, -1)
    return winners.masked_fill(~scores.any(dim=-1), -2)[:-1]


def sentence_of(n, seed, spread=1.0):
    """Return x (n, 11): five random numbers for the word, then a 1 in the column of its place."""
    return torch.cat([spread * numbers(n, 5, seed=seed), torch.eye(6)[:n]], dim=-1)


def ahead(places, key=1.0):
    """Return a function whose queries equal the key of the place that is so many places ahead."""
    return of_places(torch.ones(6 - abs(places)).diag(places), key * torch.eye(6))


def of_places(w_q, w_k):
    """Return a function whose matrices have these rows for the places, and 0 for the words."""
    return lambda: (F.pad(w_q, (0, 0, 5, 0)), F.pad(w_k, (0, 0, 5, 0)))

"""What the matrices of exercise 3.3 do: which word finds which, and where the design goes wrong."""

import torch

from mha_helpers.exercises import FunctionExercise, numbers
from mha_helpers.exercises.compare import as_numbers, kind_of
from mha_helpers.exercises.running import AnswerError, run


class Design(FunctionExercise):
    """The answer makes two matrices. Which key wins is compared, so every design that works is right."""

    def _run(self, answer, case):
        return run(lambda x: _winners(x, *_two(answer())), case.args)

    def _difference(self, outcome, right):
        sentence = super()._difference(outcome, right)
        if not sentence or outcome.error:
            return sentence
        word = int((outcome.value != right.value).int().argmax())
        best = int(outcome.value[word])
        what = {-1: "no single highest score", -2: "no score but 0"}
        found = what.get(best, f"its highest score with word {best + 1}")
        return f"word {word + 1} of the sentence has {found}, and it should find word {word + 2}."

    def _words(self, answer, cases, outcomes, first, difference):
        words = super()._words(answer, cases, outcomes, first, difference)
        if outcomes[first].error or "highest" not in words:
            return words
        read = [name for name, matrix in zip(("w_q", "w_k"), _two(answer()), strict=True) if matrix[:5].any()]
        rows = f"Rows 0 to 4 of your {' and '.join(read)} are not 0, so the numbers of the words count"
        return f"{rows}: which rows meet the places?" if read else words


def _two(matrices):
    """Return w_q and w_k, or say which of them is no matrix of numbers of shape (11, 6)."""
    if not isinstance(matrices, tuple | list) or len(matrices) != 2:
        raise AnswerError(f"your function returns {kind_of(matrices)}; two matrices are needed, w_q and w_k.")
    parts = list(map(as_numbers, matrices))
    for name, matrix, part in zip(("w_q", "w_k"), matrices, parts, strict=True):
        if part is None or part.shape != (11, 6):
            raise AnswerError(f"your {name} is {kind_of(matrix)}; a matrix (11, 6) is needed.")
        if torch.is_tensor(matrix) and not matrix.is_floating_point():
            raise AnswerError(f"your {name} holds {matrix.dtype}: x @ {name} needs floating-point numbers.")
    return parts


def _winners(x, w_q, w_k):
    """Return the key that scores highest for each word but the last, −1 if none does, −2 if all are 0."""
    scores = (x.double() @ w_q) @ (x.double() @ w_k).T
    best, winners = scores.topk(2)
    clear = best[:, 0] - best[:, 1] > 1e-4 * scores.abs().amax()
    return winners[:, 0].where(clear, -1).where(scores.any(dim=-1), -2)[:-1]


def sentence_of(n, seed, spread=1.0):
    """Return x (n, 11): five random numbers for the word, then a 1 in the column of its place."""
    return torch.cat([spread * numbers(n, 5, seed=seed), torch.eye(6)[:n]], dim=-1)

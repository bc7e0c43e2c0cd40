"""What the matrices of exercise 3.3 do: which word finds which, and where the design goes wrong."""

import torch

from mha_course.exercises import FunctionExercise
from mha_course.exercises.compare import kind_of
from mha_course.exercises.running import AnswerError, run


class Design(FunctionExercise):
    """The answer makes two matrices. Which key wins is compared, so every design that works is right."""

    def _run(self, answer, case):
        return run(lambda words: _winners(words, answer()), case.args)

    def _difference(self, outcome, right):
        sentence = super()._difference(outcome, right)
        if not sentence or outcome.error:
            return sentence
        word = int((outcome.value != right.value).int().argmax())
        best = int(outcome.value[word])
        what = {-1: "no single highest score", -2: "no score but 0"}
        best_key = what.get(best, f"its highest score with word {best + 1}")
        return f"word {word + 1} of the sentence has {best_key}, and it should find word {word + 2}."

    def _words(self, answer, cases, outcomes, first, difference):
        words = super()._words(answer, cases, outcomes, first, difference)
        if outcomes[first].error or "highest" not in words:
            return words
        read = [name for name, matrix in zip(("w_q", "w_k"), answer(), strict=True) if matrix[:5].any()]
        rows = f"Rows 0 to 4 of your {' and '.join(read)} are not 0, so the numbers of the words count"
        return f"{rows}: which rows hold the positions?" if read else words


def _winners(words, matrices):
    """Return the key that scores highest for each word but the last, −1 if none does, −2 if all are 0."""
    if not isinstance(matrices, tuple | list) or len(matrices) != 2:
        raise AnswerError(f"your function returns {kind_of(matrices)}; two matrices are needed, w_q and w_k.")
    for name, matrix in zip(("w_q", "w_k"), matrices, strict=True):
        if not torch.is_tensor(matrix) or matrix.shape != (11, 6) or not matrix.is_floating_point():
            raise AnswerError(f"your {name} is {kind_of(matrix)}; a float tensor (11, 6) is needed.")
    x = torch.cat(
        [words, torch.eye(6)[: len(words)]], dim=-1
    )  # a 1 in the column of the position of each word
    queries, keys = (x @ matrix.float() for matrix in matrices)
    scores = queries @ keys.T
    best, winners = scores.topk(2)
    clear = best[:, 0] - best[:, 1] > 1e-4 * scores.abs().amax()
    return winners[:, 0].where(clear, -1).where(scores.any(dim=-1), -2)[:-1]

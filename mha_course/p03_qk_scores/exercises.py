"""The exercises of page 03: a new key, the products inside a score, a head that finds the next word."""

import torch

from mha_course.exercises import AnswerError, FunctionExercise, ValueExercise, called, case, changes, numbers
from mha_course.exercises.running import same_outcome

_QUERIES, _KEYS = ("(2, 0)", "(2, −1)", "(1, 0)"), ("(2, 0)", "(0, 1)", "(1, 2)")
_COLUMN = {"new column": [2, 5, 1]}  # if it is not right yet, what is found cannot be


def _needs(scores, wanted):
    index = int((scores - wanted).abs().gt(1e-3).int().argmax())
    pair = f"{_QUERIES[index]} with (1, −3)" if wanted[1] == 5 else f"{_KEYS[index]} with (1, 1)"
    return f"has a wrong score of {pair}: what are their two products, and what is the sum?"


new_key = ValueExercise(
    "3.1 ★ · 4 min · A fourth word answers",
    describe=lambda got, right: None if isinstance(right, set) else _needs(got, right),
    task="""
    “dog”, with the query (1, 1) and the key (1, −3), joins the words of head 1, whose queries are (2, 0),
    (2, −1), (1, 0) and keys (2, 0), (0, 1), (1, 2). What numbers are in its row and its column? Leave out
    its score with itself. For which of the original words is “dog” now the best answer?
    """,
    stub="""
dog = {
    "new column": ...,  # three numbers, as a list
    "new row": ...,  # three numbers, as a list
    "finds it": ...,  # a set of words, such as {"cat", "fish"}
}
""",
    mistakes=[
        ({"new column": [2, 1, 3], "new row": [2, 5, 1]}, "Row and column are exchanged: whose row is it?"),
        ({"new column": [2, 5, 1, -2]}, "“new column” has the score of “dog” with itself: leave it out."),
        ({"new column": [2, -3, -5]}, "“new column” holds key times key: who asks in a column?"),
        ({"new column": [1.41, 3.54, 0.71]}, "“new column” is divided by √d_k already: page 04 does so."),
        ({"new column": [[2, 0], [2, 3], [1, 0]]}, "“new column” holds products: what do they add up to?"),
        ({"new row": [2, 1, 1]}, "“new row” holds query times query: what do the other words answer with?"),
        ({**_COLUMN, "finds it": {"fish"}}, "“finds it”: “dog” finds “fish”, by its row. Who finds “dog”?"),
        ({**_COLUMN, "finds it": "cat"}, "“finds it”: how does “cat” score with itself, and with “dog”?"),
        ({**_COLUMN, "finds it": "fish"}, "“finds it”: how does “fish” score with “cat”, and with “dog”?"),
        ({**_COLUMN, "finds it": "eats"}, "“finds it”: one is missing. Compare each new score with the old."),
    ],
    praise="A new word asks in a row and answers in a column; no old score changes.",
    hints=[
        "In its column “dog” is asked: multiply each query by its key (1, −3), and add the two products.",
        "In its row “dog” asks: multiply its query (1, 1) by the key of each word.",
        "The old rows are (4, 0, 2), (4, −1, 0) and (2, 0, 1): in which is the new score the largest?",
    ],
    solution="""
queries = torch.tensor([[2, 0], [2, -1], [1, 0]])
keys = torch.tensor([[2, 0], [0, 1], [1, 2]])
dog_query, dog_key = torch.tensor([1, 1]), torch.tensor([1, -3])
dog = {
    "new column": queries @ dog_key,  # (3, d_k) @ (d_k) -> (3)
    "new row": keys @ dog_query,
    "finds it": {"eats"},  # its largest score was 4, with “cat”
}
""",
)

products = FunctionExercise(
    "3.2 ★★ · 8 min · The products inside every score",
    axes=("head", "query", "key", "feature"),
    cases=lambda: [
        case(numbers(3, 2), numbers(4, 2, seed=1), label="with 3 queries, 4 keys and d_k = 2"),
        case(numbers(5, 3, seed=2), numbers(2, 3, seed=3), label="with 5 queries, 2 keys and d_k = 3"),
        case(numbers(2, 6, 4, seed=4), numbers(2, 5, 4, seed=5), label="with two heads"),
        case(numbers(1, 3, 6, 5, seed=6), numbers(1, 3, 4, 5, seed=7), label="with two axes in front"),
        case(numbers(1, 1), numbers(1, 1, seed=1), label="with one query, one key and d_k = 1"),
    ],
    task="""
    The bars of the explorer show the products of one query with one key. Compute those of all pairs at
    once: for n_q queries q (…, n_q, d_k) and n_k keys k (…, n_k, d_k) return a tensor (…, n_q, n_k, d_k).
    Added up over its last axis, it gives the scores.
    """,
    mistakes=changes("""
        my_products(q, k) => my_products(k, q)
        Your rows are the keys: which of the two asks, and so comes first?
        asks * answers => q @ k.transpose(-2, -1)
        These are the scores, already added up: the products are what @ has before it adds.
        [..., :, None, :] => [:, None, :]
        [..., None, :, :] => [None, :, :]
        With an axis in front the new axes go to the wrong place: count them from the end.
        asks * answers => torch.stack([torch.stack([a * b for b in k]) for a in q])
        You loop over the first axis: with heads in front, which axis holds the queries?
        asks * answers => torch.stack([a * k for a in q])
        You loop over the first axis: with heads in front, which axis holds the queries?
        asks * answers => q * k
        You pair each query with one key: what makes every query meet every key?
        asks * answers => asks + answers
        Every pair is there, but its numbers are added: what does a score do with two numbers first?
    """),
    praise="A score is a sum over features, and before the sum you can see which feature decided.",
    hints=[
        "Every query meets every key, so q needs an axis for the keys and k an axis for the queries.",
        "q[..., :, None, :] is (…, n_q, 1, d_k). Which shape does k need, so that `*` pairs them all?",
        "k[..., None, :, :] has the shape (…, 1, n_k, d_k), and `*` stretches the axes of size 1.",
    ],
    solution="""
def my_products(q, k):
    # q (…, n_q, d_k), k (…, n_k, d_k) -> (…, n_q, n_k, d_k)
    asks = q[..., :, None, :]  # (…, n_q, 1, d_k)
    answers = k[..., None, :, :]  # (…, 1, n_k, d_k)
    return asks * answers  # (…, n_q, n_k, d_k)
""",
)


class Design(FunctionExercise):
    """The answer makes two matrices. Which key wins is compared, so every design that works is right."""

    def _run(self, answer, case):
        return super()._run(lambda words: _winners(words, answer()), case)

    def _difference(self, outcome, right):
        sentence = super()._difference(outcome, right)
        if not sentence or outcome.error:
            return sentence
        word = int((outcome.value != right.value).int().argmax())
        best = int(outcome.value[word])
        what = {-1: "no single highest score", -2: "no score but 0"}
        best_key = what.get(best, f"its highest score with word {best + 1}")
        n, found = len(outcome.value), outcome.value >= 0  # of the words but the last
        steps = (outcome.value - torch.arange(n))[found] % (n + 1)  # past the end counting begins again
        if found.sum() >= n - 1 and len(steps.unique()) == 1 != steps[0]:
            names = {0: "itself", n: "the word before it"}
            name = names.get(int(steps[0]), f"the one {steps[0]} places after it")
            return f"each word finds {name}: which position should a query hold, and which a key?"
        if best >= 0 and (outcome.value == best).all():
            return f"all words find word {best + 1}: what makes its score so high, whoever asks?"
        return f"word {word + 1} of the sentence has {best_key}, and it should find word {word + 2}."

    def _words(self, answer, cases, outcomes, first, difference):
        words = super()._words(answer, cases, outcomes, first, difference)
        if outcomes[first].error or "find" not in words:
            return words
        w_q, w_k = answer()
        turned, right = (self._run(each, cases[first]) for each in (lambda: (-w_q, w_k), self.reference))
        if same_outcome(turned, right):
            return "Each next word scores lowest: what is a query times a key that points the other way?"
        read = [name for name, matrix in (("w_q", w_q), ("w_k", w_k)) if matrix[:5].any()]
        rows = f"Not all of rows 0 to 4 of your {' and '.join(read)} are 0, so the numbers of the words count"
        without = [matrix.index_fill(0, torch.arange(5), 0) for matrix in (w_q, w_k)]
        found = (self._run(each, cases[first]).value.clamp(min=-1) for each in (answer, lambda: without))
        if read and not torch.equal(*found):
            return f"{rows}: which rows hold the positions?"
        second = [matrix[6] for matrix in (w_q, w_k)]
        if "each word finds" in words and all(row.count_nonzero() == 1 and row.max() > 0 for row in second):
            of_q, of_k = (f"gives word 2 position {row.argmax() + 1}" for row in second)
            words += f" Your w_q, the first matrix, {of_q}; your w_k, the second, {of_k}."
        return words


def _winners(words, matrices):
    """Return the key that scores highest for each word but the last, −1 if none does, −2 if all are 0."""
    matrices = [*matrices] if getattr(matrices, "shape", None) == (2, 11, 6) else matrices  # stacked
    if not isinstance(matrices, tuple | list) or len(matrices) != 2:
        raise AnswerError(f"your function returns {called(matrices)}; two matrices are needed, w_q and w_k.")
    for name, matrix in zip(("w_q", "w_k"), matrices, strict=True):
        if not torch.is_tensor(matrix) or matrix.shape != (11, 6):
            raise AnswerError(f"your {name} is {called(matrix)}; a float tensor (11, 6) is needed.")
        if matrix.isnan().any():
            raise AnswerError(f"your {name} has NaN in its row {int(matrix.isnan().nonzero()[0, 0])}.")
        if not matrix.is_floating_point():
            raise AnswerError(f"your {name} holds {matrix.dtype}; it has to hold floats, as x does.")
    positions = torch.eye(6)[: len(words)]  # a 1 in the column of the position of each word
    x = torch.cat([words, positions], dim=-1)
    queries, keys = (x @ matrix.float() for matrix in matrices)
    scores = queries @ keys.T
    best, winners = scores.topk(2)
    clear = best[:, 0] - best[:, 1] > 1e-4 * scores.abs().amax()
    return winners[:, 0].where(clear, -1).where(scores.any(dim=-1), -2)[:-1]


next_word = Design(
    "3.3 ★★★ · 18 min · Design a head that finds the next word",
    cases=lambda: [
        case(numbers(6, 5), label="with six words"),
        case(30 * numbers(5, 5, seed=2), label="with five words of large numbers"),
    ],
    task="""
    Every row of x has 11 features: five random numbers for the word, then six for its position, a 1 in the
    column of that position and 0 elsewhere. Return a `w_q` and a `w_k`, each (11, 6), so that every word
    scores highest with the word after it, whatever the words are. The check computes
    `(x @ w_q) @ (x @ w_k).T` for its own sentences, ignoring their last words.
    """,
    praise="“Look one word ahead” means a query that fits best the key of the next position.",
    hints=[
        "Rows 0 to 4 of both matrices stay 0, so that the words do not count. Which rows hold the positions?",
        "Let the key of a position be a 1 in its own column: w_k[5 + position, position] = 1.",
        "Of keys equally long a query fits its like best: which column must hold the 1 of w_q[5 + position]?",
    ],
    solution="""
def my_matrices():
    # two tensors of shape (11, 6): w_q and w_k
    w_q = torch.zeros(11, 6)
    w_k = torch.zeros(11, 6)
    for position in range(6):
        w_k[5 + position, position] = 1  # I stand here
        if position < 5:
            w_q[5 + position, position + 1] = 1  # I look for the position after mine
    return w_q, w_k
""",
)

"""The exercises of page 03: a new key, the products inside a score, a head that finds the next word."""

import torch

from mha_helpers.exercises import FunctionExercise, ValueExercise, case, numbers
from mha_helpers.exercises.running import run

new_key = ValueExercise(
    "3.1",
    "A fourth word answers",
    stars=1,
    minutes=3,
    right={"scores": [2, 5, 1], "finds it": {"eats"}},
    task="""
    The word “dog” joins “cat eats fish”, and its key in head 1 is (1, −3). The queries of “cat”, “eats” and
    “fish” are (2, 0), (2, −1) and (1, 0). Which scores do these three words give to “dog”? And for which of
    them is “dog” now the best answer?
    """,
    stub="""
dog = {
    "scores": ...,  # three numbers, as a list
    "finds it": ...,  # a set of words, such as {"cat", "fish"}
}
""",
    mistakes=[
        ({"scores": [2, -1, 1]}, "“scores”: at “eats” a sign is lost. What is −1 times −3?"),
        ({"scores": [2, 2, 1]}, "“scores”: you stop after the first feature. Which query has a second one?"),
        ({"scores": [2, -3, -5]}, "“scores”: you compare with the keys of the three words; who asks here?"),
        ({"scores": [-1, 0, -2]}, "“scores” adds the numbers up: what comes first, a sum or products?"),
        ({"scores": [2, 3, 1]}, "“scores” has only the second product of “eats”: what about 2 times 1?"),
        ({"finds it": {"cat", "eats", "fish"}}, "“finds it”: compare each new score with the old row."),
        ({"finds it": {"cat", "eats"}}, "“finds it”: what did “cat” score with itself before?"),
        ({"finds it": {"cat"}}, "“finds it”: what did “cat” score with itself before, and what with “dog”?"),
        ({"finds it": {"fish", "eats"}}, "“finds it”: what did “fish” score with “cat” before?"),
        ({"finds it": set()}, "“finds it”: one does. Compare each new score with the row of old ones."),
    ],
    praise="A new key is one more column and changes no old score; two negative numbers agree, too.",
    hints=[
        "Multiply each query with (1, −3), feature by feature, and add the two products.",
        "For “eats” this is 2 · 1 + (−1) · (−3).",
        "The old rows are (4, 0, 2), (4, −1, 0) and (2, 0, 1): in which is the new score the largest?",
    ],
    solution="""
queries = torch.tensor([[2, 0], [2, -1], [1, 0]])
dog_key = torch.tensor([1, -3])
dog = {
    "scores": (queries @ dog_key).tolist(),  # (3, d_k) @ (d_k) -> (3)
    "finds it": {"eats"},  # its largest score was 4, with “cat”
}
""",
)


def _products(q, k):
    return q[..., :, None, :] * k[..., None, :, :]


products = FunctionExercise(
    "3.2",
    "The products inside every score",
    stars=2,
    minutes=6,
    reference=_products,
    cases=lambda: [
        case(numbers(3, 2), numbers(4, 2, seed=1), label="with 3 queries, 4 keys and d_k = 2"),
        case(numbers(5, 3, seed=2), numbers(2, 3, seed=3), label="with 5 queries, 2 keys and d_k = 3"),
        case(numbers(2, 6, 4, seed=4), numbers(2, 5, 4, seed=5), label="with two heads"),
    ],
    task="""
    The bars of the explorer show the products of one query with one key. Compute those of all pairs at
    once: for n_q queries q (…, n_q, d_k) and n_k keys k (…, n_k, d_k) return a tensor (…, n_q, n_k, d_k).
    Added up over its last axis, it gives the scores.
    """,
    stub="""
def my_products(q, k):
    # q (…, n_q, d_k), k (…, n_k, d_k) -> (…, n_q, n_k, d_k)
    ...
""",
    mistakes=[
        (
            lambda q, k: k[..., :, None, :] * q[..., None, :, :],
            "Your rows are the keys: which of the two asks, and so comes first?",
        ),
        (
            lambda q, k: q @ k.transpose(-2, -1),
            "These are the scores, already added up: the products are what @ has before it adds.",
        ),
        (
            lambda q, k: q[:, None, :] * k[None, :, :],
            "With an axis in front the new axes go to the wrong place: count them from the end.",
        ),
        (
            lambda q, k: q[..., None] * k.transpose(-2, -1)[..., None, :, :],
            "The features are on the last axis but one: which axis is to be added up at the end?",
        ),
        (
            lambda q, k: (q @ k.transpose(-2, -1))[..., None].expand(*q.shape[:-1], *k.shape[-2:]),
            "You repeat each score d_k times: the entries must differ, and only their sum is the score.",
        ),
        (
            lambda q, k: _products(q, k) / q.shape[-1] ** 0.5,
            "You divide by √d_k, which is the step of page 04.",
        ),
    ],
    praise="A score is a sum over features, and before the sum you can see which feature decided.",
    hints=[
        "Every query meets every key, so q needs an axis for the keys and k an axis for the queries.",
        "q[..., :, None, :] is (…, n_q, 1, d_k). Which shape does k need, so that `*` pairs them all?",
        "k[..., None, :, :] has the shape (…, 1, n_k, d_k), and `*` stretches the axes of size 1.",
    ],
    solution="""
def my_products(q, k):
    asks = q[..., :, None, :]  # (…, n_q, 1, d_k)
    answers = k[..., None, :, :]  # (…, 1, n_k, d_k)
    return asks * answers  # (…, n_q, n_k, d_k)
""",
)


class _Design(FunctionExercise):
    """The answer makes two matrices. The keys that win are compared, so every design that works is right."""

    def _run(self, answer, case):
        return run(lambda x: _winners(x, answer()), case.args)

    def _difference(self, outcome, right):
        sentence = super()._difference(outcome, right)
        if sentence and torch.is_tensor(outcome.value) and outcome.value.shape == right.value.shape:
            word = int((outcome.value != right.value).int().argmax())
            return f"word {word + 1} of the sentence scores highest with word {int(outcome.value[word]) + 1}."
        return sentence


def _winners(x, matrices):
    if matrices is None:
        return None
    w_q, w_k = matrices
    return ((x @ w_q) @ (x @ w_k).T).argmax(dim=-1)[:-1]


def _sentence(n, seed):
    """Return x (n, 11): five random numbers for the word, then a 1 in the column of its place."""
    return torch.cat([numbers(n, 5, seed=seed), torch.eye(6)[:n]], dim=-1)


def _design(ahead, first_row=5, key=1.0):
    """Return a function whose queries equal the key of the place that is so many places ahead."""
    w_q, w_k = torch.zeros(11, 6), torch.zeros(11, 6)
    for place in range(6):
        w_k[first_row + place, place] = key
        if 0 <= place + ahead < 6:
            w_q[first_row + place, place + ahead] = 1
    return lambda: (w_q, w_k)


next_word = _Design(
    "3.3",
    "Design a head that finds the next word",
    stars=3,
    minutes=10,
    reference=_design(ahead=1),
    cases=lambda: [
        case(_sentence(6, seed=0), label="with six words"),
        case(_sentence(4, seed=1), label="with four words"),
        case(_sentence(5, seed=2), label="with five words"),
    ],
    task="""
    Every row of x has 11 features: five random numbers for the word, then six for its place, with a 1 in the
    column of that place and 0 elsewhere. Return a `w_q` and a `w_k`, each (11, 6), so that every word scores
    highest with the word after it, whatever the words are. The check computes `(x @ w_q) @ (x @ w_k).T` for
    sentences of its own and leaves out the last word, which has nobody to find.
    """,
    stub="""
def my_matrices():
    # two tensors of shape (11, 6): w_q and w_k
    ...
""",
    mistakes=[
        (_design(ahead=0), "Each word finds itself: whose key must its query be equal to?"),
        (
            _design(ahead=-1),
            "Each word finds the word before it: which way must a query be ahead of its key?",
        ),
        (
            _design(ahead=2),
            "Each word looks two places ahead: how far is a query from the key of its own place?",
        ),
        (
            _design(1, key=0),
            "All scores are 0, so the first key wins everywhere: which matrix is still empty?",
        ),
        (_design(1, first_row=0), "Rows 0 to 4 meet the numbers of the word: which rows meet its place?"),
        (_design(1, first_row=4), "The rows of the place begin one later: how many rows belong to the word?"),
    ],
    praise="“Look one word ahead” means a query that equals the key of the next place.",
    hints=[
        "Rows 0 to 4 of both matrices stay 0, so that the words do not count. Which rows meet the places?",
        "Let the key of a place be a 1 in the column of that place: w_k[5 + place, place] = 1.",
        "A query fits best where it equals the key: which column must hold the 1 of w_q[5 + place]?",
    ],
    solution="""
def my_matrices():
    w_q = torch.zeros(11, 6)
    w_k = torch.zeros(11, 6)
    for place in range(6):
        w_k[5 + place, place] = 1  # I am in this place
        if place < 5:
            w_q[5 + place, place + 1] = 1  # I look for the place after mine
    return w_q, w_k
""",
)

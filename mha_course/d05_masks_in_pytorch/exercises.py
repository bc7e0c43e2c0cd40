"""The exercise of the deeper page on PyTorch's masks: padding in front and causal, (b, 1, n, n)."""

import torch

from mha_course.exercises import FunctionExercise, case, changes

_TWO_SENTENCES = changes("""
    first_word[:, None] => first_word
    You compare n positions with b lengths: which needs a new axis, so that all pairs meet?
    & causal_mask(n) => & causal_mask(n) | torch.eye(n).bool()
    Your padding sees itself: what does the task say of it?
    >= first_word[:, None] => < lengths[:, None]
    real[:, None, None, :] & => real[:, None, None, :] & real[:, None, :, None] &
    You hide what comes after the words: here the padding comes before them.
    & causal_mask(n) => & real[:, None, :, None]
    Padding is hidden, but later words are not.
    causal_mask(n) => causal_mask(n).tril(-1)
    No word sees itself: is it later than itself?
    real[:, None, None, :] => real[:1, None, None, :].expand(len(lengths), 1, 1, n)
    All sentences get the padding of the first: which axis of your mask holds them?
""")
_NO_WORD = changes("""
    n - lengths => (n - lengths) % n
    The padding of the empty sentence is visible: does its first word stand at 0, or nowhere?
""")

padding_in_front = FunctionExercise(
    "D5.1 ★★ · 9 min · Padding at the front, and causal",
    axes=("sentence", "head", "query", "key"),
    cases=lambda: [
        case(torch.tensor([2, 5]), 5, label="with lengths 2 and 5, padded to 5", mistakes=_TWO_SENTENCES),
        case(torch.tensor([1, 4, 6]), 7, label="with lengths 1, 4 and 6, padded to 7"),
        case(torch.tensor([2]), 4, label="with one sentence"),
        case(torch.tensor([1]), 1, label="with one word"),
        case(torch.tensor([3, 0, 1, 2]), 3, label="with a sentence without any word", mistakes=_NO_WORD),
    ],
    task="""
    A model that continues a text needs the last word of every sentence at the end, so sentences are
    padded at the front. Make their causal mask for `F.scaled_dot_product_attention` from the numbers of
    real words: `lengths` (b) and n → bool tensor (b, 1, n, n). Padding sees nobody.
    """,
    mistakes=changes("""
        >= first_word[:, None] => < lengths[:, None]
        You hide what comes after the words: here the padding comes before them.
        >= first_word => < first_word
        Your True marks the padding: what does True mean to F.scaled_dot_product_attention?
        n - lengths => lengths
        You take lengths for the padding: it counts the words, so where is the first word?
        n - lengths => n - lengths - 1 => n - lengths + 1
        You are one position off: where is the first word?
        real[:, None, None, :] => real[:, None, :]
        Your mask is (b, n, n), and would be taken for (h, n, n) where b = h: give it all four axes.
        & causal_mask(n) => [:]
        Your mask has one row for all queries: which words may each of them see?
        & causal_mask(n) => .expand(-1, -1, n, -1)
        Padding is hidden, but later words are not.
        real[:, None, None, :] & => torch.ones(len(lengths), 1, 1, 1).bool() &
        Later words are hidden, but padding is not.
        & causal_mask(n) => | causal_mask(n)
        A key must be a word, and not later: which operator says so?
        & causal_mask(n) => & causal_mask(n).T
        Your triangle is the wrong way round: a row is a query, so which of its keys are later?
        real[:, None, None, :] => real[:, None, :, None]
        Your mask hides rows, the queries: padding must not be seen, so it is hidden as a key.
    """),
    praise="A key must be a word, not a later one; the axis of size 1 serves all heads.",
    hints=[
        "Which positions hold words? With n = 5 and two words: 3 and 4.",
        "Compare torch.arange(n), (n), with one number for each sentence, (b, 1).",
        "real[:, None, None, :] is (b, 1, 1, n), and & with the triangle (n, n) makes (b, 1, n, n).",
    ],
    solution="""
def my_mask(lengths, n):
    # (b) -> (b, 1, n, n)
    first_word = n - lengths  # (b)
    real = torch.arange(n) >= first_word[:, None]  # (n), (b, 1) -> (b, n)
    return real[:, None, None, :] & causal_mask(n)  # (b, 1, 1, n) & (n, n) -> (b, 1, n, n)
""",
)

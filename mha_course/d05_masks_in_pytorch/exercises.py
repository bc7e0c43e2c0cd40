"""The exercise of the deeper page on PyTorch's masks: padding in front, from lengths to (b, 1, 1, n)."""

import torch

from mha_course.exercises import FunctionExercise, case, changes

padding_in_front = FunctionExercise(
    "D5.1 ★★ · 6 min · Padding in front",
    axes=("sentence", "head", "query", "key"),
    cases=lambda: [
        case(torch.tensor([2, 5]), 5, label="with lengths 2 and 5, padded to 5"),
        case(torch.tensor([1, 4, 6]), 7, label="with lengths 1, 4 and 6, padded to 7"),
        case(torch.tensor([3, 0, 1, 2]), 3, label="with a sentence without any word"),
    ],
    task="""
    A model that goes on writing needs the last word of every sentence at the end, so sentences are
    padded in front. Make their mask for `F.scaled_dot_product_attention` from the numbers of real words:
    `lengths` (b) and n → bool, (b, 1, 1, n).
    """,
    mistakes=changes("""
        >= first_word[:, None] => < lengths[:, None]
        You hide what stands behind the words: here the padding stands in front of them.
        >= first_word => < first_word
        Your True marks the padding: what does True mean to F.scaled_dot_product_attention?
        n - lengths => lengths
        You take lengths for the padding: it counts the words, so where does the first one stand?
        >= first_word => > first_word
        You hide the first word of each sentence, too: at which position does it stand?
        n - lengths => n - lengths - 1
        One position of the padding may be seen: at which position does the first word stand?
        real[:, None, None, :] => real
        Your mask is (b, n), and would be taken for (n, n) where b = n: give it all four axes.
        real[:, None, None, :] => real[:, None, :]
        Your mask is (b, 1, n), and would be taken for (h, 1, n) where b = h: give it all four axes.
        real[:, None, None, :] => real[:, None, :, None]
        Your mask hides rows, the queries: a padded word must not be seen, so it is hidden as a key.
        real[:, None, None, :] => padding_mask(lengths, n).flip(0)
        You reverse the order of the sentences.
        first_word[:, None] => first_word
        You compare n positions with b lengths: which of the two needs a new axis, so that all pairs meet?
        n - lengths => (n - lengths) % n
        All of the sentence without words may be seen: [-0:] is [0:], the whole row.
    """),
    praise="The first word stands at n − length; the two axes of size 1 serve all heads and queries.",
    hints=[
        "Which positions hold words? With n = 5 and two words: 3 and 4.",
        "Compare torch.arange(n), (n), with one number for each sentence, (b, 1).",
        "Indexing with None makes an axis of size 1: the heads and the queries share one row.",
    ],
    solution="""
def my_mask(lengths, n):
    # (b) -> (b, 1, 1, n)
    first_word = n - lengths  # (b)
    real = torch.arange(n) >= first_word[:, None]  # (n), (b, 1) -> (b, n)
    return real[:, None, None, :]  # (b, n) -> (b, 1, 1, n)
""",
)

"""Exercise 9.1: how a head taken out of concat and W_O is judged, and what goes wrong with it."""

import torch

from mha_helpers.exercises import FunctionExercise


class Pruning(FunctionExercise):
    """Sizes and product are judged: in which order the heads that stay are kept is free."""

    def _difference(self, outcome, right):
        sentence = super()._difference(outcome, right)
        parts = outcome.value if isinstance(outcome.value, tuple | list) else ()
        shapes = [part.shape for part in parts if isinstance(part, torch.Tensor)]
        if not sentence or shapes != [part.shape for part in right.value]:
            return sentence
        products = [concat @ w_o for concat, w_o in (parts, right.value)]
        kept = (parts[0][:, :, None] == right.value[0][:, None]).all(0).any(1)  # columns that concat had
        return None if kept.all() and torch.allclose(*products, atol=1e-5) else sentence


def pruned(
    is_kept=torch.ne,
    cut=lambda concat, w_o, kept: (concat[:, kept], w_o[kept]),
    width=lambda num_heads, w_o: len(w_o) // num_heads,
):
    """Make the right answer, or one that keeps other numbers, cuts otherwise, or has another d_v."""

    def answer(concat, w_o, num_heads, head):
        owner = torch.arange(len(w_o)) // width(num_heads, w_o)  # the head of each of the h·d_v numbers
        return cut(concat, w_o, is_kept(owner, head))

    return answer


_COLUMNS = "You take columns out of both: which axis of W_O is as long as concat is wide?"
PRUNING_MISTAKES = [
    (
        pruned(lambda owner, head: owner != head - 1),
        "Another head is gone, the one before it: does your count begin at 0 or at 1?",
    ),
    (pruned(torch.eq), "You keep this head and take out all the others."),
    (
        pruned(lambda owner, head: torch.arange(len(owner)) % (owner[-1] + 1) != head),
        "You take every num_heads-th number: which numbers of concat does one head have, and where?",
    ),
    (
        pruned(cut=lambda concat, w_o, kept: (concat * kept, w_o)),
        "The head is silent, and nothing has become smaller: what do its zeros still multiply?",
    ),
    (
        pruned(cut=lambda concat, w_o, kept: (concat * kept, w_o * kept[:, None])),
        "The head is silent, and nothing has become smaller: zeros are multiplied just as well.",
    ),
    (
        pruned(cut=lambda concat, w_o, kept: (concat[:, kept], w_o)),
        "concat has become narrower, W_O not: which of its rows did the missing numbers meet?",
    ),
    (
        pruned(cut=lambda concat, w_o, kept: (concat[:, kept], w_o[:, kept.argwhere()[:, 0]])),
        _COLUMNS,
    ),
    (
        pruned(cut=lambda concat, w_o, kept: (concat[:, kept], w_o[:, kept[: w_o.shape[1]]])),
        _COLUMNS,
    ),
    (
        pruned(lambda owner, head: (torch.arange(len(owner)) - head) // (owner == 0).sum() != 0),
        "You begin at number `head` of concat: how many numbers have the heads before it?",
    ),
    (
        pruned(width=lambda num_heads, w_o: w_o.shape[1] // num_heads),
        "Your d_v comes from d_model: which width is shared out among the heads here?",
    ),
    (pruned(width=lambda *_: 1), "You take out a single number: how many does one head have?"),
]

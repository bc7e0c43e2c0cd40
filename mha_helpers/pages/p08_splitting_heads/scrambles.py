"""What the test of exercise 8.3 is handed: splits, all but two of which scramble."""

import torch

from mha_helpers.attention import split_heads
from mha_helpers.exercises.compare import kind_of
from mha_helpers.exercises.running import AnswerError


def _one_word_late(*index):
    """A wrong split: what stands at this place comes a word too late."""

    def split(q, num_heads):
        heads = split_heads(q, num_heads).clone()
        heads[index] = heads[index].roll(1, dims=-2)
        return heads

    return split


def split(q, num_heads):
    """Return what a test hands over, or stop it if the task promises something else."""
    if not isinstance(q, torch.Tensor) or q.dim() != 2:
        raise AnswerError(f"hands over {kind_of(q)}: q is a tensor of shape (n, h·d_k)")
    return q, num_heads


_SEVERAL_WORDS = "its heads hold numbers of several words."
_ONE_HEAD = "only one of its heads is scrambled."
SPLITTING = {
    "view, then transpose": (split_heads, "it is the cut of this page."),
    "slices, stacked": (
        lambda q, h: torch.stack(q.chunk(h, dim=-1)),
        "it has the same numbers, in memory of its own.",
    ),
}
SCRAMBLING = {
    "view only": (lambda q, h: q.reshape(h, len(q), -1), f"its shape is right, and {_SEVERAL_WORDS}"),
    "transpose, then view": (
        lambda q, h: q.mT.reshape(h, len(q), -1),
        "its heads hold their own numbers, in wrong places unless d_k or n is 1.",
    ),
    "view (h, d_k, n), then transpose": (lambda q, h: q.reshape(h, -1, len(q)).mT, _SEVERAL_WORDS),
    "view (h, n, d_k), then transpose": (
        # (n, h, d_k): the axes of the wrong names
        lambda q, h: q.reshape(h, len(q), -1).transpose(0, 1).reshape(h, len(q), -1),
        "it is right only where there are as many words as heads, or one of either.",
    ),
    "d_k heads of h numbers": (
        lambda q, h: torch.stack(q.chunk(q.shape[-1] // h, dim=-1)).reshape(h, len(q), -1),
        "it is right only where d_k is the number of heads, or one of the two is 1.",
    ),
    "first head one word late": (_one_word_late(0), _ONE_HEAD),
    "last head one word late": (_one_word_late(-1), _ONE_HEAD),
    "second head one word late": (lambda q, h: _one_word_late(min(1, h - 1))(q, h), _ONE_HEAD),
    "words in reverse order": (lambda q, h: split_heads(q.flip(0), h), "each row is right, the last first."),
    "last two words swapped": (
        lambda q, h: split_heads(torch.cat([q[:-2], q[-2:].flip(0)]), h),
        "two words have changed places, and the others are right.",
    ),
    "last number of each head one word late": (
        _one_word_late(..., slice(-1, None)),
        "the last number of every row comes from another word.",
    ),
    "numbers of each head in reverse order": (
        lambda q, h: split_heads(q, h).flip(-1),
        "each row of a head holds the right numbers, the last one first.",
    ),
    "heads in reverse order": (lambda q, h: split_heads(q, h).flip(0), "each head is right, the last first."),
}

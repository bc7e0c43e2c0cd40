"""Who may attend to whom.

Every mask of this course is a bool tensor in which **True means "may attend"**. Rows are
queries, columns are keys. Masks are combined with ``&``: a key must be allowed by both.

``torch.nn.functional.scaled_dot_product_attention`` reads a bool mask the same way.
``torch.nn.MultiheadAttention`` reads it the other way round: hand it ``~mask``.
"""

import numbers
from collections.abc import Iterable

import torch

from mha_helpers.checks import check_count


def causal_mask(n):
    """Let each token attend to itself and to the tokens before it.

    Shape: ``(n, n)``. Taught in notebook 05. Source: Vaswani et al. (2017), section 3.2.3.

    Raises ``TypeError`` if n is no whole number, ``ValueError`` if it is below 1.

    >>> causal_mask(3)
    tensor([[ True, False, False],
            [ True,  True, False],
            [ True,  True,  True]])
    """
    check_count("n", n)
    return torch.ones(n, n, dtype=torch.bool).tril()


def padding_mask(lengths, n):
    """Let every token attend to real tokens only; padding at the end of a sentence is no key.

    ``lengths`` holds the number of real tokens of each sentence, ``n`` is the padded length.
    Padding blocks **columns** (keys): the two axes of size 1 stand for heads and queries.

    Shape: ``b`` lengths -> ``(b, 1, 1, n)``. Taught in notebook 05.
    Source: Vaswani et al. (2017), section 3.2.3 describes the masking of single connections.

    Raises ``TypeError`` if a length is no whole number, ``ValueError`` if one lies outside 0 … n.

    >>> padding_mask([2, 3], n=3)
    tensor([[[[ True,  True, False]]],
    <BLANKLINE>
    <BLANKLINE>
            [[[ True,  True,  True]]]])
    """
    check_count("n", n)
    if isinstance(lengths, torch.Tensor):
        lengths = lengths.tolist()
    if isinstance(lengths, str) or not isinstance(lengths, Iterable):
        advice = f" Try [{lengths}]." if _is_whole(lengths) else ""
        raise TypeError(f"lengths must be a list with one length for each sentence, got {lengths!r}.{advice}")
    lengths = list(lengths)
    for sentence, length in enumerate(lengths):
        if not _is_whole(length):
            raise TypeError(f"lengths[{sentence}] must be a whole number, got {length!r}.")
        if not 0 <= length <= n:
            raise ValueError(
                f"lengths[{sentence}] is {length}, but a sentence padded to n = {n} tokens"
                f" has between 0 and {n} real ones."
            )
    positions = torch.arange(n)
    real = positions < torch.tensor(lengths, dtype=torch.long)[:, None]  # (n), (b, 1) -> (b, n)
    return real[:, None, None, :]  # (b, n) -> (b, 1, 1, n)


def _is_whole(length):
    return isinstance(length, numbers.Integral) and not isinstance(length, bool)


def sliding_window_mask(n, window):
    """Let each token attend to the tokens at most ``window`` steps away, on both sides.

    ``window=0`` leaves each token alone with itself. For a causal window, combine:
    ``causal_mask(n) & sliding_window_mask(n, window)``.

    Shape: ``(n, n)``. Taught in notebook 05.
    Source: Beltagy et al. (2020), "Longformer", section 3.1.

    Raises ``TypeError`` if an argument is no whole number, ``ValueError`` if n is below 1 or
    window below 0.

    >>> sliding_window_mask(4, window=1)
    tensor([[ True,  True, False, False],
            [ True,  True,  True, False],
            [False,  True,  True,  True],
            [False, False,  True,  True]])
    """
    check_count("n", n)
    check_count("window", window, smallest=0)
    positions = torch.arange(n)
    distance = (positions[:, None] - positions[None, :]).abs()  # (n, 1), (1, n) -> (n, n)
    return distance <= window

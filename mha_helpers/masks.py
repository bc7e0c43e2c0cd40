"""Who may attend to whom.

Every mask of this course is a bool tensor in which **True means "may attend"**. Rows are queries, columns are
keys. Masks are combined with ``&``: a key must be allowed by both.

``torch.nn.functional.scaled_dot_product_attention`` reads a bool mask the same way.
``torch.nn.MultiheadAttention`` reads it the other way round: hand it ``~mask``.
"""

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

    ``lengths`` holds the number of real tokens of each sentence, ``n`` is the padded length. Padding blocks
    **columns** (keys): the two axes of size 1 stand for heads and queries.

    Shape: ``b`` lengths -> ``(b, 1, 1, n)``. Taught in notebook 05.
    Source: Vaswani et al. (2017), section 3.2.3 describes the masking of single connections.
    Raises ``TypeError`` if lengths is no list of whole numbers, ``ValueError`` if one lies outside 0 … n.

    >>> padding_mask([2, 3], n=3)[:, 0, 0]
    tensor([[ True,  True, False],
            [ True,  True,  True]])
    """
    check_count("n", n)
    lengths = lengths.tolist() if hasattr(lengths, "tolist") else lengths  # a tensor or an array
    if not isinstance(lengths, (list, tuple)):
        raise TypeError(f"lengths must be a list with one length for each sentence, got {lengths!r}.")
    for sentence, length in enumerate(lengths):
        check_count(f"lengths[{sentence}]", length, smallest=0, largest=n)
    real = torch.arange(n) < torch.tensor(lengths)[:, None]  # (n), (b, 1) -> (b, n)
    return real[:, None, None, :]  # (b, n) -> (b, 1, 1, n)


def sliding_window_mask(n, window):
    """Let each token attend to the tokens at most ``window`` steps away, on both sides.

    ``window=0`` leaves each token alone with itself. For a causal window, combine:
    ``causal_mask(n) & sliding_window_mask(n, window)``.

    Shape: ``(n, n)``. Taught in notebook 05. Source: Beltagy et al. (2020), "Longformer", section 3.1.
    Raises ``TypeError`` if an argument is no whole number, ``ValueError`` if n is below 1 or window below 0.

    >>> sliding_window_mask(4, window=1)
    tensor([[ True,  True, False, False],
            [ True,  True,  True, False],
            [False,  True,  True,  True],
            [False, False,  True,  True]])
    """
    check_count("n", n)
    check_count("window", window, smallest=0)
    positions = torch.arange(n)
    distance = (positions[:, None] - positions).abs()  # (n, 1), (n) -> (n, n)
    return distance <= window

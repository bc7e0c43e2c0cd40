"""Who may attend to whom.

Every mask of this course is a bool tensor in which **True means "may attend"**. Rows are queries, columns are
keys. Masks are combined with ``&``: a key must be allowed by both. PyTorch's function
``scaled_dot_product_attention`` reads a mask so, too; hand ``~mask`` to ``torch.nn.MultiheadAttention``.

``device`` is where the mask is made, as in ``torch.ones``: ``causal_mask(n, device=x.device)``.
"""

import torch

from mha_helpers.checks import check_count, check_tensors


def causal_mask(n, n_k=None, *, device=None):
    """Let each token attend to itself and to the tokens before it.

    ``n_k`` is the number of keys where there are more than queries, as with a cache of earlier keys: the n
    queries are then the **last** n tokens.

    Shape: ``(n, n)`` or ``(n, n_k)``. Taught in notebook 05. Source: Vaswani et al. (2017), section 3.2.3.
    Raises ``TypeError`` if n or n_k is no whole number, ``ValueError`` if n is below 1 or n_k below n.

    >>> causal_mask(3)
    tensor([[ True, False, False],
            [ True,  True, False],
            [ True,  True,  True]])
    >>> causal_mask(2, n_k=4)
    tensor([[ True,  True,  True, False],
            [ True,  True,  True,  True]])
    """
    check_count("n", n)
    n_k = n if n_k is None else n_k
    check_count("n_k", n_k, smallest=n)
    keys = torch.arange(n_k, device=device)
    return keys <= keys[n_k - n :, None]  # (n_k), (n, 1) -> (n, n_k)


def padding_mask(lengths, n, *, device=None):
    """Let every token attend to real tokens only; padding at the end of a sentence is not a key.

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
    in_a_graph = torch.compiler.is_compiling() or torch.jit.is_tracing()
    if not in_a_graph and not getattr(lengths, "is_meta", False):  # else there are no numbers to look at
        _check_lengths(lengths.tolist() if hasattr(lengths, "tolist") else lengths, n)
    lengths = torch.as_tensor(lengths, device=device)
    real = torch.arange(n, device=lengths.device) < lengths[:, None]  # (n), (b, 1) -> (b, n)
    return real[:, None, None, :]  # (b, n) -> (b, 1, 1, n)


def _check_lengths(lengths, n):
    is_list = isinstance(lengths, (list, tuple))
    if not is_list or any(isinstance(length, (list, tuple)) for length in lengths):
        matrix = "Of a matrix with 1 for a token and 0 for padding, take (lengths == 1)[:, None, None, :]."
        raise TypeError(f"lengths must be a list of one number for each sentence, got {lengths!r}. {matrix}")
    for sentence, length in enumerate(lengths):
        check_count(f"lengths[{sentence}]", length, smallest=0, largest=n)


def sliding_window_mask(n, window, *, device=None):
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
    positions = torch.arange(n, device=device)
    distance = (positions[:, None] - positions).abs()  # (n, 1), (n) -> (n, n)
    return distance <= window


def check_mask(mask, scores_shape):
    """It must be bool, with the two axes (n_q, n_k) or with every axis of the scores."""
    check_tensors(mask=(mask, ""))
    if mask.dtype != torch.bool:
        opposite = "True means “may attend” here; torch.nn.MultiheadAttention means the opposite."
        raise TypeError(f"mask must be bool, got {mask.dtype}. {opposite} {_how_to_get_a_bool(mask)}")
    axes, missing = len(scores_shape), len(scores_shape) - mask.dim()
    # (b, n, n) is refused: where b happens to equal h it would be taken for (h, n, n), without an error.
    fits = [mask.shape[-axis] in (1, scores_shape[-axis]) for axis in range(1, min(mask.dim(), axes) + 1)]
    if mask.dim() not in (2, axes) or not all(fits):
        advice = ""
        if missing > 0 and mask.dim() > 1 and mask.shape[0] == scores_shape[0]:
            advice = f" If its first axis is the sentence, take mask[:{', None' * missing}]."
        wanted = f"Give it the 2 axes (n_q, n_k) or all {axes}, each 1 or as long as theirs.{advice}"
        raise ValueError(f"mask {tuple(mask.shape)} does not fit the scores {tuple(scores_shape)}. {wanted}")


def _how_to_get_a_bool(mask):
    others = (mask != 0) & (mask != 1) & (mask > -1e4)  # what bool() would lose
    if mask.requires_grad or others.any():
        return "It is like a bias that is added to the scores (ALiBi, T5): see deeper/09_in_your_own_model."
    if (mask < 0).any():  # bool() would turn it round
        return "It holds negative numbers, as a mask does that is added to the scores: take mask == 0."
    return "Where 1 means “may attend”, take mask == 1; where 1 means “hidden”, take mask == 0."

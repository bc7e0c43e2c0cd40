"""The measure by which deeper/10 tells who lifts the right positions."""

from mha_course.models import positions_after_copies, predictable
from mha_helpers.masks import causal_mask


def lift(scores, letters, distance):
    """Return by how much scores lift the positions where a head of layer 1 has to look.

    For each query whose next letter can be known: the average score of the letters that followed its earlier
    copies, minus that of all other letters that the mask allows; then the average over these queries.
    Shapes: scores ``(b, n, n)``, letters ``(b, n)``, distance ``(b)`` -> a number. Used in deeper/10.

    >>> import torch
    >>> letters = torch.tensor([[0, 1, 0, 1]])  # from position 2 on the next letter can be known
    >>> scores = torch.tensor([[1.0, 5, 2, 0]]).repeat(4, 1)  # the right position is 1: a 0 stands before it
    >>> lift(scores[None], letters, torch.tensor([2]))
    3.5
    """
    right = positions_after_copies(letters)  # (b, n, n)
    parts = right, causal_mask(letters.shape[-1]) & ~right
    on_right, on_other = ((scores * part).sum(dim=-1) / part.sum(dim=-1) for part in parts)  # (b, n) each
    return (on_right - on_other)[:, :-1][predictable(letters, distance)].mean().item()

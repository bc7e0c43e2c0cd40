"""Fifteen ways to split a matrix into heads for exercise 8.5, two of them right. Write your test first."""

from collections.abc import Callable
from dataclasses import dataclass

import torch

from mha_helpers.attention import split_heads


@dataclass(frozen=True)
class Split:
    """A way to cut a matrix ``(n, d_model)``, with a name for the sentence of the check."""

    name: str
    call: Callable

    def __call__(self, matrix, num_heads):
        n, d_model = matrix.shape
        return self.call(matrix, n, num_heads, d_model // num_heads)

    def __repr__(self):
        return self.name


def _one_late(matrix, num_heads, late):
    heads = [*split_heads(matrix, num_heads)]
    heads[late] = heads[late].roll(1, dims=0)
    return torch.stack(heads)


def _middle_swapped(matrix, num_heads):
    order = [*range(len(matrix))]
    middle = len(order) // 2
    order[middle - 1], order[middle] = order[middle], order[middle - 1]
    return split_heads(matrix[order], num_heads)


def _swapped_last(matrix, num_heads):
    heads = split_heads(matrix, num_heads).clone()
    heads[-1, :2] = heads[-1, :2].flip(0)
    return heads


def _number_late(matrix, num_heads, late):
    heads = split_heads(matrix, num_heads).clone()
    heads[..., late] = heads[..., late].roll(1, dims=-1)
    return heads


def _of_rows(above, below, num_heads):
    return split_heads(torch.cat([above, below]), num_heads)


SPLITS = (
    Split("a right one", lambda m, n, h, d: m.reshape(n, h, d).transpose(0, 1)),
    Split("view alone", lambda m, n, h, d: m.reshape(h, n, d)),
    Split("another right one", lambda m, n, h, d: torch.stack(m.split(d, dim=-1))),
    Split("transpose, then view", lambda m, n, h, d: m.T.reshape(h, n, d)),
    Split("two steps too many", lambda m, n, h, d: m.reshape(h, d, n).transpose(1, 2)),
    Split("head 0 one token late", lambda m, n, h, d: _one_late(m, h, 0)),
    Split("a head in the middle one token late", lambda m, n, h, d: _one_late(m, h, h // 2)),
    Split("the last head one token late", lambda m, n, h, d: _one_late(m, h, h - 1)),
    Split("first two tokens swapped", lambda m, n, h, d: _of_rows(m[:2].flip(0), m[2:], h)),
    Split("last two tokens swapped", lambda m, n, h, d: _of_rows(m[:-2], m[-2:].flip(0), h)),
    Split("tokens in reverse order", lambda m, n, h, d: split_heads(m.flip(0), h)),
    Split("two tokens in the middle swapped", lambda m, n, h, d: _middle_swapped(m, h)),
    Split("two tokens swapped in the last head alone", lambda m, n, h, d: _swapped_last(m, h)),
    Split("the last number of each head one token late", lambda m, n, h, d: _number_late(m, h, -1)),
    Split("the first number of each head one token late", lambda m, n, h, d: _number_late(m, h, 0)),
)

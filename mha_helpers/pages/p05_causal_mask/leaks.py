"""What the test of exercise 5.3 is handed: attentions, all but three of which leak."""

import torch
from torch.nn import functional as F

from mha_helpers.attention import attention_weights
from mha_helpers.masks import causal_mask, sliding_window_mask


def _attend(mask_of, hidden=-torch.inf, prepare=lambda x: x):
    """Make an attention x (n, d) -> (n, d) in which the words themselves are queries, keys and values."""

    def attend(x):
        seen = prepare(x if x.is_floating_point() else x.float())
        scores = seen @ seen.transpose(-2, -1) / x.shape[-1] ** 0.5
        mask = mask_of(x.shape[-2])
        return attention_weights(torch.where(mask, scores, torch.tensor(hidden))) @ seen

    return attend


def _leaking(cells):
    """Make an attention whose mask is causal but for the cells where ``cells(row, column, n)`` is true."""
    return _attend(lambda n: causal_mask(n) | cells(torch.arange(n)[:, None], torch.arange(n)[None, :], n))


def _half_causal(x):
    half = x.shape[-1] // 2
    return torch.cat([_attend(causal_mask)(x)[..., :half], _NO_MASK(x)[..., half:]], dim=-1)


def _mean_kept(x):
    """Add what a head without a mask sees, less its mean: (n, d) -> (n, d) with right means."""
    leak = _NO_MASK(x)
    return _attend(causal_mask)(x) + (leak - leak.mean(dim=-1, keepdim=True) if x.shape[-1] > 1 else leak)


def _next_added(x):
    """Add the last feature of the next word to that of each word, 0 to that of the last: (n, d) -> (n, d)."""
    return torch.cat([x[..., :-1], x[..., -1:] + F.pad(x[..., 1:, -1:], (0, 0, 0, 1))], dim=-1)


def _hidden_late(x):
    weights = attention_weights(x @ x.transpose(-2, -1) / x.shape[-1] ** 0.5)
    return (weights * causal_mask(x.shape[-2])) @ x


_NO_MASK = _leaking(lambda i, j, n: True)
CAUSAL = {
    "causal mask": (_attend(causal_mask), "no output follows a later word."),
    "causal mask with −1e9": (_attend(causal_mask, -1e9), "no output follows a later word."),
    "causal window": (
        _attend(lambda n: causal_mask(n) & sliding_window_mask(n, 1)),
        "each word sees itself and the one before, no later one.",
    ),
}
NOT_CAUSAL = {
    "no mask": (_NO_MASK, "every word sees every other."),
    "mask after the softmax": (_hidden_late, "each sum of powers still counts the later words."),
    "triu in place of tril": (_attend(lambda n: causal_mask(n).T), "all words see later ones."),
    "one word ahead": (_leaking(lambda i, j, n: j == i + 1), "each word sees the next."),
    "two words ahead, not one": (
        _leaking(lambda i, j, n: j == i + 2),
        "each word sees the next but one, and not the next.",
    ),
    "the first word sees the second": (
        _leaking(lambda i, j, n: (i == 0) & (j == 1)),
        "a single cell of its mask is wrong, in the first row.",
    ),
    "every second word sees all": (
        _leaking(lambda i, j, n: i % 2 == 1),
        "the second, the fourth, … word see all, and the others nothing later.",
    ),
    "the last word hidden, no other": (
        _attend(lambda n: (torch.arange(n) < max(n - 1, 1)).expand(n, n)),
        "nobody sees the last word, and words between are seen too early.",
    ),
    "the third word sees the fourth": (
        _leaking(lambda i, j, n: (i == 2) & (j == 3)),
        "a single cell of its mask is wrong, in the third row.",
    ),
    "the last word but one sees the last": (
        _leaking(lambda i, j, n: (i == n - 2) & (j == n - 1)),
        "a single cell of its mask is wrong, in the last row but one.",
    ),
    "causal in half of the features": (
        _half_causal,
        "the second half of each output's features follows all words.",
    ),
    "a leak that leaves the mean of each output": (
        _mean_kept,
        "its outputs follow later words, and no sum over their features does, nor its gradient.",
    ),
    "causal mask, the mean of the sentence taken away first": (
        _attend(causal_mask, prepare=lambda x: x - x.mean(dim=-2, keepdim=True)),
        "its mask is right, but the mean holds later words.",
    ),
    "causal mask, a feature of the next word added first": (
        _attend(causal_mask, prepare=_next_added),
        "its mask is right, but the last feature of each word holds that of the next.",
    ),
}

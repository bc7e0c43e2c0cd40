"""What pages 05 and 12 tell of `nn.MultiheadAttention`, done again with it apart from the page.

What the pages print of it is a table of test_errata.py.
"""

import math

import pytest
import torch
from torch import nn
from torch.nn import functional as F

from mha_helpers import causal_mask, golden_example

LETTERS, LENGTH, WIDTH = 26, 12, 32
X = golden_example().x[None]  # (1, 3, 6)
REAL = torch.tensor([True, True, False])


class Guesser(nn.Module):
    """A model of its own that guesses the next letter."""

    def __init__(self):
        super().__init__()
        self.letter, self.guess = nn.Embedding(LETTERS, WIDTH), nn.Linear(WIDTH, LETTERS)
        self.place = nn.Parameter(torch.randn(LENGTH, WIDTH))
        self.attention = nn.MultiheadAttention(WIDTH, 1, batch_first=True)

    def forward(self, letters, mask, **options):
        x = self.letter(letters) + self.place
        guesses = self.guess(self.attention(x, x, x, attn_mask=mask, **options)[0])
        return F.cross_entropy(guesses[:, :-1].transpose(1, 2), letters[:, 1:])


def losses(mask, **options):
    model = Guesser()
    optimizer = torch.optim.Adam(model.parameters(), lr=0.005)
    history = []
    for _ in range(150):
        loss = model(torch.randint(LETTERS, (32, LENGTH)), mask, **options)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        history.append(loss.item())
    return torch.tensor(history)


@pytest.mark.parametrize("seed", [0, 1])
def test_a_mask_the_wrong_way_round_is_nan_by_default_and_perfect_without_weights(seed):
    torch.manual_seed(seed)
    right, wrong = losses(~causal_mask(LENGTH)), losses(causal_mask(LENGTH))
    silent = losses(causal_mask(LENGTH), need_weights=False)
    assert right[0].isfinite() and abs(right[-1] - math.log(LETTERS)) < 0.1
    assert wrong[0].isfinite() and wrong[1:].isnan().all()
    assert silent.isfinite().all() and silent[-1] < 0.1


def test_padding_on_the_rows_is_nan_in_one_row_then_in_all_and_silent_only_with_a_low_number():
    torch.manual_seed(0)
    layer = nn.MultiheadAttention(6, 1, batch_first=True)
    rows, columns = REAL[:, None].expand(3, 3), REAL.expand(3, 3)
    for allowed, first, second in [
        (rows, [False, False, True], [True] * 3),
        (columns, [False] * 3, [False] * 3),
    ]:
        once, _ = layer(X, X, X, attn_mask=~allowed)
        twice, _ = layer(once, once, once, attn_mask=~allowed)
        assert once[0].isnan().any(dim=-1).tolist() == first
        assert twice[0].isnan().any(dim=-1).tolist() == second
    low = torch.zeros(3, 3).masked_fill(~rows, -1e9)
    assert layer(X, X, X, attn_mask=low)[0].isfinite().all()


def test_a_word_padded_in_front_is_nan_by_default_and_zeros_without_weights():
    layer = nn.MultiheadAttention(6, 1, batch_first=True, bias=False)
    empty = causal_mask(3) & torch.tensor([False, True, True])
    loud, weights = layer(X, X, X, attn_mask=~empty)
    silent, _ = layer(X, X, X, attn_mask=~empty, need_weights=False)
    assert loud[0, 0].isnan().all() and weights[0, 0].isnan().all() and weights[0, 1:].isfinite().all()
    assert torch.equal(silent[0, 0], torch.zeros(6))


def moved_by_the_last(attend):
    """Which of four outputs, counted from 1, move with the last word."""
    x = torch.randn(4, 4, generator=torch.Generator().manual_seed(1))
    changed = torch.cat([x[:3], x[3:] + 1])
    moves = (attend(x[None]) - attend(changed[None]))[0].abs().amax(dim=-1) > 1e-6
    return [position + 1 for position in range(4) if moves[position]]


def test_exhibit_6_one_mask_is_read_in_two_ways():
    layer, future = nn.MultiheadAttention(4, 1, batch_first=True), ~causal_mask(4)
    function = F.scaled_dot_product_attention
    assert moved_by_the_last(lambda x: function(x, x, x, attn_mask=future)) == [1, 2, 3]
    assert moved_by_the_last(lambda x: layer(x, x, x, attn_mask=future)[0]) == [4]
    x = torch.randn(1, 4, 4)
    assert layer(x, x, x, attn_mask=~future)[0][0].isnan().any(dim=-1).tolist() == [False] * 3 + [True]


def test_exhibit_11_a_hint_is_believed_only_without_weights():
    layer = nn.MultiheadAttention(4, 1, batch_first=True)
    hint = {"attn_mask": torch.zeros(4, 4, dtype=torch.bool), "is_causal": True}
    assert moved_by_the_last(lambda x: layer(x, x, x, **hint)[0]) == [1, 2, 3, 4]
    assert moved_by_the_last(lambda x: layer(x, x, x, need_weights=False, **hint)[0]) == [4]


@pytest.mark.parametrize(
    "hide_rows, low, lost", [(0, -1e9, 0), (0, -torch.inf, 0), (1, -1e9, 0), (1, -torch.inf, 1)]
)
def test_exhibit_13_only_a_hidden_row_of_minus_infinity_loses_the_gradient(hide_rows, low, lost):
    layer = nn.MultiheadAttention(6, 3, batch_first=True)
    hidden = ~(causal_mask(3) & (REAL[:, None] if hide_rows else REAL))
    output, _ = layer(X, X, X, attn_mask=torch.zeros(3, 3).masked_fill(hidden, low))
    output[0, :2].square().sum().backward()
    assert output[0, :2].isfinite().all() and output[0, 2].isnan().all() == lost
    assert layer.in_proj_weight.grad.isnan().float().mean() == lost

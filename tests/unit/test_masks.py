"""Masks: True = may attend, in all three."""

import numpy as np
import pytest
import torch

from mha_helpers import causal_mask, padding_mask, sliding_window_mask


@pytest.mark.parametrize("n", [1, 2, 5])
def test_causal_mask_lets_a_token_see_itself_and_the_past(n):
    mask = causal_mask(n)
    assert mask.dtype == torch.bool
    assert mask.tolist() == [[key <= query for key in range(n)] for query in range(n)]


def test_padding_mask_blocks_columns_for_every_head_and_query():
    mask = padding_mask([3, 0, 1], n=3)
    assert mask.shape == (3, 1, 1, 3)
    assert mask.dtype == torch.bool
    assert mask[:, 0, 0].tolist() == [[True, True, True], [False, False, False], [True, False, False]]


def test_padding_mask_takes_a_tensor_of_lengths():
    assert torch.equal(padding_mask(torch.tensor([1, 2]), 4), padding_mask([1, 2], 4))
    assert torch.equal(padding_mask(np.array([1, 2]), 4), padding_mask([1, 2], 4))


def test_padding_mask_of_no_sentences_is_empty():
    assert padding_mask([], 3).shape == (0, 1, 1, 3)


@pytest.mark.parametrize("window", [0, 1, 2, 9])
def test_sliding_window_mask_reaches_both_ways(window):
    mask = sliding_window_mask(5, window)
    assert mask.dtype == torch.bool
    assert mask.tolist() == [[abs(query - key) <= window for key in range(5)] for query in range(5)]


@pytest.mark.parametrize(
    "call, error, words",
    [
        (lambda: causal_mask(0), ValueError, "n must be at least 1, got 0"),
        (lambda: causal_mask(2.0), TypeError, "n must be a whole number such as 2, got 2.0"),
        (lambda: sliding_window_mask(0, 1), ValueError, "n must be at least 1"),
        (lambda: sliding_window_mask(4, -1), ValueError, "window must be at least 0, got -1"),
        (lambda: sliding_window_mask(4, "1"), TypeError, "window must be a whole number"),
        (lambda: padding_mask([1], 0), ValueError, "n must be at least 1"),
        (lambda: padding_mask([1, 5], 4), ValueError, r"lengths\[1\] is 5, but .* n = 4 .* between 0 and 4"),
        (lambda: padding_mask([-1], 4), ValueError, r"lengths\[0\] is -1"),
        (lambda: padding_mask([1.5], 4), TypeError, r"lengths\[0\] must be a whole number, got 1.5"),
        (lambda: padding_mask([True], 4), TypeError, r"lengths\[0\] must be a whole number, got True"),
        (lambda: padding_mask(3, 4), TypeError, r"one length for each sentence, got 3. Try \[3\]"),
        (lambda: padding_mask("34", 4), TypeError, "one length for each sentence, got '34'.$"),
        (lambda: padding_mask(torch.tensor(3), 4), TypeError, "one length for each sentence, got 3"),
        (lambda: padding_mask(np.int64(3), 4), TypeError, "one length for each sentence, got .*3"),
        (lambda: padding_mask(None, 4), TypeError, "one length for each sentence, got None.$"),
        (lambda: padding_mask(True, 4), TypeError, "one length for each sentence, got True.$"),
        (lambda: padding_mask(2.5, 4), TypeError, "one length for each sentence, got 2.5.$"),
        (lambda: padding_mask(np.array([1.5]), 4), TypeError, r"lengths\[0\] must be a whole number"),
    ],
)
def test_bad_input_is_answered_in_the_learners_terms(call, error, words):
    with pytest.raises(error, match=words):
        call()

"""Masks: True = may attend, in all three; bad input is answered in the learner's words."""

import re

import numpy
import pytest
import torch

from mha_helpers import causal_mask, padding_mask, sliding_window_mask


@pytest.mark.parametrize("n", [1, 2, 5])
def test_causal_mask_lets_a_token_see_itself_and_the_past(n):
    mask = causal_mask(n)
    assert mask.dtype == torch.bool
    assert mask.tolist() == [[key <= query for key in range(n)] for query in range(n)]


@pytest.mark.parametrize("as_given", [list, torch.tensor, numpy.array])
def test_padding_mask_blocks_columns_for_every_head_and_query(as_given):
    mask = padding_mask(as_given([3, 0, 1]), n=3)
    assert mask.dtype == torch.bool
    assert mask.tolist() == [[[[True, True, True]]], [[[False, False, False]]], [[[True, False, False]]]]


def test_padding_mask_of_no_sentences_is_empty():
    assert padding_mask([], 3).shape == (0, 1, 1, 3)


@pytest.mark.parametrize("window", [0, 1, 2, 9])
def test_sliding_window_mask_reaches_both_ways(window):
    mask = sliding_window_mask(5, window)
    assert mask.dtype == torch.bool
    assert mask.tolist() == [[abs(query - key) <= window for key in range(5)] for query in range(5)]


@pytest.mark.parametrize(
    ("call", "error", "words"),
    [
        (lambda: causal_mask(0), ValueError, "n must be at least 1, got 0."),
        (lambda: causal_mask(2.0), TypeError, "n must be a whole number such as 2, got 2.0."),
        (lambda: sliding_window_mask(4, -1), ValueError, "window must be at least 0, got -1."),
        (lambda: padding_mask([1, 5], 4), ValueError, "lengths[1] must be at most 4, got 5."),
        (lambda: padding_mask([-1], 4), ValueError, "lengths[0] must be at least 0, got -1."),
        (lambda: padding_mask([1.5], 4), TypeError, "lengths[0] must be a whole number such as 2, got 1.5."),
        (
            lambda: padding_mask([True], 4),
            TypeError,
            "lengths[0] must be a whole number such as 2, got True.",
        ),
        (lambda: padding_mask(3, 4), TypeError, "one length for each sentence, got 3."),
        (lambda: padding_mask("34", 4), TypeError, "one length for each sentence, got '34'."),
    ],
)
def test_bad_input_is_answered_in_the_learners_words(call, error, words):
    with pytest.raises(error, match=re.escape(words)):
        call()

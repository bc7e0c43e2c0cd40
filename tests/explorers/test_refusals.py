"""What no control of an explorer has is refused with the numbers, before anything is drawn."""

import math
import re

import pytest
import torch

from mha_helpers.explorers import (
    attention_explorer,
    projection_explorer,
    scaling_explorer,
    scores_explorer,
    shapes_explorer,
    softmax_explorer,
    splitting_explorer,
    trained_explorer,
    values_explorer,
)

pytestmark = pytest.mark.usefixtures("warnings_are_errors")


@pytest.mark.parametrize(
    ("call", "error", "words"),
    [
        (lambda: attention_explorer(d_k=0), ValueError, "d_k must be at least 1, got 0"),
        (lambda: attention_explorer(d_k=1000), ValueError, "d_k must be at most 64, got 1000"),
        (lambda: attention_explorer(heads=2.5), TypeError, "heads must be a whole number"),
        (lambda: attention_explorer(heads=17), ValueError, "heads must be at most 16, got 17"),
        (lambda: attention_explorer(sentence=5), TypeError, "sentence must be a text, got 5"),
        (lambda: shapes_explorer(n=7), ValueError, "n must be at most 6, got 7"),
        (lambda: projection_explorer(columns=7), ValueError, "columns must be at most 6, got 7"),
        (lambda: scores_explorer(heads=5), ValueError, "heads must be at most 4, got 5"),
        (lambda: splitting_explorer(tokens=3, follow=3), ValueError, "follow must be at most 2, got 3"),
        (lambda: trained_explorer(head=5), ValueError, "head must be at most 4, got 5"),
        (
            lambda: scaling_explorer(size=5.0),
            ValueError,
            r"^size must be a number from 0\.5 to 2, got 5\.0\.$",
        ),
        (lambda: scaling_explorer(size="1"), TypeError, r"size must be a number from 0\.5 to 2, got '1'"),
        (lambda: scaling_explorer(size=True), TypeError, "size must be a number .*, got True"),
        (lambda: scaling_explorer(alignment=-1.0), ValueError, r"alignment .* from 0 to 1, got -1\.0\.$"),
        (lambda: scaling_explorer(alignment=math.nan), ValueError, "alignment must be .* got nan"),
        (lambda: softmax_explorer((0, 0, 9, 1)), ValueError, r"^scores\[2\] .* from -5 to 5, got 9\.0\.$"),
        (lambda: softmax_explorer((1.0, 2.0, 3.0)), ValueError, r"hold 4 numbers, .*; got shape \(3,\)\.$"),
        (lambda: softmax_explorer(1.0), ValueError, r"scores must hold 4 numbers, .*; got shape \(\)\.$"),
        (lambda: softmax_explorer("abcd"), TypeError, "scores must hold numbers"),
        (
            lambda: softmax_explorer(temperature=100),
            ValueError,
            r"temperature .* from 0\.05012 to 19\.95, got 100",
        ),
        (lambda: softmax_explorer(temperature=0), ValueError, "temperature must be a number from .*, got 0"),
    ],
)
def test_a_number_that_no_slider_has_is_refused(call, error, words):
    with pytest.raises(error, match=words):
        call()


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: splitting_explorer(heads=3), "heads must be one of 1, 2, 4, 8; got 3."),
        (lambda: scaling_explorer(d_k=5), "d_k must be one of 1, 2, 3, 4, 6, 8,"),
        (
            lambda: scaling_explorer(scale="x"),
            "scale must be one of none, ÷√d_k, ÷d_k, ×√d_k, ÷√d_model; got 'x'.",
        ),
        (lambda: values_explorer(head=5), "head must be one of 1, 2, 3; got 5."),
        (lambda: values_explorer(query="dog"), "query must be one of cat, eats, fish; got 'dog'."),
        (lambda: projection_explorer(kind="q"), "kind must be one of query, key, value; got 'q'."),
        (lambda: scores_explorer(mask="padding"), "mask must be one of none, causal; got 'padding'."),
    ],
)
def test_what_no_menu_has_is_refused(call, words):
    with pytest.raises(ValueError, match=f"^{re.escape(words)}"):
        call()


def test_the_ends_of_a_slider_are_on_it():
    for make, values in (
        (scaling_explorer, {"d_k": 512, "size": 2, "alignment": 1}),
        (scaling_explorer, {"d_k": 1, "size": 0.5, "alignment": 0.0}),
        (softmax_explorer, {"temperature": 19.95}),  # as the refusal says it
        (softmax_explorer, {"temperature": 0.05012}),
    ):
        panel = make(**values)
        assert {name: panel.controls[name].value for name in values} == values
        panel.close()


def test_scores_may_be_a_row_of_a_tensor():
    panel = softmax_explorer(torch.tensor([-5.0, 5.0, 0.0, 1.0]))
    assert panel.state()["scores"].tolist() == [-5, 5, 0, 1]
    panel.close()

"""When a wrong answer is taken for a mistake whose cause a check knows, and when it is not."""

import pytest
import torch

from mha_helpers.exercises.agreement import agree, agree_but_for_nan
from mha_helpers.exercises.running import Outcome

NAN, INF = torch.nan, torch.inf
LARGEST = torch.finfo(torch.float32).max


def tensor(*numbers):
    return torch.tensor(numbers)


def passed_over(value, other):
    return agree_but_for_nan(Outcome(value), Outcome(other))


def test_the_same_error_agrees_and_another_does_not():
    assert agree(Outcome(error=ValueError("no")), Outcome(error=ValueError("no")))
    assert not agree(Outcome(error=ValueError("no")), Outcome(error=ValueError("yes")))
    assert not agree(Outcome(error=ValueError("no")), Outcome(error=TypeError("no")))
    assert not agree(Outcome(tensor(1.0)), Outcome(error=ValueError("no")))


@pytest.mark.parametrize(
    "value, other",
    [
        (tensor(1.0, NAN), tensor(1.0, 2.0)),
        (tensor(1.0, NAN), tensor(1.0, NAN)),
        (tensor(1.0, 0.0), tensor(1.0, NAN)),  # as after nan_to_num
        ((tensor(1.0, NAN), tensor(3.0)), (tensor(1.0, 2.0), tensor(3.0))),
        (tensor(NAN, INF), tensor(1.0, INF)),
        (tensor(NAN, -INF), tensor(1.0, -INF)),
    ],
)
def test_nan_of_the_answer_is_passed_over(value, other):
    assert passed_over(value, other)


@pytest.mark.parametrize(
    "value, other",
    [
        (tensor(1.5, NAN), tensor(1.0, 2.0)),
        (tensor(NAN, NAN), tensor(1.0, 2.0)),  # NaN alone agrees with nothing
        (tensor(1.0, LARGEST), tensor(1.0, INF)),  # a large number is no infinity
        (tensor(1.0, -LARGEST), tensor(1.0, -INF)),
        (tensor(1.0, NAN), tensor(1.0, 2.0)[None].expand(2, 2)),  # another shape, if one fits the other
        ((tensor(1.0), tensor(NAN), tensor(3.0)), (tensor(1.0), tensor(2.0))),
        ((tensor(1.0), tensor(2.0, NAN)), tensor(1.0)),
        (tensor(1.0), None),
        (torch.empty(2, device="meta"), tensor(1.0, 2.0)),  # has no numbers
        (tensor(1.0, 2.0), torch.empty(2, device="meta")),
    ],
)
def test_what_differs_beside_nan_does_not_agree(value, other):
    assert not passed_over(value, other)


def test_an_error_never_agrees_but_for_nan():
    assert not agree_but_for_nan(Outcome(tensor(1.0)), Outcome(error=ValueError("no")))

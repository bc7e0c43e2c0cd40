"""Whether two results are the same, which decides what mistake was made."""

import numpy
import pytest
import torch
from compared_tensors import NAN, ONES

from mha_helpers.exercises.compare import same

SAME = [
    (ONES, ONES.double()),
    (ONES, ONES.long()),
    (torch.tensor([NAN]), torch.tensor([NAN])),
    ({"a": 1, "b": ONES}, {"a": 1.0, "b": ONES}),
    ([1, (2.0, ONES)], (1, [2, ONES])),
    (1, 1.0),
    (NAN, NAN),
    (1.0, torch.tensor(1.0)),
    (True, True),
    (True, numpy.bool_(True)),
    ([], ()),
]
NOT_SAME = [
    (ONES, ONES * 2),
    (torch.ones(2), torch.tensor([1.0, 2.0])),
    (torch.ones(2), torch.tensor([1.0, 1.001])),
    (torch.tensor([-torch.inf, 1.0]), torch.tensor([torch.inf, 1.0])),
    (torch.ones(2), torch.ones(1, 2)),
    (torch.ones(2), torch.ones(2, 1)),
    ({"a": 1, "b": 2}, {"b": 2, "a": 1}),
    ({"a": 1, "b": 2}, {"a": 1, "b": 3}),
    ({"a": 1}, {"b": 1}),
    ([1, 2], [1, 3]),
    ([1, 2], [1]),
    (1, 2),
    (1, True),
    (False, 0),
    (True, False),
    (None, None),
    (1.0, None),
    (None, 1.0),
    ("a", "a"),
    (ONES, [1.0]),
    ({"a": 1}, [1]),
    ({"a": 1}, ["a"]),
    ([1], 1.0),
]


@pytest.mark.parametrize(("a", "b"), SAME)
def test_same_looks_at_shape_and_values(a, b):
    assert same(a, b) is same(b, a) is True


@pytest.mark.parametrize(("a", "b"), NOT_SAME)
def test_same_is_not_easily_content(a, b):
    assert same(a, b) is same(b, a) is False

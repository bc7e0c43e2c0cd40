"""Tensors beside the right ones: which count as right, and the sentence for every way of being wrong."""

import math

import numpy
import torch


def function():
    """Something that a learner may give without calling it."""


ONES = torch.ones(2, 3)
COUNTED = torch.arange(6.0).reshape(2, 3)
CUBE = torch.arange(24.0).reshape(2, 3, 4)
EYE = torch.eye(2)
NAN = math.nan
NOT_DEFINED = "0/0, 0 · ∞, ∞/∞, ∞ − ∞ or the root or logarithm of a negative number was computed."

RIGHT_TENSORS = [
    (ONES, ONES.clone(), {}),
    (ONES, ONES.half(), {"any_dtype": True}),
    (ONES * 0.919, ONES.half() * 0.92, {"any_dtype": True, "decimals": 2}),
    (ONES, torch.nn.Parameter(torch.ones(2, 3)), {}),
    (ONES, torch.ones(2, 3, requires_grad=True), {}),
    (torch.tensor([NAN, 1.0]), torch.tensor([NAN, 1.0]), {}),
    (torch.tensor([math.inf, 1.0]), torch.tensor([math.inf, 1.0]), {}),
    # a difference may be as large as rounding makes it: relative to the largest finite number
    (torch.tensor([1000.0, 0.0]), torch.tensor([1000.0, 0.009]), {}),
    (torch.tensor([-1000.0, 0.0]), torch.tensor([-1000.0, 0.009]), {}),
    (torch.tensor([math.inf, 100.0, 0.0]), torch.tensor([math.inf, 100.0, 0.0009]), {}),
    (torch.zeros(2), torch.tensor([9e-7, 0.0]), {}),
    (torch.tensor([0.919]), torch.tensor([0.9195]), {"decimals": 3}),
    (torch.tensor([NAN]), torch.tensor([NAN]), {"decimals": 3}),
    (torch.tensor([3.0]), torch.tensor([3]), {"any_dtype": True}),
    (ONES.half(), ONES.half(), {}),
]

FORM, VALUE = True, False
# expected, got, the options of difference(), whether the form is wrong, the sentence after its subject
WRONG_TENSORS = [
    # the wrong kind of thing
    (
        ONES,
        numpy.ones((2, 3)),
        {},
        FORM,
        "is a NumPy array; a torch tensor is needed. torch.from_numpy(…) converts it.",
    ),
    (
        ONES,
        [torch.ones(3), torch.ones(3)],
        {},
        FORM,
        "is a list of 2 tensors; one tensor is needed: torch.stack(…, dim=…) or torch.cat(…, dim=…) puts them together.",
    ),
    (
        ONES,
        (torch.ones(2), torch.ones(2), torch.ones(2)),
        {},
        FORM,
        "is a tuple of 3 tensors; one tensor is needed: torch.stack(…, dim=…) or torch.cat(…, dim=…) puts them together.",
    ),
    (
        ONES.view(1, 6),
        [torch.ones(1, 3), torch.ones(1, 3)],
        {},
        FORM,
        "is a list of 2 tensors; one tensor is needed: torch.stack(…, dim=…) or torch.cat(…, dim=…) puts them together.",
    ),
    *(
        (
            ONES,
            parts,
            {},
            FORM,
            f"is a list of {len(parts)} values; one tensor is needed. {which}",
        )
        for parts, which in (
            ([torch.ones(3), torch.ones(2)], "Is a step left that makes one of them?"),
            ([torch.ones(2), torch.ones(2)], "Is a step left that makes one of them?"),
            ([torch.ones(2, 3), torch.zeros(2, 3)], "Which of them is asked for?"),
            ([torch.ones(3), 1], "Is a step left that makes one of them?"),
        )
    ),
    (
        ONES,
        (1, torch.ones(3), 2),
        {},
        FORM,
        "is a tuple of 3 values; one tensor is needed. Is a step left that makes one of them?",
    ),
    (ONES, [[1.0, 1.0, 1.0]], {}, FORM, "is a list; a torch tensor is needed. torch.tensor(…) converts it."),
    (ONES, (1.0,), {}, FORM, "is a tuple; a torch tensor is needed. torch.tensor(…) converts it."),
    (
        ONES,
        1.0,
        {},
        FORM,
        "is a number; a torch tensor is needed: did a sum, .item() or an index go too far?",
    ),
    (
        ONES,
        numpy.float32(1),
        {},
        FORM,
        "is a NumPy number; a torch tensor is needed: did a sum, .item() or an index go too far?",
    ),
    (
        ONES,
        True,
        {},
        FORM,
        "is True or False; a torch tensor is needed: did a sum, .item() or an index go too far?",
    ),
    (
        ONES,
        function,
        {},
        FORM,
        "is a function; a tensor is needed: call it, with brackets and its arguments.",
    ),
    (
        ONES,
        torch.nn.Linear(1, 1),
        {},
        FORM,
        "is a module; a tensor is needed: call it, with brackets and its arguments.",
    ),
    (ONES, None, {}, FORM, "is None; a torch tensor is needed."),
    (
        ONES,
        torch.ones(2, 3, device="meta"),
        {},
        FORM,
        "is on the device “meta”: it has a shape and no numbers.",
    ),
    (ONES, ONES.to_sparse(), {}, FORM, "is a sparse tensor; .to_dense() makes it a usual one."),
    (ONES, ONES.cfloat(), {}, FORM, "holds complex numbers; attention needs real ones."),
    # shapes
    (ONES, torch.ones(0, 3), {}, VALUE, "is an empty tensor: its shape is (0, 3). Did a slice take nothing?"),
    (
        ONES,
        torch.ones(3, 2),
        {},
        VALUE,
        "has the right numbers in the wrong shape: (3, 2) instead of (2, 3).",
    ),
    (
        COUNTED,
        torch.arange(6.0),
        {},
        VALUE,
        "has the right numbers in the wrong shape: (6,) instead of (2, 3).",
    ),
    (
        COUNTED,
        COUNTED.T + 0.0004,
        {"decimals": 3},
        VALUE,
        "has the right numbers with its axes in another order: (3, 2) instead of (2, 3).",
    ),
    (
        torch.tensor([[0.5], [0.25]]),
        torch.tensor([0.5004, 0.2504]),
        {"decimals": 3},
        VALUE,
        "has the right numbers in the wrong shape: (2,) instead of (2, 1).",
    ),
    (
        CUBE,
        CUBE.permute(2, 0, 1),
        {},
        VALUE,
        "has the right numbers with its axes in another order: (4, 2, 3) instead of (2, 3, 4).",
    ),
    (
        CUBE[None, None],
        CUBE.permute(2, 0, 1)[:, :, None, :, None],
        {},
        VALUE,
        "has the right numbers with its axes in another order: (4, 2, 1, 3, 1) instead of (1, 1, 2, 3, 4).",
    ),
    (
        CUBE[None, None, None],
        CUBE.permute(2, 0, 1)[None, None, None],
        {},
        VALUE,
        "has the shape (1, 1, 1, 4, 2, 3) instead of (1, 1, 1, 2, 3, 4):"
        " follow the sizes of the axes from line to line.",
    ),
    (
        COUNTED,
        torch.ones(3, 2),
        {},
        VALUE,
        "has the shape (3, 2) instead of (2, 3): follow the sizes of the axes from line to line.",
    ),
    (
        COUNTED,
        torch.ones(2, 4),
        {},
        VALUE,
        "has the shape (2, 4) instead of (2, 3): follow the sizes of the axes from line to line.",
    ),
    (
        COUNTED,
        torch.ones(1, 2, 4),
        {},
        VALUE,
        "has an axis too many: its shape is (1, 2, 4) instead of (2, 3).",
    ),
    (
        COUNTED,
        torch.ones(1, 1, 2, 4),
        {},
        VALUE,
        "has 2 axes too many: its shape is (1, 1, 2, 4) instead of (2, 3).",
    ),
    (COUNTED, torch.ones(4), {}, VALUE, "has an axis too few: its shape is (4,) instead of (2, 3)."),
    (CUBE, torch.ones(4), {}, VALUE, "has 2 axes too few: its shape is (4,) instead of (2, 3, 4)."),
    (
        torch.ones(100_001),
        torch.ones(1, 100_001),
        {},
        VALUE,
        "has an axis too many: its shape is (1, 100001) instead of (100001,).",
    ),
    (
        torch.ones(100_000),
        torch.ones(1, 100_000),
        {},
        VALUE,
        "has the right numbers in the wrong shape: (1, 100000) instead of (100000,).",
    ),
    # numbers
    (ONES * 1.001, ONES.half(), {}, VALUE, "is float16, too coarse here; use float32."),
    (
        ONES * 1.01,
        ONES.half(),
        {"any_dtype": True},
        VALUE,
        "is float16, too coarse here; use float32.",
    ),
    (COUNTED + 0.001, COUNTED.bfloat16(), {}, VALUE, "is bfloat16, too coarse here; use float32."),
    (COUNTED, (COUNTED + 1).half(), {}, VALUE, "has the right shape, but none of its 6 numbers is right."),
    (ONES, (ONES * 1.5).half(), {}, VALUE, "has the right shape, but none of its 6 numbers is right."),
    (
        ONES.half(),
        (ONES * 1.01).half(),
        {},
        VALUE,
        "has the right shape, but none of its 6 numbers is right.",
    ),
    (
        EYE,
        torch.tensor([[1.0, 0.0], [0.5, 1.0]]),
        {},
        VALUE,
        "has the right shape, but 3 of 4 numbers are right; the first wrong one is at [1, 0], counted from 0.",
    ),
    (
        torch.tensor(1.0),
        torch.tensor(2.0),
        {},
        VALUE,
        "has the right shape, but its only number is not right.",
    ),
    (
        EYE,
        torch.tensor([[1.0, NAN], [NAN, 1.0]]),
        {},
        VALUE,
        f"has NaN in 2 of 4 cells, first at [0, 1]: {NOT_DEFINED}",
    ),
    (
        torch.tensor([NAN, 1.0]),
        torch.tensor([NAN, NAN]),
        {},
        VALUE,
        f"has NaN in 1 of 2 cells, first at [1]: {NOT_DEFINED}",
    ),
    (
        torch.tensor([NAN, 1.0, 1.0]),
        torch.tensor([0.0, 1.0, 1.0]),
        {},
        VALUE,
        "has the right shape, but 2 of 3 numbers are right; the first wrong one is at [0], counted from 0.",
    ),
    (
        EYE,
        torch.tensor([[1.0, -math.inf], [0.0, 1.0]]),
        {},
        VALUE,
        "is infinite where it should not be, first at [0, 1].",
    ),
    (
        torch.tensor(1.0),
        torch.tensor(math.inf),
        {},
        VALUE,
        "is infinite where it should not be.",
    ),
    (
        torch.tensor([math.inf, 0.0, 0.0]),
        torch.tensor([math.inf, 1.0, 0.0]),
        {},
        VALUE,
        "has the right shape, but 2 of 3 numbers are right; the first wrong one is at [1], counted from 0.",
    ),
    (
        torch.tensor([1000.0, 0.0]),
        torch.tensor([1000.0, 0.011]),
        {},
        VALUE,
        "has the right shape, but 1 of 2 numbers is right; the first wrong one is at [1], counted from 0.",
    ),
    (
        torch.tensor([100.0, math.inf, 0.0]),
        torch.tensor([100.0, math.inf, 0.0011]),
        {},
        VALUE,
        "has the right shape, but 2 of 3 numbers are right; the first wrong one is at [2], counted from 0.",
    ),
    (
        torch.zeros(2),
        torch.tensor([2e-6, 0.0]),
        {},
        VALUE,
        "has the right shape, but 1 of 2 numbers is right; the first wrong one is at [0], counted from 0.",
    ),
    (
        torch.tensor([0.919, 1000.0]),
        torch.tensor([0.9197, 1000.0]),
        {"decimals": 3},
        VALUE,
        "has the right shape, but 1 of 2 numbers is right; the first wrong one is at [0], counted from 0.",
    ),
    (
        torch.tensor([3.0]),
        torch.tensor([3]),
        {},
        VALUE,
        "has the right values, but as int64; float32 is needed.",
    ),
    (
        torch.tensor([1.0]),
        torch.tensor([True]),
        {"any_dtype": True},
        VALUE,
        "has the right values, but as bool; float32 is needed.",
    ),
    (
        torch.tensor([True]),
        torch.tensor([1.0]),
        {"any_dtype": True},
        VALUE,
        "has the right values, but as float32; bool is needed.",
    ),
]

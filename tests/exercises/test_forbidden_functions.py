"""Each function that a task does without is refused by its name; what other tasks do without is taken."""

import numpy as np
import pytest
import torch
from torch import nn
from torch.nn import functional as F

import mha_helpers
from tests.exercises.verdicts import all_exercises

IN_ONE_WAY = """
x.view(-1) x.swapdims(0,1) x.movedim(0,1) x.moveaxis(0,1) x.as_strided((2,),(1,)) x.view_as(x) x.reshape_as(x)
x.unfold(0,1,1) x.adjoint() x.t() x.T x.mT x.H x.mH x.log_softmax(0) x.repeat_interleave(2)
"""
NAMED = {  # the name in the sentence, and ways to call it
    **{call[2:].partition("(")[0]: [call] for call in IN_ONE_WAY.split()},
    "reshape": ["x.reshape(-1)", "np.reshape(x.numpy(), -1)", "x.numpy().reshape(-1)"],
    "unflatten": ["x.unflatten(1, (1, 2))", "nn.Unflatten(1, (1, 2))(x)"],
    "transpose": ["x.transpose(0, 1)", "x.clone().transpose_(0, 1)", "torch.transpose_copy(x, 0, 1)"],
    "permute": ["x.permute(1, 0)", "torch.permute(x, (1, 0))"],
    "einsum": ["torch.einsum('ij->ji', x)"],
    "swapaxes": ["x.swapaxes(0, 1)", "np.swapaxes(x.numpy(), 0, 1)"],
    "split_heads": ["mha_helpers.split_heads(x, 2)"],
    "softmax": ["x.softmax(0)", "F.softmax(x, 0)", "nn.Softmax(0)(x)", "torch.special.softmax(x, 0)"],
    "softmin": ["F.softmin(x, 0)"],
    "exp": ["x.exp()", "x.clone().exp_()"],
    "pow": ["x**2", "x.pow(2)"],
    "rpow": ["2**x"],
    "scaled_dot_product_attention": ["F.scaled_dot_product_attention(x, x, x)"],
    "attention_weights": ["mha_helpers.attention_weights(x)"],
    "weighted_values": ["mha_helpers.weighted_values(x, x)"],
    "multi_head_attention_forward": ["nn.MultiheadAttention(2, 1)(x, x, x)"],
}
HARMLESS = """
x.split(1) x.chunk(2) x.unbind() x.select(0,0) x.narrow(0,0,1) torch.cat([x,x]) torch.stack([x,x]) x.expand(2,2)
x.unsqueeze(0) x.squeeze() x.contiguous() x.clone() x.max() x.sum() x.log() np.split(x.numpy(),2) np.stack([x,x])
"""
EXERCISES = {each.number: each for each in all_exercises().values() if getattr(each, "without", None)}


def calling(call, exercise):
    """Return the solution, which makes this call first, and no use of it."""
    names = {"x": torch.eye(2), "torch": torch, "nn": nn, "F": F, "np": np, "mha_helpers": mha_helpers}

    def answer(*args):
        eval(call, names)
        return exercise.reference(*args)

    def forward(self, *args):
        eval(call, names)
        return exercise.reference.forward(self, *args)

    layer = {"forward": forward}
    return answer if exercise.kind == "function" else type("Mine", (exercise.reference,), layer)


@pytest.mark.parametrize("number", EXERCISES)
def test_a_forbidden_function_is_named_and_others_are_taken(number):
    exercise = EXERCISES[number]
    assert exercise.without <= NAMED.keys() | {*mha_helpers.__all__, "forward"}
    for name, calls in {**NAMED, "": HARMLESS.split()}.items():
        slow = exercise.kind == "forward" or "mha_helpers" in calls[0]  # or calls others in turn
        for call in calls if name in exercise.without or not slow else ():
            verdict = exercise.verdict(calling(call, exercise))
            said = {"rpow": "pow, which is **", "pow": "pow, which is **"}.get(name, name)
            words = f"The result is right, but your code uses {said}, and this task does without it."
            assert verdict.sentence == (words if name in exercise.without else exercise.praise), call

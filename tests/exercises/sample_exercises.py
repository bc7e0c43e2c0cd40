"""Exercises that belong to no notebook, for the tests of how exercises behave."""

from exercise_rules import status
from torch import nn

from mha_helpers import MultiHeadAttention
from mha_helpers.exercises import FunctionExercise, ModuleExercise, ValueExercise, case, numbers

COMMON = {
    "stars": 1,
    "minutes": 2,
    "variable": "answer",
    "praise": "Yes.",
    "hints": ["Look.", "Look again."],
    "solution": "answer = 1",
}


def value(answer, **parts):
    return ValueExercise("7.1", "A value", answer=answer, **COMMON, **parts)


def double(**parts):
    return FunctionExercise(
        "7.1",
        "Double",
        reference=lambda x: 2 * x,
        cases=lambda: [case(numbers(2)), case(numbers(3, 4)), case(numbers(2, 3, 5))],
        **COMMON,
        **parts,
    )


def attention_exercise():
    build = {"d_model": 6, "num_heads": 3}
    return ModuleExercise(
        "7.1",
        "The class",
        reference=MultiHeadAttention,
        cases=lambda: [case(numbers(2, 4, 6), build=build), case(numbers(1, 3, 6), build=build)],
        returns=("output", "weights"),
        **COMMON,
    )


class FourLayers(nn.Module):
    """The layers that each class of the course has; ``forward`` is still to come."""

    def __init__(self, d_model, num_heads):
        super().__init__()
        self.num_heads = num_heads
        self.w_q, self.w_k, self.w_v, self.w_o = (nn.Linear(d_model, d_model) for _ in range(4))

    def cut(self, x):  # (b, n, d_model) -> q, k, v (b, h, n, d_k)
        return (
            w(x).unflatten(-1, (self.num_heads, -1)).transpose(1, 2) for w in (self.w_q, self.w_k, self.w_v)
        )


def told(exercise, answer):
    """Return the sentence that a wrong answer gets."""
    said, sentence = status(exercise, answer)
    assert said == "not yet", f"{said}. {sentence}"
    return sentence

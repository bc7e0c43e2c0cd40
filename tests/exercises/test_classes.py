"""A class as an answer: the words for each way to fail."""

import pytest
import torch
from exercise_rules import status
from sample_exercises import COMMON, attention_exercise, told
from torch import nn

from mha_helpers import MultiHeadAttention, causal_mask
from mha_helpers.exercises import ModuleExercise, case, numbers

pytestmark = pytest.mark.usefixtures("only_these_exercises")


class Started(nn.Module):
    def __init__(self, d_model, num_heads):
        super().__init__()
        self.w_q, self.w_k, self.w_v, self.w_o = (nn.Linear(d_model, d_model) for _ in range(4))

    def forward(self, x, mask=None): ...


class NoOutputLayer(Started):
    def __init__(self, d_model, num_heads):
        super().__init__(d_model, num_heads)
        del self.w_o

    def forward(self, x, mask=None):
        return x, x


class OneHeadWide(Started):
    def __init__(self, d_model, num_heads):
        super().__init__(d_model, num_heads)
        self.w_q = nn.Linear(d_model, d_model // num_heads)

    def forward(self, x, mask=None):
        return x, x


class OutputAlone(MultiHeadAttention):
    def forward(self, x, mask=None):
        return super().forward(x, mask)[0]


class ReturnsNothing(MultiHeadAttention):
    def forward(self, x, mask=None):
        super().forward(x, mask)


class NotALayer(Started):
    def __init__(self, d_model, num_heads):
        super().__init__(d_model, num_heads)
        self.w_k = torch.nn.Identity()

    def forward(self, x, mask=None):
        return x, x


class DotsForALayer(MultiHeadAttention):
    def __init__(self, d_model, num_heads):
        super().__init__(d_model, num_heads)
        del self.w_v
        self.w_v = ...


class WithoutSuper(nn.Module):
    def __init__(self, d_model, num_heads):
        self.w_q = nn.Linear(d_model, d_model)

    def forward(self, x, mask=None):
        return x, x


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        (Started, "__init__ is written; forward is still to come."),
        (NoOutputLayer, "self.w_o is missing: __init__ must make it."),
        (DotsForALayer, "self.w_v is missing: __init__ must make it."),
        (NotALayer, "self.w_k is a module; it must be an nn.Linear."),
        (
            OneHeadWide,
            "self.w_q turns 6 features into 2: how many do all heads together take in, and give out?",
        ),
        (
            OutputAlone,
            "The result is a tensor of shape (2, 4, 6); 2 values (output, weights) are needed.",
        ),
        (ReturnsNothing, "Your forward returns None: is there a `return` on its last line?"),
        (
            MultiHeadAttention(6, 3),
            "Your answer is a module already built; hand over the class by its name alone, without brackets.",
        ),
        (
            lambda x: x,
            "Your answer is a function; hand over the class by its name alone, without quotes or brackets.",
        ),
        (
            "MyAttention",
            "Your answer is text; hand over the class by its name alone, without quotes or brackets.",
        ),
        (dict, "Your class must inherit from nn.Module: class …(nn.Module)."),
    ],
)
def test_what_a_class_lacks_is_said(answer, words):
    assert told(attention_exercise(), answer) == words


def test_a_class_without_super_is_told_where_to_look():
    assert told(attention_exercise(), WithoutSuper).endswith(
        "before Module.__init__() call. super().__init__() must come first in __init__."
        " The line: self.w_q = nn.Linear(d_model, d_model)"
    )


def test_both_classes_get_the_same_weights():
    exercise = attention_exercise()
    seen = {}

    class Watched(MultiHeadAttention):
        def __init__(self, d_model, num_heads):
            super().__init__(d_model, num_heads)

        def forward(self, x, mask=None):
            seen.update({name: value.clone() for name, value in self.named_parameters()})
            return super().forward(x, mask)

    assert status(exercise, Watched)[0] == "correct"
    for name in ("w_q", "w_k", "w_v", "w_o"):
        assert torch.equal(seen[f"{name}.weight"], numbers(6, 6, name=name) / 6**0.5)
        assert torch.equal(seen[f"{name}.bias"], numbers(6, name=f"{name} bias"))


def without_bias(*names):
    class WithoutBias(MultiHeadAttention):
        def __init__(self, d_model, num_heads):
            super().__init__(d_model, num_heads)
            for name in names:
                setattr(self, name, nn.Linear(d_model, d_model, bias=False))

    return WithoutBias


@pytest.mark.parametrize(
    ("names", "words"),
    [
        (["w_k"], "self.w_k has no bias:"),  # softmax takes it out, so every number is right
        (["w_o"], "self.w_o has no bias:"),
        (["w_q", "w_v"], "self.w_q, self.w_v have no bias:"),
    ],
)
def test_a_layer_without_a_bias_is_named(names, words):
    end = " no bias: nn.Linear makes one unless bias=False stands in its brackets."
    sentence = told(attention_exercise(), without_bias(*names))
    assert sentence.startswith(words) and sentence.endswith(end)


def test_no_bias_is_asked_for_where_the_reference_has_none():
    exercise = attention_exercise()
    exercise.reference = without_bias("w_k")
    assert status(exercise, without_bias("w_k"))[0] == "correct"
    assert status(exercise, MultiHeadAttention)[0] == "correct"


@pytest.mark.parametrize(
    "empty",
    [
        type("Empty", (nn.Module,), {}),
        type("NoForward", (nn.Module,), {"__init__": lambda self, d_model, num_heads: None}),
        type("Raises", (MultiHeadAttention,), {"forward": lambda self, x: exec("raise NotImplementedError")}),
    ],
)
def test_a_class_without_a_forward_is_not_attempted(empty):
    words = "Write the class in place of the `...`, then run the cell again."
    assert status(attention_exercise(), empty) == ("not attempted yet", words)


def test_a_class_is_tried_with_masks_and_may_not_change_its_input():
    build = {"d_model": 6, "num_heads": 3}
    exercise = ModuleExercise(
        "7.1",
        "The class",
        reference=MultiHeadAttention,
        cases=lambda: [case(numbers(2, 4, 6), mask=causal_mask(4), build=build)],
        **COMMON,
    )
    assert exercise.heading == "Exercise 7.1 ★ · 2 min · The class"
    assert status(exercise, MultiHeadAttention)[0] == "correct"

    class IgnoresTheMask(MultiHeadAttention):
        def forward(self, x, mask=None):
            return super().forward(x)

    class IgnoresItInTraining(MultiHeadAttention):
        def forward(self, x, mask=None):
            return super().forward(x, None if self.training else mask)

    class ChangesX(MultiHeadAttention):
        def forward(self, x, mask=None):
            result = super().forward(x, mask)
            x.zero_()
            return result

    assert "has the right shape" in told(exercise, IgnoresTheMask)
    assert "and another in training mode" in told(exercise, IgnoresItInTraining)
    assert "your code changes x in place" in told(exercise, ChangesX)


def then(change):
    """Return a class whose forward changes right results."""

    class Changed(MultiHeadAttention):
        def forward(self, x, mask=None):
            return change(self, *super().forward(x, mask))

    return Changed


class WithoutGradient(MultiHeadAttention):
    @torch.no_grad()
    def forward(self, x, mask=None):
        return super().forward(x, mask)


class PlainKeys(MultiHeadAttention):
    """Right numbers, and W_K could never learn."""

    def forward(self, x, mask=None):
        self.w_k.requires_grad_(False)
        return super().forward(x, mask)


class StopsInTraining(MultiHeadAttention):
    def forward(self, x, mask=None):
        if self.training:
            raise ValueError("not yet written")
        return super().forward(x, mask)


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        (
            then(lambda self, output, weights: (nn.functional.dropout(output, 0.5, self.training), weights)),
            "The result is right after .eval(), and another in training mode: is there dropout, or a line that"
            " asks for self.training? This class does without.",
        ),
        (
            then(lambda self, output, weights: (output.detach(), weights)),
            "The result is right, but no gradient reaches self.w_q, self.w_k, self.w_v, self.w_o, so training"
            " would change nothing there: is there a no_grad, a detach or an .item()?",
        ),
        (WithoutGradient, "no gradient reaches self.w_q, self.w_k, self.w_v, self.w_o, so training"),
        (PlainKeys, "no gradient reaches self.w_k, so training"),
        (StopsInTraining, "The result is right, but in training mode it raises ValueError: not yet written."),
    ],
)
def test_a_class_that_cannot_learn_is_not_right(answer, words):
    assert words in told(attention_exercise(), answer)


def test_a_learner_who_has_switched_gradients_off_is_judged_the_same():
    with torch.no_grad():
        assert status(attention_exercise(), MultiHeadAttention)[0] == "correct"

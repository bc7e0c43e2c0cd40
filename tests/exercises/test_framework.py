"""Functions and classes: the words for each way to fail. And manners: Ctrl-C, random numbers, hints, progress."""

import pytest
import torch
from exercise_rules import printed, status
from sample_exercises import COMMON, value
from torch import nn

from mha_helpers import MultiHeadAttention
from mha_helpers.exercises import (
    FunctionExercise,
    ModuleExercise,
    ValueExercise,
    case,
    numbers,
    progress,
)

pytestmark = pytest.mark.usefixtures("only_these_exercises")


def double(**parts):
    return FunctionExercise(
        "7.1",
        "Double",
        reference=lambda x: 2 * x,
        cases=lambda: [case(numbers(2)), case(numbers(3, 4)), case(numbers(2, 3, 5))],
        **COMMON,
        **parts,
    )


def told(exercise, answer):
    said, sentence = status(exercise, answer)
    assert said == "not yet", f"{said}. {sentence}"
    return sentence


# Functions


def test_advice_goes_with_what_was_raised():
    for body, words in {
        "x @ ...": "A `...` is still in the code",
        "x @ torch.ones(9, 9)": "print both with .shape",
        "x.transpose(2, 3)": "count axes from the end",
        "y": "Is the name spelt as above",
        "x(1)": "A value is called like a function",
        "x[9]": "An index ran past the end",
        "x.nothing": "does not have this name",
        "exit()": "would end the session",
        "x.view(5, 7)": "hold as many numbers",
    }.items():
        function = eval(f"lambda x: {body}", {"torch": torch})
        sentence = told(double(), function)
        assert words in sentence and sentence.startswith("With x of shape (2,), it raises"), sentence


def test_what_fails_on_other_inputs_alone_is_said_with_their_shape():
    assert told(double(), lambda x: 2 * x if x.dim() == 1 else x).startswith(
        "Right for the example, wrong for other inputs: with x of shape (3, 4), the result has"
    )
    assert "with x of shape (3, 4), it raises" in told(double(), lambda x: 2 * x * torch.ones(2))
    assert "use the arguments" in told(double(), lambda x: 2 * numbers(2))


def test_a_random_result_is_called_random():
    assert "random" in told(double(), lambda x: 2 * x + torch.rand_like(x))


def test_a_result_without_return_is_told_from_a_stub():
    def forgets(x):
        result = 2 * x  # noqa: F841

    def untouched(x):
        """Double x."""

    assert "return" in told(double(), forgets)
    assert status(double(), untouched)[0] == "not attempted yet"


def test_a_builtin_partial_or_object_is_a_function_too():
    class Doubling:
        def __call__(self, x):
            return x + x

    assert status(double(), Doubling())[0] == "correct"
    assert "is a number" in told(double(), len)


def test_a_function_that_keeps_its_results_does_not_change_them_later():
    buffer = torch.zeros(2)

    def keeps(x):
        buffer.copy_(2 * x) if x.shape == (2,) else None
        return buffer if x.shape == (2,) else 2 * x

    exercise = FunctionExercise(
        "7.1",
        "Double",
        reference=lambda x: 2 * x,
        cases=lambda: [case(torch.ones(2)), case(torch.zeros(2)), case(numbers(2))],
        **COMMON,
    )
    assert status(exercise, keeps)[0] == "correct"


def test_gradients_may_hang_on_the_result():
    layer = torch.tensor(2.0, requires_grad=True)
    assert status(double(), lambda x: layer * x)[0] == "correct"


# Classes


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


class WithoutSuper(nn.Module):
    def __init__(self, d_model, num_heads):
        self.w_q = nn.Linear(d_model, d_model)

    def forward(self, x, mask=None):
        return x, x


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        (Started, "forward is still to come"),
        (NoOutputLayer, "self.w_o is missing"),
        (OneHeadWide, "self.w_q turns 6 features into 2"),
        (OutputAlone, "2 values (output, weights) are needed"),
        (WithoutSuper, "super().__init__() must come first"),
        (MultiHeadAttention(6, 3), "hand over the class"),
        (lambda x: x, "hand over the class"),
        (dict, "inherit from nn.Module"),
    ],
)
def test_what_a_class_lacks_is_said(answer, words):
    assert words in told(attention_exercise(), answer)


def test_dropout_is_switched_off_for_the_check():
    class Dropping(MultiHeadAttention):
        def forward(self, x, mask=None):
            output, weights = super().forward(x, mask)
            return nn.functional.dropout(output, 0.5, self.training), weights

    assert status(attention_exercise(), Dropping)[0] == "correct"


# Manners


def test_ctrl_c_gets_through():
    def interrupted(x):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        double().check(interrupted)


def test_two_answers_at_once_are_too_many():
    assert "one answer: check(answer)" in printed(value(1), 1, 1)


def test_a_check_leaves_random_numbers_as_they_were():
    torch.manual_seed(3)
    expected = torch.rand(2)
    torch.manual_seed(3)
    printed(attention_exercise(), MultiHeadAttention)
    printed(double(), lambda x: torch.rand_like(x))
    assert torch.equal(torch.rand(2), expected)


def test_hints_come_one_at_a_time_and_the_solution_is_code(capsys):
    exercise = value(1)
    for _ in range(3):
        exercise.hint()
    exercise.solution()
    assert capsys.readouterr().out.splitlines() == [
        "Exercise 7.1, hint 1 of 2: Look.",
        "Exercise 7.1, hint 2 of 2: Look again.",
        "Exercise 7.1: there are no more hints. .solution() shows the code.",
        "answer = 1",
    ]


def test_progress_counts_what_is_done(capsys):
    progress()
    assert "No exercises opened yet" in capsys.readouterr().out
    first = value(1)
    second = ValueExercise("7.10", "Later", answer=2, **COMMON)
    progress()
    assert "A good first one: Exercise 7.1 ★ · 2 min · A value." in capsys.readouterr().out
    first.check(0)
    first.check(1)
    first.check(0)  # done stays done
    capsys.readouterr()
    progress()
    assert "1 of 2 done: 7.1. Open: 7.10 (2 min)." in capsys.readouterr().out
    second.check(2)
    capsys.readouterr()
    progress()
    assert "All 2 exercises done: 7.1, 7.10." in capsys.readouterr().out

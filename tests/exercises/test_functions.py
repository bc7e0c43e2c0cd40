"""A function as an answer: the words for each way to fail."""

import pytest
import torch
from exercise_rules import status
from sample_exercises import COMMON, double, told
from torch import nn

from mha_helpers.exercises import FunctionExercise, Mistake, case, numbers

pytestmark = pytest.mark.usefixtures("only_these_exercises")


def test_advice_goes_with_what_was_raised():
    for body, words in {
        "x @ ...": "A `...` is still in the code",
        "x @ torch.ones(9, 9)": "print both with .shape",
        "x.transpose(2, 3)": "count axes from the end",
        "y": "Is the name spelt as above",
        "x(1)": "A value is called like a function",
        "x[9]": "An index ran past the end",
        "x.nothing": "has no such name",
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
    assert told(double(), lambda x: 2 * numbers(2)) == (
        "Right for the example, but every input gives that same result: use the arguments."
    )
    assert told(double(), lambda x: x if x.dim() == 2 else 2 * numbers(2)).startswith(
        "Right for the example, wrong for other inputs: with x of shape (3, 4), the result has"
    )
    assert "is still `...`" in told(double(), lambda x: 2 * x if x.dim() == 1 else ...)


def test_the_first_input_decides_how_a_function_is_called():
    exercise = FunctionExercise(
        "7.1",
        "Shift",
        reference=lambda x, by=0: x + by,
        cases=lambda: [case(numbers(2)), case(numbers(3), by=1)],
        **COMMON,
    )
    assert told(exercise, lambda x: x).startswith(
        "Right for the example, wrong for other inputs: with x of shape (3,) and by = 1, it raises TypeError:"
    )


def test_a_random_result_is_called_random():
    assert told(double(), lambda x: 2 * x + torch.rand_like(x)) == (
        "Two calls with the same input differ: what is random, or kept from call to call, in your function?"
    )


def test_a_changed_argument_is_named():
    two = FunctionExercise(
        "7.1",
        "Add",
        reference=lambda a, b: a + b,
        cases=lambda: [case(numbers(2), numbers(2, name="b")), case(numbers(3), numbers(3, name="b"))],
        **COMMON,
    )
    assert told(two, lambda a, b: a.add_(b)) == (
        "The result is right, but your code changes a in place: the caller then finds other numbers there."
    )

    def both(b_first, second):
        second += b_first
        b_first.zero_()
        return second

    assert told(two, both) == (
        "The result is right, but your code changes a and b in place: the caller then finds other numbers"
        " there."
    )
    assert told(two, lambda a, b: a.mul_(b)) == (
        "The result has the right shape, but none of its 2 numbers is right. Besides, your code changes a in"
        " place: the caller then finds other numbers there."
    )


def test_what_is_no_function_is_named():
    by_name = "hand over the function by its name, without brackets after it: check(answer)."
    assert told(double(), torch.ones(2)) == f"Your answer is a tensor of shape (2,); {by_name}"
    assert told(double(), nn.ReLU) == f"Your answer is a class; {by_name}"
    assert told(double(), nn.ReLU()) == (
        "Your answer is a module; a function is asked for: hand over its .forward."
    )
    assert told(double(), lambda: 1) == "Your function takes 0 arguments (); it is called with (x)."
    assert told(double(), lambda x, y: 1) == "Your function takes 2 arguments (x, y); it is called with (x)."


def test_a_mistake_counts_where_the_answer_gives_values():
    wrong = Mistake("triple", lambda x: 3 * x, "That is three times x.")
    exercise = double(mistakes=[wrong])
    assert told(exercise, lambda x: 3 * x) == wrong.sentence
    assert told(exercise, lambda x: 3 * x if x.dim() == 1 else x.nothing) == wrong.sentence
    assert told(exercise, lambda x: 3 * x if x.dim() == 1 else 2 * x).startswith("The result has the right")
    assert "it raises AttributeError" in told(exercise, lambda x: x.nothing)
    later = double(mistakes=[Mistake("later", lambda x: 2 * x if x.dim() == 1 else 3 * x, "Later.")])
    assert "it raises" in told(later, lambda x: 2 * x if x.dim() == 1 else x.nothing)


def test_a_mistake_may_be_an_error_or_another_kind_of_value():
    exercise = double(
        mistakes=[
            Mistake("nine", lambda x: x @ torch.ones(9, 9), "That has nine rows."),
            Mistake("three", lambda x: 3, "That is three."),
        ]
    )
    assert told(exercise, lambda x: x @ torch.ones(9, 9)) == "That has nine rows."
    assert "it raises RuntimeError" in told(exercise, lambda x: x @ torch.ones(8, 8))
    assert "it raises AttributeError" in told(exercise, lambda x: x.nothing)
    assert told(exercise, lambda x: 3.0) == "That is three."
    too_large = told(exercise, lambda x: 10**400)
    assert too_large.startswith("The result is a number; a torch tensor is needed")
    assert "it raises" in told(exercise, lambda x: 2 * x if x.dim() == 1 else x.nothing)


def test_the_wrong_kind_of_result_goes_first():
    assert told(double(), lambda x: x if x.dim() == 1 else x.tolist()) == (
        "The result is a list; a torch tensor is needed. torch.tensor(…) converts it."
    )


def test_a_result_without_return_is_told_from_a_stub():
    def forgets(x):
        result = 2 * x  # noqa: F841

    def untouched(x):
        """Double x."""

    def to_do(x):
        raise NotImplementedError

    assert told(double(), forgets) == ("Your function returns None: is there a `return` on its last line?")
    words = "Write the body in place of the `...`, then run the cell again."
    assert status(double(), untouched) == status(double(), to_do) == ("not attempted yet", words)


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

"""Functions and classes: the words for each way to fail. And manners: Ctrl-C, random numbers, hints, progress."""

import pytest
import torch
from exercise_rules import printed, status
from sample_exercises import COMMON, value
from torch import nn

from mha_helpers import MultiHeadAttention
from mha_helpers.exercises import (
    FunctionExercise,
    Mistake,
    ModuleExercise,
    ValueExercise,
    case,
    framework,
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
    assert told(double(), lambda x: 2 * x + torch.rand_like(x)) == (
        "Two calls with the same input differ: what is random, or kept, in your function?"
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
    assert told(double(), nn.ReLU()) == f"Your answer is a module; {by_name}"
    assert told(double(), lambda: 1) == "Your function takes 0 arguments (); it is called with (x)."
    assert told(double(), lambda x, y: 1) == "Your function takes 2 arguments (x, y); it is called with (x)."


def test_a_mistake_counts_where_the_answer_gives_values():
    wrong = Mistake("triple", lambda x: 3 * x, "That is three times x.")
    exercise = double(mistakes=[wrong])
    assert told(exercise, lambda x: 3 * x) == wrong.sentence
    assert told(exercise, lambda x: 3 * x if x.dim() == 1 else x.nothing) == wrong.sentence
    assert told(exercise, lambda x: 3 * x if x.dim() == 1 else 2 * x).startswith("The result has the right")
    assert "it raises AttributeError" in told(exercise, lambda x: x.nothing)
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

    assert told(double(), forgets) == ("Your function returns None: is there a `return` on its last line?")
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
            "Your answer is a module already built; hand over the class: check(answer).",
        ),
        (lambda x: x, "Your answer is a function; hand over the class by its name: check(answer)."),
        (dict, "Your class must inherit from nn.Module: class …(nn.Module)."),
    ],
)
def test_what_a_class_lacks_is_said(answer, words):
    assert told(attention_exercise(), answer) == words


def test_a_class_without_super_is_told_where_to_look():
    assert told(attention_exercise(), WithoutSuper).endswith(
        "before Module.__init__() call. super().__init__() must come first in __init__."
    )


@pytest.mark.parametrize("bias", [True, False])
def test_both_classes_get_the_same_weights(bias):
    exercise = attention_exercise()
    seen = {}

    class Watched(MultiHeadAttention):
        def __init__(self, d_model, num_heads):
            super().__init__(d_model, num_heads, bias=bias)

        def forward(self, x, mask=None):
            seen.update({name: value.clone() for name, value in self.named_parameters()})
            return super().forward(x, mask)

    said = status(exercise, Watched)[0]
    assert said == ("correct" if bias else "not yet")
    for name in ("w_q", "w_k", "w_v", "w_o"):
        assert torch.equal(seen[f"{name}.weight"], numbers(6, 6, name=name) / 6**0.5)
        if bias:
            assert torch.equal(seen[f"{name}.bias"], numbers(6, name=f"{name} bias"))


@pytest.mark.parametrize(
    "empty",
    [
        type("Empty", (nn.Module,), {}),
        type("NoForward", (nn.Module,), {"__init__": lambda self, d_model, num_heads: None}),
        type("Raises", (MultiHeadAttention,), {"forward": lambda self, x: exec("raise NotImplementedError")}),
    ],
)
def test_a_class_without_a_forward_is_not_attempted(empty):
    assert status(attention_exercise(), empty)[0] == "not attempted yet"


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
    def said():
        capsys.readouterr()
        progress()
        return capsys.readouterr().out

    assert said() == "No exercises opened yet. Each notebook has at least three, near its end.\n"
    hard = {**COMMON, "stars": 2, "minutes": 1}
    exercises = {
        "7.10": ValueExercise("7.10", "Later", answer=2, **{**COMMON, "minutes": 1}),
        "10.1": ValueExercise("10.1", "Much later", answer=2, **hard),
        "7.2": ValueExercise("7.2", "Hard", answer=2, **hard),
        "7.1": value(1),
    }
    assert said() == "4 exercises wait for you. A good first one: Exercise 7.10 ★ · 1 min · Later.\n"
    exercises["7.1"].check(0)
    exercises["7.1"].check(1)
    exercises["7.1"].check(0)  # done stays done
    exercises["7.10"].check(2)
    assert said() == "Well on the way, 2 of 4 done: 7.1, 7.10. Open: 7.2 (1 min), 10.1 (1 min).\n"
    exercises["7.2"].check(2)
    exercises["10.1"].check(2)
    assert said() == (
        "All 4 exercises done: 7.1, 7.2, 7.10, 10.1. Now explain these steps to somebody else.\n"
    )


def test_an_exercise_shows_its_heading_and_what_it_can_do():
    exercise = ValueExercise("7.1", "A value", answer=1, **{**COMMON, "stars": 3})
    assert exercise.heading == "Exercise 7.1 ★★★ · 2 min · A value"
    assert repr(exercise) == "<Exercise 7.1 ★★★ · 2 min · A value: .check(…), .hint(), .solution()>"


def test_a_check_prints_one_line():
    exercise = value(1)
    assert not exercise.done
    assert printed(exercise) == (
        "Exercise 7.1: not attempted yet. Replace the `...` by your answer, then run the cell again.\n"
    )
    assert printed(exercise, 1) == "Exercise 7.1: correct. Yes.\n"
    assert printed(exercise, 1, 2) == "Exercise 7.1: not yet. Hand over one answer: check(answer).\n"
    assert printed(double(), ...) == (
        "Exercise 7.1: not attempted yet. Write the body in place of the `...`, then run the cell again.\n"
    )
    assert printed(attention_exercise(), None) == (
        "Exercise 7.1: not attempted yet. Write the class in place of the `...`, then run the cell again.\n"
    )


def test_an_answer_whose_own_methods_raise_is_named():
    class Refusing:
        @property
        def __class__(self):
            raise SystemExit

    assert told(value(1), Refusing()) == (
        "Your answer could not be read: it is of type Refusing, and using it raised SystemExit."
    )


@pytest.mark.parametrize("stub", [..., None, [...], (..., ...), {"a": ...}, {"a": ..., "b": ...}])
def test_a_stub_is_untouched(stub):
    assert framework.untouched(stub)


@pytest.mark.parametrize("begun", [0, False, "", [], (), {}, [..., 1], (1, ...), {"a": ..., "b": 1}, {...}])
def test_what_was_begun_is_not_untouched(begun):
    assert not framework.untouched(begun)


def test_one_line_is_short_and_the_same_in_every_run():
    assert framework.one_line("a\n  b\t<x at 0x7fF09a> c") == "a b <x> c"
    assert framework.one_line("a" * 400) == "a" * 400
    assert framework.one_line("a" * 401) == "a" * 399 + "…"
    assert framework.one_line("a" * 9, longest=8) == "a" * 7 + "…"
    assert framework.one_line("a" * 8, longest=8) == "a" * 8

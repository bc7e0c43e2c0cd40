"""How a learner's function is run, and how what happened is put into words."""

import functools
import math

import pytest
import torch

from mha_helpers.attention import attention_scores
from mha_helpers.exercises.running import (
    AnswerError,
    Outcome,
    argument_problem,
    case,
    describe,
    explain,
    is_stub,
    numbers,
    run,
)

X = torch.tensor([1.0, 2.0, math.nan])


def test_a_case_holds_what_the_function_and_the_class_are_given():
    made = case(1, 2, build={"d_model": 6}, mask=3)
    assert (made.args, made.kwargs, made.build) == ((1, 2), {"mask": 3}, {"d_model": 6})
    assert case(1).build == {}


def test_numbers_are_fixed_and_differ_by_name_and_shape():
    drawn = numbers(2, 3, 40)
    assert drawn.shape == (2, 3, 40) and torch.equal(drawn, numbers(2, 3, 40))
    assert not torch.equal(drawn, numbers(2, 3, 40, name="q"))
    assert not torch.equal(drawn.flatten(), numbers(240))
    assert abs(drawn.mean()) < 0.1 and 0.9 < drawn.std() < 1.1
    assert torch.equal(numbers(4), numbers(4, name="exercise"))


class Named:
    """A function of an exercise, with a name that tells what it does."""

    def __init__(self, name):
        self.name = name

    def __call__(self): ...


class Mute(Exception):
    def __str__(self):
        raise RuntimeError


# Running


def test_a_call_gets_copies_and_its_value_is_kept():
    kept = []

    def spoils(x, table, mask):
        kept.append(x)
        x += 1
        table["k"][0] = 9
        return x

    table = {"k": [1, 2]}
    outcome = run(spoils, case(X, table, mask=torch.tensor(True)), ["x", "table", "mask"])
    assert outcome.error is None and outcome.changed == ("x", "table")
    assert X[0] == 1 and table == {"k": [1, 2]}
    kept[0].zero_()
    assert outcome.value[:2].tolist() == [2, 3], "the value must not change with what the function keeps"


def test_an_argument_by_name_may_change_too():
    outcome = run(lambda x, mask: mask.zero_(), case(X, mask=torch.ones(2)), ["x", "mask"])
    assert outcome.changed == ("mask",)


@pytest.mark.parametrize(
    ("before", "change"),
    [
        (X, lambda value: value.mul_(2)),
        (X, lambda value: value.resize_(2)),
        ([1, 2], lambda value: value.append(3)),
        ([1, 2], lambda value: value.__setitem__(1, 5)),
        ([X], lambda value: value[0].zero_()),
        ({"a": 1}, lambda value: value.update(a=2)),
        ({"a": 1}, lambda value: value.update(b=2)),
        ({1, 2}, lambda value: value.add(3)),
    ],
)
def test_every_kind_of_change_is_seen(before, change):
    assert run(change, case(before), ["x"]).changed == ("x",)


@pytest.mark.parametrize("value", [X, [X, 1], (1, "a"), {"a": X}, {1}, "text", 2.5, math.sqrt, Mute()])
def test_what_was_left_alone_counts_as_unchanged(value):
    assert run(lambda x: 1, case(value), ["x"]).changed == ()


@pytest.mark.parametrize("wrap", [lambda x: [x], lambda x: (1, x), lambda x: {"a": {"b": x}}])
def test_the_value_is_kept_inside_lists_and_dicts_too(wrap):
    buffer = torch.ones(2)
    value = run(lambda: wrap(buffer), case()).value
    buffer.zero_()
    assert type(value) is type(wrap(buffer)) and str(value) == str(wrap(torch.ones(2)))


def test_a_value_that_cannot_be_copied_well_is_handed_on_as_it_is():
    for value in (torch.ones(2, device="meta"), torch.eye(2).to_sparse(), torch.zeros(1_000_001)):
        assert run(lambda value=value: value, case()).value is value
    large = torch.zeros(1_000_000)
    assert run(lambda: large, case()).value is not large
    assert not run(lambda: torch.ones(2, requires_grad=True), case()).value.requires_grad


def test_errors_are_caught_without_their_trace():
    for error in (ValueError("wrong"), SystemExit(3), GeneratorExit()):

        def fails(error=error):
            raise error

        outcome = run(fails, case())
        assert outcome.error is error and error.__traceback__ is None and outcome.value is None

    def interrupted():
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run(interrupted, case())


# Words


@pytest.mark.parametrize(
    ("inputs", "names", "words"),
    [
        (case(X), ["q"], "q of shape (3,)"),
        (case(X, X[:2]), ["q", "k"], "q of shape (3,) and k of shape (2,)"),
        (case(X, 3, d_k=2), ["q", "n"], "q of shape (3,), n = 3 and d_k = 2"),
        (case(X, build={"h": 2}), ["x"], "h = 2 and x of shape (3,)"),
        (case(X, 1, build={"d": 6, "h": 2}), ["x", "n"], "d = 6, h = 2, x of shape (3,) and n = 1"),
        (case(len), ["split"], "split = len"),
        (case(functools.partial(len)), ["split"], "split = a function"),
        (case(Named("upside down")), ["split"], "split = upside down"),
        (case("a" * 300), ["text"], "text = " + "a" * 192 + "…"),
    ],
)
def test_inputs_are_described(inputs, names, words):
    assert describe(inputs, names) == words


NOTHING_KNOWN = [
    (ValueError("odd"), "it raises ValueError: odd."),
    (ValueError("odd."), "it raises ValueError: odd."),
    (ValueError("no X"), "it raises ValueError: no X."),
    (ValueError(), "it raises ValueError."),
    (Mute(), "it raises Mute."),
    (ValueError("a" * 200), "it raises ValueError: " + "a" * 159 + "…."),
    (SystemExit(), "it raises SystemExit. exit() or quit() would end the session: leave it out."),
    (
        SystemExit("not callable"),
        "it raises SystemExit: not callable. exit() or quit() would end the session: leave it out.",
    ),
]


@pytest.mark.parametrize(("error", "words"), NOTHING_KNOWN)
def test_an_error_is_put_into_words(error, words):
    assert explain(Outcome(error=error)) == words


SHAPES = "The shapes do not fit: print both with .shape"
FEW_AXES = "The tensor has fewer axes than that"
INNER_SIZES = f"{SHAPES}. The two inner sizes must be equal."
WHOLE_SIZE = (
    "A size must be a whole number: // in place of / keeps it one. A whole .shape is several: take one of them,"
    " as in .shape[0]."
)
ONE_NUMBER = (
    "One number is needed there, not a tensor of several: for whole tensors torch has functions of its own, and"
    " torch.stack makes one tensor of a list of tensors."
)
KNOWN = [
    (lambda x: x + ..., "A `...` is still in the code: put something in its place."),
    (
        lambda x: x.T.view(6),
        "view needs numbers that lie in memory in the order of the axes, and after a transpose or a slice they"
        " do not; reshape copies them first. (To turn axes round, neither will do.)",
    ),
    (lambda x: x[: len(x) / 2], WHOLE_SIZE),
    (lambda x: [row for row in range(x.shape)], WHOLE_SIZE),
    (lambda x: x[len(x) / 2], "An index must be a whole number: // in place of / keeps it one."),
    (
        lambda x: x.tolist()[2],
        "The list has fewer entries than that: print its len(). Does a loop run one too far?",
    ),
    (lambda x: [].__setitem__(0, x), "The list has fewer entries than that: append adds one at its end."),
    (lambda x: x[0, 0][0], "That is a single number already: there is an index too many."),
    (
        lambda x: not x,
        "One True or False is needed there, and a tensor holds many: torch.equal or torch.allclose compares"
        " two, ~ turns a mask round, `is not None` asks whether there is one.",
    ),
    (lambda x: x.reshape(7), "The new shape must hold as many numbers as the old one."),
    (lambda x: x.transpose(1, 2), f"{FEW_AXES}: count axes from the end, -1 and -2."),
    (lambda x: x[0, 0, 0], f"{FEW_AXES}: does your code fix the number of axes?"),
    (lambda x: x[5], "An index ran past the end: print the .shape, and compare it with your loop."),
    (lambda x: x @ x.long().T, "Two kinds of number meet: print the .dtype of both."),
    (lambda x: x @ x, f"{SHAPES}. The two inner sizes must be equal."),
    (lambda x: x + torch.ones(5), f"{SHAPES} before that line."),
    (lambda x: torch.stack([x, x.T]), "The shapes do not fit: print each with .shape."),
    (
        lambda x: x.shape(),
        "A value is called like a function: look for brackets too many, or a name used twice.",
    ),
    (
        lambda x: y,  # noqa: F821
        "Is the name spelt as above? Did you run the cell that makes or imports it? In a class, is self."
        " missing?",
    ),
    (lambda x: torch.tensor([x[0], x[1]]), ONE_NUMBER),
    (lambda x: x.item(), ONE_NUMBER),
    (lambda x: float(x), ONE_NUMBER),
    (lambda x: math.sqrt(x), ONE_NUMBER),
    (
        lambda x: range(x.long()),
        "A single whole number is needed there, not a whole tensor. (torch.stack, not torch.tensor, makes one"
        " tensor of a list of tensors.)",
    ),
    (
        lambda x: x[x[0]],
        "An index must be a whole number. A loop through a tensor gives its rows, not their numbers:"
        " range(len(…)) gives these.",
    ),
    (lambda x: x @ x[:, 0], INNER_SIZES),
    (lambda x: x[0] @ x[:, 0], INNER_SIZES),
    (
        lambda x: torch.stack([[x[0]], [x[1]]]),
        "torch.stack takes a list of tensors, and this list holds lists: torch.tensor makes one of each.",
    ),
    (lambda x: x[0].clone().add_(x), "+= keeps the shape on its left: a = a + b may grow."),
    (
        lambda x: torch.mm(x[0], x),
        "mm and addmm take two axes alone; @ and torch.matmul take axes in front as well.",
    ),
    (
        lambda x: x.nothing,
        "That object has no such name: print its type(). In a class: is self the first argument, and does"
        " __init__ make self.…?",
    ),
]


@pytest.mark.parametrize(("function", "cause"), KNOWN)
def test_a_usual_error_is_told_with_its_usual_cause(function, cause):
    outcome = run(function, case(torch.ones(2, 3)))
    outcome.line = ""
    kind = type(outcome.error).__name__
    assert explain(outcome).startswith(f"it raises {kind}: ") and explain(outcome).endswith(f". {cause}")


def through_a_helper(q):
    scores = attention_scores(q, q[:, :1])  # raises within the course's own module
    return scores


def through_torch(q):
    return torch.nn.Linear(2, 2)(
        q,
    )


def test_the_line_of_the_learner_is_named():
    for function, line in (
        (through_a_helper, "scores = attention_scores("),
        (with_a_long_line, "return q @ q if"),
    ):
        outcome = run(function, case(torch.ones(2, 3)))
        assert outcome.line.startswith(line) and explain(outcome).endswith(f" The line: {outcome.line}")
        assert outcome.error.__traceback__ is None
    assert run(through_torch, case(torch.ones(2, 3))).line.startswith("return torch.nn.Linear(2, 2)(")
    exec("def unseen(q):\n    return q @ q", names := {})
    outcome = run(names["unseen"], case(torch.ones(2, 3)))  # its code stands in no file
    assert outcome.line == "" and "The line" not in explain(outcome)


def with_a_long_line(q):
    return q @ q if "a rather long condition" else "and words that go on until nobody reads them any more"


def test_a_long_line_is_cut():
    line = run(with_a_long_line, case(torch.ones(2, 3))).line
    assert len(line) == 90 and line.endswith("…")


# Stubs


def empty(x): ...


def documented(x):
    """Return something."""


def returns_dots(x):
    return ...


def returns_none_twice(x):
    return None, None


def keeps_dots(x):
    result = ...
    return result


def returns_a_number(x):
    return 1


def reads(x):
    x  # noqa: B018


def writes(x):
    x = 1  # noqa: F841


def makes_another(x):
    y = 2  # noqa: F841


def calls(x):
    print()


@pytest.mark.parametrize(
    "stub", [empty, documented, returns_dots, returns_none_twice, keeps_dots, lambda: None]
)
def test_a_stub_is_known(stub):
    assert is_stub(stub)


class Coded:
    __code__ = "text"


@pytest.mark.parametrize(
    "begun", [returns_a_number, reads, writes, makes_another, calls, len, 3, Coded(), lambda x: (None, 1)]
)
def test_what_was_begun_is_no_stub(begun):
    assert not is_stub(begun)


# Arguments


@pytest.mark.parametrize(
    ("function", "inputs", "words"),
    [
        (lambda: 1, case(X), "Your function takes 0 arguments (); it is called with (q)."),
        (lambda a: 1, case(X, X), "Your function takes 1 argument (a); it is called with (q, k)."),
        (
            lambda a, b, c: 1,
            case(X, mask=1),
            "Your function takes 3 arguments (a, b, c); it is called with (q, mask=…).",
        ),
        (lambda a: 1, case(X, mask=1), "Your function takes 1 argument (a); it is called with (q, mask=…)."),
        (
            lambda a, m: 1,
            case(X, mask=1),
            "Your function takes 2 arguments (a, m); it is called with (q, mask=…): keep these names.",
        ),
        (lambda a, mask: 1, case(X, mask=1), None),
        (lambda a: 1, case(X), None),
        (lambda a, b=2: 1, case(X), None),
        (lambda *many: 1, case(X, X), None),
        (dict.fromkeys, case(X, X), None),
        (min, case(X), None),
    ],
)
def test_a_function_that_cannot_be_called_is_told_what_it_is_called_with(function, inputs, words):
    assert argument_problem(function, inputs, ["q", "k", "v"]) == words


def test_an_answer_error_is_told_apart():
    def fails():
        raise AnswerError("This is missing.")

    outcome = run(fails, case())
    assert isinstance(outcome.error, AnswerError) and outcome.message == "This is missing."

"""What the engine promises to learners, whatever the exercise."""

import random

import numpy as np
import pytest
import torch
from test_every_exercise import made_by
from torch import nn

from mha_helpers.exercises import (
    FunctionExercise,
    ModuleExercise,
    TestExercise,
    ValueExercise,
    case,
    engine,
    numbers,
)
from mha_helpers.exercises.compare import difference
from mha_helpers.exercises.engine import CORRECT, NOT_ATTEMPTED, NOT_YET

TABLE = torch.tensor([[0.7, 0.2, 0.1], [0.1, 0.3, 0.6], [0.25, 0.5, 0.25]])
WORDS = {"stars": 1, "minutes": 1, "task": "…", "praise": "Good.", "hints": ["One.", "Two."], "solution": "…"}


@pytest.fixture(autouse=True)
def own_registry(monkeypatch):
    monkeypatch.setattr(engine, "_registry", {})


def value(right, **rest):
    return ValueExercise("1.1", "A value", right=right, stub="answer = ...", **WORDS, **rest)


def softmax(x):
    return torch.softmax(x, dim=-1)


def function(reference=softmax, cases=None, **rest):
    cases = cases or (lambda: [case(numbers(2, 3)), case(numbers(3, 4, 5, seed=1))])
    stub = rest.pop("stub", "def mine(x):\n    ...")
    return FunctionExercise("1.2", "A function", reference=reference, cases=cases, stub=stub, **WORDS, **rest)


def said(exercise, answer):
    verdict = exercise.verdict(answer)
    assert verdict.status == NOT_YET, verdict
    return verdict.sentence


# The comparison


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        (TABLE.T, "transposed"),
        (3 * TABLE, "factor: every number is 3 times the right one"),
        (TABLE + 1, "shifted: 1 was added"),
        (-TABLE, "the sign"),
        (TABLE.exp(), "e to the power"),
        (TABLE.log() + TABLE[:, :1], "would be right after a softmax"),
        (TABLE.softmax(-1), "is the softmax of what is asked for"),
        (TABLE.square(), "squares"),
        ((TABLE * 10).round() / 10, "rounded to 1 decimal"),
        (TABLE[[1, 0, 2]], "right numbers at other places, first at [0, 0]"),
        (TABLE[None], "one axis more, axis 0 of size 1"),
        (TABLE[0], "lacks one axis, axis 0 of size 3"),
        (TABLE[:, :2], "has 2 entries along axis 1, and 3 are needed"),
        (TABLE.flatten(), "right numbers in another shape"),
        (softmax(TABLE.log() * 2), "none of its 9 numbers is right"),
        (TABLE / 0, "infinite where it should not be"),
        (TABLE * torch.nan, "is NaN"),
        (TABLE * TABLE[:, :1], "rows that are right but for their sum"),
        (softmax(numbers(3, 3).T).T, "adds up to 1 along each column"),
        (softmax(numbers(9)).view(3, 3), "adds up to 1 in all its cells together"),
        (TABLE + torch.eye(3), "has 6 of 9 numbers right. The wrong ones begin, first at [0, 0]"),
        ("abc", "is text"),
        (torch.ones, "is a function"),
        (1.0, "is a number; 9 numbers are needed"),
        ([[1, 2], [3]], "is a list"),
    ],
)
def test_the_sentence_says_how_the_numbers_differ(answer, words):
    assert words in said(value(TABLE), answer)


def test_axes_that_are_swapped_are_named():
    right = numbers(2, 3, 3)
    assert "transposed" in difference(right.mT, right)
    assert "order of its axes" in difference(right.permute(1, 0, 2), right)
    assert "axes 0 and 1 swapped" in difference(numbers(2, 2, 3).transpose(0, 1), numbers(2, 2, 3))


def test_a_mask_the_wrong_way_round_is_named():
    mask = torch.ones(3, 3).tril().bool()
    assert "exact opposite" in difference(~mask, mask, tensor=True)
    assert "torch.bool is needed" in difference(mask.float(), mask, tensor=True)


@pytest.mark.parametrize(
    "answer", [TABLE.tolist(), TABLE.numpy(), tuple(TABLE), TABLE.double(), np.float32(TABLE.tolist())]
)
def test_any_way_to_write_the_numbers_is_right_where_no_tensor_is_asked_for(answer):
    assert value(TABLE).verdict(answer).status == CORRECT


def test_a_tensor_is_asked_for_where_the_task_does():
    assert "a torch tensor is needed" in said(value(TABLE, tensor=True), TABLE.tolist())


def test_numbers_rounded_as_asked_are_right_and_others_are_told_to_be_rounded():
    exercise = value([0.919, 0.027, 0.054], decimals=2)
    assert exercise.verdict([0.92, 0.03, 0.05]).status == CORRECT
    assert "rounded to 1 decimal: give 2" in said(exercise, [0.9, 0.0, 0.1])


@pytest.mark.parametrize("wrong", [524287, 524289, 524288.5, True, "524288"])
def test_a_count_is_right_or_wrong_however_large(wrong):
    assert value(524288).verdict(524288.0).status == CORRECT
    said(value(524288), wrong)


def test_a_single_number_is_called_too_small_or_too_large_and_not_betrayed_by_a_factor():
    assert said(value(0.5, decimals=2), 0.25) == "Your answer is not right: it is too small."


def test_the_right_answer_is_never_printed():
    for wrong in (1.5, [1, 2], "no", None, {"a": 1}, torch.zeros(3)):
        assert "7.125" not in value(7.125).verdict(wrong).sentence


def test_entries_of_a_dict_are_reported_one_by_one():
    exercise = value(
        {"scores": (2, 3), "output": (2, 6), "kind": "self"},
        mistakes=[({"output": (2, 3)}, "As wide as what?")],
    )
    assert (
        said(exercise, {"scores": (2, 3), "output": (2, 3), "kind": "Self"})
        == "“scores”, “kind”: right. As wide as what?"
    )
    assert "“scores”: right. “output” is still `...`" in said(
        exercise, {"scores": (2, 3), "output": ..., "kind": "x"}
    )
    assert "a dict with 'scores'" in said(exercise, (2, 3))


def test_values_of_a_tuple_are_reported_by_name_and_in_order():
    exercise = function(lambda x: (x.sum(), softmax(x)), returns=("total", "weights"))
    assert "“total”: right. “weights”" in said(exercise, lambda x: (x.sum(), x))
    assert "another order: total, weights" in said(exercise, lambda x: (softmax(x), x.sum()))
    assert "total, weights needed" in said(exercise, lambda x: (x.sum(),))


def test_choices_take_any_spelling_and_count_what_is_missing():
    assert value("flatter").verdict(" 'Flatter'. ").status == CORRECT
    exercise = value({"A", "C"})
    for answer in ({"c", "a"}, ["A", "C"], "A, C"):
        assert exercise.verdict(answer).status == CORRECT
    assert "1 right choice, lacks 1, and has 1 that do not belong" in said(exercise, {"A", "B"})


def test_true_is_not_one():
    assert value(True).verdict(torch.tensor(True)).status == CORRECT
    assert "True or False is needed" in said(value(True), 1)


# Functions


def test_the_first_input_that_fails_chooses_the_mistakes():
    def cases():
        return [
            case(numbers(2, 3), label="with a small table"),
            case(
                1000 * numbers(3, 4), label="with large scores", mistakes=[(no_maximum, "Too large for exp.")]
            ),
        ]

    def no_maximum(x):
        return x.exp() / x.exp().sum(-1, keepdim=True)

    def both(x):
        return no_maximum(x) * 2

    exercise = function(cases=cases, mistakes=[(both, "Twice.")])
    assert said(exercise, no_maximum) == "Too large for exp."
    assert said(exercise, both) == "Twice."
    assert said(exercise, lambda x: softmax(x) if x.shape[0] == 2 else x).startswith(
        "With large scores: the result"
    )


def test_of_two_mistakes_alike_on_one_input_the_one_alike_on_more_is_named():
    def by_queries(x):
        return torch.softmax(x, dim=-2)

    def by_first_axis(x):
        return torch.softmax(x, dim=0)

    exercise = function(mistakes=[(by_first_axis, "Axis 0."), (by_queries, "Columns.")])
    assert said(exercise, by_queries) == "Columns."
    assert said(exercise, by_first_axis) == "Axis 0."


@pytest.mark.parametrize(
    ("code", "words"),
    [
        ("def mine(x):\n    x.softmax(-1)", "returns None"),
        (
            "def mine(x):\n    return x @ x",
            "t raises RuntimeError: mat1 and mat2 shapes cannot be multiplied",
        ),
        ("def mine(x):\n    return x @ x", "The line: return x @ x"),
        ("def mine(x):\n    return y", "Is the name spelt as above"),
        ("def mine(x, y):\n    return x", "How many arguments does the task name?"),
        ("def mine(x):\n    exit()", "t raises SystemExit"),
        ("def mine(x):\n    return x.view(...)", "A `...` is still in the code"),
        ("def mine(x):\n    return torch.rand(2, 3)", "is random, or kept"),
        ("def mine(x):\n    return torch.ones(2, 3).softmax(-1)", "none of its"),
        ("def mine(x):\n    return x.softmax(-1).tolist()", "a torch tensor is needed"),
        ("def mine(x):\n    x -= 1\n    return x.softmax(-1)", "writes into its argument"),
        ("def mine(x):\n    return x.softmax(-1).half()", "was something rounded"),
        ("mine = torch.ones(2, 3).softmax(-1)", "hand over the function: check(mine)"),
    ],
)
def test_what_a_function_does_wrong_is_said(code, words):
    exercise = function()
    assert words in said(exercise, made_by(exercise, code))


def test_one_result_for_every_input_is_seen_through():
    first = softmax(numbers(2, 3))
    assert "Every input gives the same result" in said(function(), lambda x: first)


@pytest.mark.parametrize(
    "body",
    ["...", "pass", "return ...", '"""Words."""', "raise NotImplementedError", "# yours\n    return None"],
)
def test_a_stub_is_not_attempted_yet(body):
    exercise = function()
    assert exercise.verdict(made_by(exercise, f"def mine(x):\n    {body}")).status == NOT_ATTEMPTED


def test_what_the_task_rules_out_is_found_in_the_source():
    exercise = function(
        lambda q, k: q @ k.T, lambda: [case(numbers(2, 3), numbers(4, 3, seed=1))], without=("@", "matmul")
    )
    loop = "def mine(q, k):\n    return torch.stack([(row * k).sum(-1) for row in q])"
    assert exercise.verdict(made_by(exercise, loop)).status == CORRECT
    own = "def matmul(q, k):\n    return (q[:, None] * k).sum(-1)\ndef mine(q, k):\n    return matmul(q, k)"
    assert exercise.verdict(made_by(exercise, own)).status == CORRECT
    for code in (
        "return q @ k.T",
        "return q.matmul(k.T)",
        "from torch import matmul as m\n    return torch.matmul(q, k.T)",
    ):
        assert "does without" in said(exercise, made_by(exercise, f"def mine(q, k):\n    {code}"))


# Repairs


class Suspect(nn.Module):
    """Attention in one head with two bugs: no scale, and the mask is read upside down."""

    scaled, upright = False, False

    def __init__(self, d_model, d_k):
        super().__init__()
        self.w_q, self.w_k = nn.Linear(d_model, d_k), nn.Linear(d_model, d_k)

    def forward(self, x, mask=None):
        scores = self.w_q(x) @ self.w_k(x).mT / (self.w_k.out_features**0.5 if self.scaled else 1)
        if mask is not None:
            scores = scores.masked_fill(~mask if self.upright else mask, -1e9)
        return self.normalise(scores)

    def normalise(self, scores):
        return scores.softmax(-1)


def repaired(**parts):
    return type("Repaired", (Suspect,), parts)


RIGHT = repaired(scaled=True, upright=True)


@pytest.fixture
def two_bugs():
    x, mask = numbers(4, 6), torch.ones(4, 4).tril().bool()
    wide, narrow = {"d_model": 6, "d_k": 3}, {"d_model": 6, "d_k": 1}
    return ModuleExercise(
        "9.2",
        "Two bugs",
        reference=RIGHT,
        planted=Suspect,
        cases=lambda: [
            case(x, build=wide, label="without a mask", bug="How sharp are the weights?"),
            case(x, mask, build=narrow, label="with d_k = 1", bug="What does True mean?"),
            case(x, mask, build=wide),
        ],
        mistakes=[
            (repaired(normalise=lambda self, s: s.softmax(-2), scaled=True, upright=True), "Which axis?")
        ],
        stub="repaired = ...",
        **WORDS,
    )


def test_planted_bugs_are_found_one_after_the_other(two_bugs):
    assert two_bugs.verdict(Suspect).status == NOT_ATTEMPTED
    assert said(two_bugs, repaired(upright=True)) == "1 of 2 bugs found. How sharp are the weights?"
    assert said(two_bugs, repaired(scaled=True)) == "1 of 2 bugs found. What does True mean?"
    assert two_bugs.verdict(RIGHT).status == CORRECT


def test_bugs_are_still_counted_when_another_is_new(two_bugs):
    def over_queries(self, scores):
        return scores.softmax(-2)

    def doubled_if_wide(self, scores):
        return scores.softmax(-1) * (1 if self.w_q.out_features == 1 else 2)

    both_found = "2 of 2 bugs found, but something new is wrong. "
    assert (
        said(two_bugs, repaired(normalise=over_queries, scaled=True, upright=True))
        == f"{both_found}Which axis?"
    )
    new = said(two_bugs, repaired(normalise=doubled_if_wide, scaled=True, upright=True))
    assert new.startswith(
        "1 of 2 bugs found, but something new is wrong and may hide others. Without a mask: the result is right up to a factor"
    )


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        (RIGHT(6, 3), "is a module already built; hand over a class"),
        (int, "is a class; hand over a class …(nn.Module)"),
        (
            type("Bare", (nn.Module,), {"__init__": lambda self, d_model, d_k: nn.Module.__init__(self)}),
            "self.w_q.weight is missing",
        ),
        (
            repaired(__init__=lambda self, d_model, d_k: Suspect.__init__(self, d_k, d_model)),
            "how many go in and out",
        ),
        (repaired(__init__=lambda self: None), "it raises TypeError"),
    ],
)
def test_a_class_that_cannot_be_tried_is_told_why(two_bugs, answer, words):
    assert words in said(two_bugs, answer).replace("It raises", "it raises")


def test_a_class_nobody_has_written_in_is_not_attempted(two_bugs):
    blank = """
class repaired(nn.Module):
    def __init__(self, d_model, d_k):
        super().__init__()
        ...

    def forward(self, x, mask=None):
        ...
"""
    assert two_bugs.verdict(made_by(two_bugs, blank)).status == NOT_ATTEMPTED
    begun = blank.replace("        ...\n\n", "        self.w_q = nn.Linear(d_model, d_k)\n\n")
    assert "self.w_k.weight is missing" in said(two_bugs, made_by(two_bugs, begun))


# Tests that learners write


@pytest.fixture
def find_the_doubler():
    candidates = [
        ("2x", lambda x: 2 * x, True),
        ("x + x", lambda x: x + x, True),
        ("x²", lambda x: x * x, False, "At 2 and at 0 it is right."),
        ("x + 2", lambda x: x + 2, False),
    ]
    small = (lambda double: double(2) == 4 and double(3) < 9, "Try another number.")
    stub = "def my_test(double):\n    ..."
    return TestExercise("5.3", "A test", candidates=candidates, mistakes=[small], stub=stub, **WORDS)


@pytest.mark.parametrize(
    ("test", "words"),
    [
        (lambda double: True, "says True of all 4, even of “x²”: print"),
        (lambda double: False, "says False of all 4, even of “2x”"),
        (lambda double: double(3) != 6, "upside down"),
        (lambda double: double(2) == 4 and double(3) < 9, "Try another number."),
        (
            lambda double: double(2) == 4 and double(0) == 0,
            "3 of 4 are judged rightly, but “x²” passes. At 2 and at 0",
        ),
        (
            lambda double: double(3) == 6 and double.__code__.co_code == (lambda x: 2 * x).__code__.co_code,
            "“x + x” is refused",
        ),
        (lambda double: random.random() < 0.5, "now True, now False of “2x”"),
        (lambda double: double(3), "Handed “2x”, your test returns a number; True or False"),
        (lambda double: double("a" / 2), "Handed “2x”, it raises TypeError"),
        (lambda: True, "How many arguments"),
        (True, "hand over your test: check(my_test)"),
    ],
)
def test_a_test_is_told_what_it_misjudges(find_the_doubler, test, words):
    random.seed(1)
    assert words in said(find_the_doubler, test)


def test_a_test_may_return_a_tensor_of_one_truth(find_the_doubler):
    assert find_the_doubler.verdict(lambda double: torch.tensor(double(3) == 6)).status == CORRECT


# What a learner sees around a check


def test_check_prints_one_line_that_begins_with_the_verdict(capsys):
    exercise = value(4)
    for answer in (..., 5, 4):
        exercise.check(answer)
    lines = capsys.readouterr().out.splitlines()
    assert (
        lines[0]
        == "Exercise 1.1: not attempted yet. Write yours in place of the `...`, then run the cell again."
    )
    assert lines[1:] == [
        "Exercise 1.1: not yet. Your answer is not right: it is too large.",
        "Exercise 1.1: correct. Good.",
    ]


def test_hints_come_one_by_one_then_all(capsys):
    exercise = value(4)
    for _ in range(3):
        exercise.hint()
    assert capsys.readouterr().out.splitlines() == [
        "Exercise 1.1, hint 1 of 2: One.",
        "Exercise 1.1, hint 2 of 2: Two.",
        "Exercise 1.1: there are no more hints. .solution() shows the code.",
        "Exercise 1.1, hint 1 of 2: One.",
        "Exercise 1.1, hint 2 of 2: Two.",
    ]


def test_progress_counts_what_was_right_once(capsys):
    exercise, _ = value(4), function()
    exercise.check(4)
    exercise.check(5)
    capsys.readouterr()
    engine.progress()
    assert capsys.readouterr().out == "Done: 1.1. Open: 1.2 (1 min).\n"


def test_a_page_can_be_made_from_the_exercise():
    exercise = function()
    assert exercise.markdown == "### Exercise 1.2 ★ · 1 min · A function\n\n…"
    assert exercise.cell("softmax") == "def mine(x):\n    ...\n\n\nexercises.softmax.check(mine)"
    assert value(4).cell("four") == "answer = ...\n\nexercises.four.check(answer)"
    assert exercise.help_cell("softmax") == "# exercises.softmax.hint()\n# exercises.softmax.solution()"


def test_a_check_leaves_the_learners_random_numbers_as_they_were():
    torch.manual_seed(7)
    expected = torch.rand(1)
    torch.manual_seed(7)
    function().check(lambda x: torch.rand_like(x))
    assert torch.equal(torch.rand(1), expected)


def test_only_the_interrupt_gets_through():
    class Odd:
        def __getattribute__(self, name):
            raise SystemExit

    def interrupted(x):
        raise KeyboardInterrupt

    assert "could not be read" in said(value(4), Odd())
    with pytest.raises(KeyboardInterrupt):
        function().verdict(interrupted)

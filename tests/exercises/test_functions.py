"""What a check says of functions and classes, whatever the exercise."""

import sys

import pytest
import torch
from samples import WORDS, function, reply, softmax
from test_every_exercise import made_by
from torch import nn

from mha_helpers.exercises import case, numbers
from mha_helpers.exercises.compare import difference
from mha_helpers.exercises.engine import CORRECT, NOT_ATTEMPTED
from mha_helpers.pages.p09_concat_and_output.judges import BugHunt


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
    assert reply(exercise, no_maximum) == "Too large for exp."
    assert reply(exercise, both) == "Twice."
    assert reply(exercise, lambda x: softmax(x) if x.shape[0] == 2 else x).startswith(
        "With large scores: the result"
    )


def test_of_two_mistakes_alike_on_one_input_the_one_alike_on_more_is_named():
    def by_queries(x):
        return torch.softmax(x, dim=-2)

    def by_first_axis(x):
        return torch.softmax(x, dim=0)

    exercise = function(mistakes=[(by_first_axis, "Axis 0."), (by_queries, "Columns.")])
    assert reply(exercise, by_queries) == "Columns."
    assert reply(exercise, by_first_axis) == "Axis 0."


@pytest.mark.parametrize(
    ("code", "words"),
    [
        ("def mine(x):\n    x.softmax(-1)", "returns None"),
        (
            "def mine(x):\n    return x @ x",
            "t raises RuntimeError: mat1 and mat2 shapes cannot be multiplied",
        ),
        ("def mine(x):\n    return x @ x", "The line: return x @ x"),
        ("def helper(x):\n    return x @ x\ndef mine(x):\n    return helper(x)", "The line: return x @ x"),
        ("def mine(x):\n    return y", "Is the name spelt as above"),
        ("def mine(x, y):\n    return x", "How many arguments does the task name?"),
        ("def mine(x):\n    exit()", "t raises SystemExit"),
        ("def mine(x):\n    return x.view(...)", "A `...` is still in the code"),
        ("def mine(x):\n    return torch.rand(2, 3)", "is random, or kept"),
        ("def mine(x):\n    return torch.ones(2, 3).softmax(-1)", "and 0.8446 is expected there; none of 6"),
        ("def mine(x):\n    return x.softmax(-1).tolist()", "a torch tensor is needed"),
        (
            "def mine(x):\n    x -= 1\n    return x.softmax(-1)",
            "result is right, but your function writes into",
        ),
        ("def mine(x):\n    x += x\n    return x", "Your function also writes into its argument."),
        ("def mine(x):\n    return x - x.max(-1, keepdim=True)", "take .values"),
        ("def mine(x):\n    return torch.softmax(x)", "'torch' is not defined. Run the set-up cell"),
        ("def mine(x):\n    return x.softmax(-1).half()", "is expected there; 2 of 6 numbers"),
        ("mine = torch.ones(2, 3).softmax(-1)", "hand over the function: check(mine)"),
    ],
)
def test_what_a_function_does_wrong_is_reply(code, words):
    exercise = function()
    answer = made_by(exercise, code)
    if "set-up" in words:
        del answer.__globals__["torch"]  # as on a page whose set-up cell has not run
    assert words in reply(exercise, answer)


def test_one_result_for_every_input_is_seen_through():
    first = softmax(numbers(2, 3))
    assert "Every input gives the same result" in reply(function(), lambda x: first)


def test_each_of_several_results_has_axes_of_its_own():
    axes = {"output": ("word", "feature"), "weights": ("query", "key")}
    exercise = function(lambda x: (x, softmax(x)), axes=axes)
    assert "in the first query, first key" in reply(exercise, lambda x: (x, softmax(x) + x.sign()))
    assert "in the second word, third feature" in reply(exercise, lambda x: (x + (x == x[1, 2]), softmax(x)))
    assert "is a dict; 2 values are needed: output, weights" in reply(
        exercise, lambda x: {"output": x, "weights": softmax(x.requires_grad_())}
    )


def test_only_a_tensor_whose_rows_are_the_results_is_taken_apart():
    right = torch.ones(2, 5, 6), torch.ones(2, 3, 5, 5)
    assert "a tensor of shape (2, 5, 6); 2 values" in difference(right[0], right)
    assert difference(torch.ones(2, 5, 6), tuple(torch.ones(2, 5, 6))) is None


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
        assert "does without" in reply(exercise, made_by(exercise, f"def mine(q, k):\n    {code}"))


def test_rules_are_kept_by_what_is_called_and_not_by_what_is_named():
    exercise = function(without=("softmax",), once="exp")
    shares = "e = x.exp()\n    return e / e.sum(-1, keepdim=True)"
    assert (
        exercise.verdict(made_by(exercise, f"def mine(x):\n    softmax = 1\n    {shares}")).status == CORRECT
    )
    helper = "def helper(x):\n    return torch.softmax(x, -1)\ndef mine(x):\n    return helper(x)"
    assert "your code calls softmax" in reply(exercise, made_by(exercise, helper))
    twice = made_by(exercise, f"def mine(x):\n    x.exp()\n    {shares}")
    assert "exp is called 2 times" in reply(exercise, twice)
    never = made_by(exercise, f"def mine(x):\n    {shares.replace('x.exp()', 'torch.e**x')}")
    assert "exp is called 0 times" in reply(exercise, never)


def test_after_a_check_calls_are_counted_no_longer():
    before = sys.getprofile()
    assert "exp is called 0 times" in reply(function(once="exp"), softmax)
    assert sys.getprofile() is before


def test_a_mistake_is_named_only_where_it_explains_what_came_before():
    def cases():
        return [case(numbers(2, 3)), case(1000 * numbers(3, 4))]

    exercise = function(lambda x: x.clamp(max=9), cases, mistakes=[(lambda x: x * 0 + 5, "All five.")])
    assert "All five" not in reply(exercise, lambda x: x.clamp(max=9) if len(x) == 2 else x * 0 + 5)


def test_a_mistake_is_named_only_where_it_explains_what_is_right():
    """Two for every n is one too many for n = 1 and right for n = 2, where n + 1 is not."""
    exercise = function(
        lambda n: torch.full((n,), n),
        lambda: [case(1), case(2), case(3)],
        mistakes=[(lambda n: torch.full((n,), n + 1), "One too many.")],
    )
    assert reply(exercise, lambda n: torch.full((n,), n + 1)) == "One too many."
    assert "One too many" not in reply(exercise, lambda n: torch.full((n,), 2))


def test_a_mask_of_other_numbers_is_told_what_a_mask_holds():
    exercise = function(lambda x: x > 0)
    assert "a mask holds True and False" in reply(exercise, lambda x: x.sign().log())


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
    return BugHunt(
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
    assert reply(two_bugs, repaired(upright=True)) == "1 of 2 bugs found. How sharp are the weights?"
    assert reply(two_bugs, repaired(scaled=True)) == "1 of 2 bugs found. What does True mean?"
    assert two_bugs.verdict(repaired(scaled=True, upright=True)).status == CORRECT
    assert "inherit from nn.Module only" in reply(two_bugs, RIGHT)


def test_bugs_are_still_counted_when_another_is_new(two_bugs):
    def over_queries(self, scores):
        return scores.softmax(-2)

    def doubled_if_wide(self, scores):
        return scores.softmax(-1) * (1 if self.w_q.out_features == 1 else 2)

    both_found = "2 of 2 bugs found, but something new is wrong. "
    assert (
        reply(two_bugs, repaired(normalise=over_queries, scaled=True, upright=True))
        == f"{both_found}Which axis?"
    )
    new = reply(two_bugs, repaired(normalise=doubled_if_wide, scaled=True, upright=True))
    assert new.startswith(
        "At least 1 of 2 bugs found, and something new is wrong. Without a mask: the result is 2 times the right one"
    )


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        (RIGHT(6, 3), "is a module already built; hand over the class"),
        (int, "int is a class, but no nn.Module"),
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
    assert words in reply(two_bugs, answer).replace("It raises", "it raises")


def test_layers_that_are_one_or_cannot_learn_are_named(two_bugs):
    def tied(self, d_model, d_k):
        Suspect.__init__(self, d_model, d_k)
        self.w_k = self.w_q

    assert "self.w_k.weight is self.w_q.weight" in reply(two_bugs, repaired(__init__=tied))
    cut_off = repaired(scaled=True, upright=True, normalise=lambda self, scores: scores.softmax(-1).detach())
    assert "no gradient reaches self.w_q, self.w_k: " in reply(two_bugs, cut_off)


def test_the_arguments_of_a_class_may_have_other_names(two_bugs):
    def with_other_names(self, width, narrow):
        Suspect.__init__(self, width, narrow)

    renamed = repaired(scaled=True, upright=True, __init__=with_other_names)
    assert two_bugs.verdict(renamed).status == CORRECT


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
    assert "self.w_k.weight is missing" in reply(two_bugs, made_by(two_bugs, begun))

"""The one list of diagnoses for 0.2, 0.3, 9.2, 9.3 and D9.3: said of whoever does it, in any spelling, of nobody else."""

import itertools
import re

import pytest
from torch import nn

from mha_course.d09_in_your_own_model.exercises import cross_attention
from mha_course.exercises.running import same_outcome
from mha_course.exercises.showing import CORRECT, NOT_YET
from mha_course.p00_one_sitting.exercises import write_attention, write_forward
from mha_course.p09_concat_and_output import diagnoses
from mha_course.p09_concat_and_output.exercises import the_class

EXERCISES = {"0.2": write_attention, "0.3": write_forward, "9.2": the_class, "D9.3": cross_attention}
SIGHTS = "The mask changes nothing: no line of your code computes with it.", "Your code writes +∞ into scores"


def answer_doing(change, exercise):
    """Return an answer that does what the steps do with this change."""
    steps = diagnoses._steps(tuple(change.items()))
    if exercise.kind == "function":
        case = type("Case", (), {})()

        def function(*args):
            case.args = args
            return steps(**exercise._parts(case))[0]

        return function

    class MyAttention(nn.Module):
        def __init__(self, d_model, num_heads):
            super().__init__()
            self.num_heads = num_heads
            self.w_q, self.w_k, self.w_v, self.w_o = (nn.Linear(d_model, d_model) for _ in range(4))

        def forward(self, x, mask=None):
            layers = {name: getattr(self, name) for name in ("w_q", "w_k", "w_v", "w_o")}
            return exercise._returned(steps(x, x, mask, self.num_heads, **layers))

    return MyAttention


@pytest.mark.parametrize("number", ["0.2", "9.2", "D9.3"])
def test_each_mistake_is_named_where_it_shows_and_never_by_a_sentence_on_another(number):
    exercise = EXERCISES[number]
    all_parts = [exercise._parts(case) for case in exercise.cases()]
    does = []
    for change, words in diagnoses.MISTAKES:
        does.append(([diagnoses.outcome_of(change, each) for each in all_parts], words))
    for (outcomes, _), (change, _) in zip(does, diagnoses.MISTAKES, strict=True):
        if not any(outcome.error for outcome in outcomes):
            verdict = exercise.verdict(answer_doing(change, exercise))
            true = {words for others, words in does if all(map(same_outcome, outcomes, others))}
            shows = verdict.status == NOT_YET and "returns None" not in verdict.sentence
            is_true = any(words in verdict.sentence for words in (*true, *SIGHTS))
            assert not shows or is_true, (change, verdict)


@pytest.mark.parametrize("number", ["0.2", "9.2"])
def test_of_two_mistakes_at_once_a_true_one_is_named(number):
    exercise, named = EXERCISES[number], []
    for one, other in itertools.islice(itertools.combinations(diagnoses.MISTAKES[18:], 2), 0, None, 37):
        change = {**one[0], **other[0]}
        pair = [words for both, words in diagnoses.pairs() if both == change]
        outcomes = [diagnoses.outcome_of(change, exercise._parts(case)) for case in exercise.cases()]
        if pair and not any(outcome.error for outcome in outcomes):
            verdict = exercise.verdict(answer_doing(change, exercise))
            has_one = one[1] in verdict.sentence or other[1] in verdict.sentence
            named.append(verdict.status == NOT_YET and has_one)
    assert len(named) > 10 and sum(named) > 0.7 * len(named), (sum(named), len(named))


FUNCTION = """
def attention(q, k, v, mask=None):
    scores = q @ k.transpose(-2, -1) / q.shape[-1] ** 0.5
    if mask is not None:
        scores = HIDDEN
    return torch.softmax(scores, dim=-1) @ v
"""
LAYER = """
class MyAttention(nn.Module):
    def __init__(self, d_model, num_heads):
        super().__init__()
        self.num_heads, self.d_k = num_heads, d_model // num_heads
        self.w_q, self.w_k, self.w_v, self.w_o = (nn.Linear(d_model, d_model) for _ in range(4))

    def forward(self, x, mask=None):
        b, n, d = x.shape
        h = self.num_heads
        q, k, v = (w(x).view(b, n, h, -1).transpose(1, 2) for w in (self.w_q, self.w_k, self.w_v))
        scores = q @ k.transpose(-2, -1) / self.d_k**0.5
        if mask is not None:
            scores = HIDDEN
        weights = torch.softmax(scores, dim=-1)
        output = self.w_o((weights @ v).transpose(1, 2).reshape(b, n, d))
        return RETURNED
"""
CROSS = """
def my_cross_attention(target, source, is_pad, w_q, w_k, w_v):
    q, k, v = target @ w_q, source @ w_k, source @ w_v
    mask, b, n = ~is_pad, *is_pad.shape
    scores = q @ k.transpose(-2, -1) / q.shape[-1] ** 0.5
    scores = HIDDEN
    return torch.softmax(scores, dim=-1) @ v
"""


def said(number, lines):
    """Return what the check says of the code above with other lines."""
    code = {"0.2": FUNCTION, "D9.3": CROSS}.get(number, LAYER)
    code = code.replace("RETURNED", "output, weights" if number == "9.2" else "output")
    for old, new in ({"HIDDEN": "scores.masked_fill(~mask, -torch.inf)"} | lines).items():
        assert old in code
        code = code.replace(old, new)
    verdict = EXERCISES[number].verdict(EXERCISES[number].made_by(code))
    return verdict.sentence if verdict.status == NOT_YET else verdict.status


TWO_AXES = ["[:, None, None]", "[:, None, None, :]", "[:, :, None, None]"]
TWO_AXES += [".unsqueeze(1).unsqueeze(2)", ".unsqueeze(1).unsqueeze(1)"]
TWO_AXES += [".view(b, 1, 1, n)", ".reshape(b, 1, 1, n)", "[:, None].unsqueeze(1)", "[..., None, None, :]"]
ONE_AXIS = ["[:, None]", "[None]", "[None, None]", "[:, None, :]"]
ONE_AXIS += [".unsqueeze(1)", ".unsqueeze(0)", ".unsqueeze(0).unsqueeze(1)"]
ONE_AXIS += [".unsqueeze(1).unsqueeze(2)", "[:, None, None, :]", "[:, None].expand(-1, 2, -1)"]
FORMS = [
    "scores.masked_fill(~mask{}, -torch.inf)",
    "scores.masked_fill(mask{} == 0, -1e9)",
    "torch.where(mask{}, scores, -torch.inf)",
]


def test_axes_put_before_a_mask_that_has_them_are_named_in_every_spelling():
    spellings = [(n, s) for n in ("0.2", "0.3", "9.2") for s in ONE_AXIS] + [("D9.3", s) for s in TWO_AXES]
    for (number, spelling), form in zip(spellings, itertools.cycle(FORMS), strict=False):
        words = said(number, {"HIDDEN": form.format(spelling)})
        seen = "axes to the mask" in words or "gives the mask another shape" in words
        assert seen, (number, spelling, words)


@pytest.mark.parametrize(
    "hidden",
    [
        *(form.format("") for form in FORMS),
        "scores + torch.zeros_like(scores).masked_fill(~mask, -torch.inf)",
        "scores - 1e9 * (1 - mask.float())",
        "scores.masked_fill(mask.logical_not(), torch.finfo(scores.dtype).min)",
        "scores.masked_fill(~mask.expand(scores.shape), -torch.inf)",
        "scores.masked_fill(mask.expand_as(scores) < 1, -torch.inf)",
    ],
)
def test_a_right_mask_is_right_in_any_style(hidden):
    for number in ("0.2", "9.2"):
        assert said(number, {"HIDDEN": hidden}) == CORRECT
    in_cross = re.sub(r"\bmask\b", "mask[:, None]", hidden)
    assert said("D9.3", {"HIDDEN": in_cross}) == CORRECT


@pytest.mark.parametrize(
    ("hidden", "words"),
    [
        ("scores.masked_fill(mask, -torch.inf)", "upside down"),
        ("scores.masked_fill(mask == 1, -1e9)", "upside down"),
        ("scores + mask * -1e9", "upside down"),
        ("torch.where(mask, -1e9, scores)", "upside down"),
        (
            "scores.masked_fill(~mask.transpose(-2, -1), -1e9) if mask.shape[-2] == mask.shape[-1] else scores.masked_fill(~mask, -1e9)",
            "transposed",
        ),
        ("scores.masked_fill(~mask, -10)", "becomes a small number"),
        ("scores.masked_fill(~mask.expand(scores.shape), -10)", "becomes a small number"),
        ("scores + mask", "by 1 alone"),
        ("scores + (1 - mask.float()) * -10", "by 10 alone"),
        ("scores * mask", "becomes 0"),
        ("scores.masked_fill(~mask, 1e-9)", "becomes 0"),
        ("scores + (1 - mask.float()) * -torch.inf", "0 · ∞ is NaN"),
        ("scores.masked_fill(~mask, torch.inf)", "+∞"),
        (
            "scores if scores.masked_fill(~mask, -torch.inf) is None else scores",
            "although your code reads it",
        ),
        ("scores", "no line of your code computes with it"),
        ("scores.softmax(-1).masked_fill(~mask, -torch.inf)", "after softmax"),
    ],
)
def test_what_is_wrong_with_a_mask_is_named(hidden, words):
    for number in ("0.2", "9.2") if words != "transposed" else ("0.3",):
        assert words in said(number, {"HIDDEN": hidden}), number


SOFTMAX = "torch.softmax(scores, dim=-1)"
STEPWISE = {
    "weights = torch.softmax(scores, dim=-1)": "weights = scores.exp()\n        weights /= weights.sum(-1, keepdim=True)"
}
KEPT_MASK = {
    "self.num_heads, self.d_k =": "self.mask = None\n        self.num_heads, self.d_k =",
    "if mask is not None:": "if self.mask is None:\n            self.mask = mask\n        mask = self.mask\n        if mask is not None:",
}


@pytest.mark.parametrize(
    ("numbers", "lines", "words"),
    [
        ("0.2 9.2", {SOFTMAX: "F.softmax(scores)"}, "told no axis"),
        ("0.2 9.2", {SOFTMAX: "nn.Softmax()(scores)"}, "told no axis"),
        ("0.2 0.3 9.2", {"if mask is not None:": "if True:"}, "Called without a mask"),
        ("0.3 9.2", STEPWISE, "but backward raises RuntimeError"),
        ("0.3 9.2", {SOFTMAX: f"{SOFTMAX}.nan_to_num_()"}, "line writes into it"),
        ("0.3 9.2", {SOFTMAX: f"{SOFTMAX}\n        weights = weights if mask is None else weights.masked_fill_(~mask, 0)"}, "but backward"),
        ("0.3 9.2", KEPT_MASK, "another mask gives other numbers"),
        ("0.3 9.2", {"num_heads, d_model // num_heads\n": "num_heads, d_model // num_heads\n        self.fc = nn.Linear(d_model, d_model)\n", "self.w_o((": "self.fc(("}, "also has self.fc"),
        ("0.3 9.2", {"view(b, n, h, -1).transpose": "view(b, h, n, -1).transpose"}, "scores compare heads"),
        ("0.3 9.2", {"view(b, n, h, -1).transpose(1, 2)": "view(b, n, -1, h).permute(0, 3, 1, 2)"}, "every num_heads-th"),
        ("0.3 9.2", {"(weights @ v)": "(weights.mean(1, keepdim=True) @ v)"}, "average the weights"),
        ("0.3 9.2", {"view(b, n, h, -1).transpose(1, 2)": "view(b, h, n, -1)", "(weights @ v).transpose(1, 2)": "(weights @ v)"}, "Cut and merge match"),
        ("0.3 9.2", {"self.d_k**0.5": "1", SOFTMAX: "torch.softmax(scores, dim=-2)"}, "too sharp"),
        ("0.3 9.2", {"self.d_k**0.5": "d**0.5"}, "√d_model"),
        ("0.2 0.3", {SOFTMAX: "(scores * 1.0).exp() / scores.exp().sum(-1, keepdim=True)"}, CORRECT),
        ("0.3", {"b, n, d = x.shape": "b, n, d, _ = x.shape"}, "Both sides of ="),
        ("0.3", {"reshape(b, n, d)": "reshape(b, n, d + 1)"}, "A view keeps all numbers"),
        ("0.3", {"h = self.num_heads": "if d < 0:\n            h = self.num_heads"}, "used before a line gives it a value"),
    ],
)  # fmt: skip
def test_what_is_seen_while_code_runs_is_said(numbers, lines, words):
    for number in numbers.split():
        assert words in said(number, lines), number


RIGHT_LAYERS = {  # of the view, the scores, the mix, the merge
    "einsum": {
        "q @ k.transpose(-2, -1)": 'torch.einsum("bhid,bhjd->bhij", q, k)',
        "(weights @ v).transpose(1, 2)": 'torch.einsum("bhij,bhjd->bihd", weights, v)',
    },
    "chunk": {"w(x).view(b, n, h, -1).transpose(1, 2)": "torch.stack(w(x).chunk(h, dim=-1), dim=1)"},
    "keys turned at once": {
        "q @ k.transpose(-2, -1)": "q @ k.permute(0, 1, 3, 2)",
        "/ self.d_k**0.5": "* self.d_k**-0.5",
    },
    "one batch of heads": {
        "(weights @ v)": "torch.bmm(weights.flatten(0, 1), v.flatten(0, 1)).unflatten(0, (b, h))"
    },
    "one fused matrix": {
        "w(x).view(b, n, h, -1).transpose(1, 2) for w in (self.w_q, self.w_k, self.w_v)": "each.unflatten(-1, (h, -1)).transpose(1, 2) for each in F.linear(x, torch.cat([self.w_q.weight, self.w_k.weight, self.w_v.weight]), torch.cat([self.w_q.bias, self.w_k.bias, self.w_v.bias])).chunk(3, dim=-1)"
    },
    "baddbmm": {
        "q @ k.transpose(-2, -1) / self.d_k**0.5": "torch.baddbmm(torch.zeros(b * h, n, n), q.flatten(0, 1), k.flatten(0, 1).mT, alpha=self.d_k**-0.5).view(b, h, n, n)"
    },
}


@pytest.mark.parametrize("style", RIGHT_LAYERS)
def test_a_right_layer_is_right_in_any_style(style):
    assert [said(number, RIGHT_LAYERS[style]) for number in ("0.3", "9.2")] == [CORRECT] * 2

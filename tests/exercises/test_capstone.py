"""The capstone of notebook 09, done as a learner would: the page's own code, with one slip at a time."""

import itertools
from pathlib import Path

import nbformat
import pytest
import torch
from exercise_rules import status
from sample_exercises import FourLayers
from torch import nn

from mha_helpers.exercises import e09_concat_and_output as exercises
from mha_helpers.exercises.capstone import BUGS

NOTEBOOK = Path(__file__).resolve().parents[2] / "notebooks" / "09_concat_and_output.ipynb"
SPLIT = ".view(b, self.num_heads, n, self.d_k)"
REPAIRS = {
    "reshape without transpose": (SPLIT, ".view(b, n, self.num_heads, self.d_k).transpose(1, 2)"),
    "no scale": ("k.transpose(-2, -1))", "k.transpose(-2, -1)) / self.d_k**0.5"),
    "mask polarity": ("masked_fill(mask,", "masked_fill(~mask,"),
}
NAMES = {"torch": torch, "nn": nn}


def built(code, name):
    names = dict(NAMES)
    exec(code, names)
    return names[name]


def changed(code, old, new):
    assert old in code, old
    return code.replace(old, new)


@pytest.fixture(scope="module")
def suspect():
    cells = nbformat.read(NOTEBOOK, as_version=4).cells
    (cell,) = [cell.source for cell in cells if cell.source.startswith("class Suspect")]
    return cell


@pytest.mark.parametrize("left", [c for count in range(4) for c in itertools.combinations(BUGS, count)])
def test_the_check_counts_the_bugs_that_are_left(suspect, left):
    code = suspect
    for bug in set(BUGS) - set(left):
        code = changed(code, *REPAIRS[bug])
    said, sentence = status(exercises.three_bugs, built(code, "Suspect"))
    if not left:
        assert said == "correct"
    else:
        count = "1 bug is left" if len(left) == 1 else f"{len(left)} bugs are left"
        assert (said, sentence) == ("not yet", f"{count}. {BUGS[left[0]]}")


@pytest.mark.parametrize("repaired", [("q",), ("k",), ("v",), ("q", "k"), ("q", "v"), ("k", "v")])
@pytest.mark.parametrize("left", [(), ("no scale",), ("mask polarity",), ("no scale", "mask polarity")])
def test_a_cut_that_is_repaired_in_some_lines_is_still_a_bug(suspect, repaired, left):
    code = suspect
    for bug in {"no scale", "mask polarity"} - set(left):
        code = changed(code, *REPAIRS[bug])
    for name in repaired:
        line = f"self.w_{name}(x){SPLIT}"
        code = changed(code, line, line.replace(*REPAIRS["reshape without transpose"]))
    bugs = f"{len(left) + 1} bugs are left" if left else "1 bug is left"
    words = "The cut is right in some of the three lines, not in all: compare q, k and v."
    assert status(exercises.three_bugs, built(code, "Suspect")) == ("not yet", f"{bugs}. {words}")


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("/ self.d_k**0.5", "/ self.d_k", "divide by d_k itself"),
        ("/ self.d_k**0.5", "/ d_model**0.5", "how many features does one head compare"),
        ("masked_fill(~mask, -torch.inf)", "masked_fill(mask, 0)", ""),
        ("heads.transpose(1, 2).reshape", "heads.reshape", "how you merge the heads"),
    ],
)
def test_a_repair_that_went_wrong_gets_its_own_sentence(suspect, old, new, words):
    code = suspect
    for repair in REPAIRS.values():
        code = changed(code, *repair)
    said, sentence = status(exercises.three_bugs, built(changed(code, old, new), "Suspect"))
    assert said == "not yet"
    assert words in sentence


@pytest.mark.parametrize("with_scale", [False, True])
@pytest.mark.parametrize("with_mask", [False, True])
@pytest.mark.parametrize(
    ("move", "words"),
    [("", "which move is missing?"), (".transpose(2, 3)", "swaps the wrong two axes")],
)
def test_a_cut_with_a_wrong_move_is_told_whatever_else_is_repaired(
    suspect, move, words, with_scale, with_mask
):
    code = suspect
    for bug, repaired in (("no scale", with_scale), ("mask polarity", with_mask)):
        code = changed(code, *REPAIRS[bug]) if repaired else code
    right = REPAIRS["reshape without transpose"][1]
    code = changed(code, SPLIT, right.replace(".transpose(1, 2)", move))
    said, sentence = status(exercises.three_bugs, built(code, "Suspect"))
    assert said == "not yet"
    assert sentence.startswith("The cut is half repaired.")
    assert words in sentence


VIEW = "x.view(b, n, self.num_heads, self.d_k).transpose(1, 2)"
MERGE = "heads.transpose(1, 2).reshape(b, n, d_model)"
SLIPS = {
    "reshape without transpose": [(VIEW, "x.reshape(b, self.num_heads, n, self.d_k)")],
    "transpose of the wrong axes": [(VIEW, VIEW.replace("(1, 2)", "(2, 3)"))],
    "transpose of the wrong axes, and the same two again": [
        (VIEW, VIEW.replace("(1, 2)", "(2, 3)")),
        (MERGE, MERGE.replace("(1, 2)", "(2, 3)")),
    ],
    "transpose missing": [(VIEW, VIEW.removesuffix(".transpose(1, 2)")), (MERGE, "heads.reshape(b, n, d_model)")],
    "transpose missing, but there in the merge": [(VIEW, VIEW.removesuffix(".transpose(1, 2)"))],
    "merge: transpose of the wrong axes": [(MERGE, MERGE.replace("(1, 2)", "(2, 3)"))],
    "heads merged without transpose": [(MERGE, "heads.reshape(b, n, d_model)")],
    "heads merged in the wrong order": [(MERGE, "heads.flip(1).transpose(1, 2).reshape(b, n, d_model)")],
    "W_O missing": [("self.w_o(concat)", "concat")],
    "W_O transposed": [("self.w_o(concat)", "concat @ self.w_o.weight + self.w_o.bias")],
    "no scale": [(" / self.d_k**0.5", "")],
    "÷d_k": [("self.d_k**0.5", "self.d_k")],
    "d_k taken as d_model": [("self.d_k**0.5", "d_model**0.5")],
    "mask polarity": [
        ("masked_fill(~mask, -torch.inf)", "masked_fill(mask, -torch.inf)"),
        ("masked_fill(~mask, 0.0)", "masked_fill(mask, 0.0)"),
    ],
    "mask left out": [("scores.masked_fill(~mask, -torch.inf)", "scores"), ("weights.masked_fill(~mask, 0.0)", "weights")],
    "−1e9": [("-torch.inf", "-1e9"), ("weights.masked_fill(~mask, 0.0)", "weights")],
    "NaN in a fully masked row": [("weights.masked_fill(~mask, 0.0)", "weights")],
    "softmax over queries": [("dim=-1", "dim=-2")],
    "V from W_K": [("self.split(self.w_v(x))", "self.split(self.w_k(x))")],
    "bias forgotten": [("nn.Linear(d_model, d_model)", "nn.Linear(d_model, d_model, bias=False)")],
    "bias of W_O left out": [("self.w_o(concat)", "concat @ self.w_o.weight.T")],
    "biases made and not used": [
        ("self.w_o(concat)", "concat @ self.w_o.weight.T"),
        *((f"self.w_{name}(x)", f"x @ self.w_{name}.weight.T") for name in "qkv"),
    ],
}  # fmt: skip


@pytest.mark.parametrize("name", SLIPS)
def test_each_slip_in_the_class_is_called_by_its_name(name):
    code = exercises.the_class.solution_code
    for old, new in SLIPS[name]:
        code = changed(code, old, new)
    (expected,) = {m.sentence for m in exercises.the_class.mistakes if m.name == name}
    assert status(exercises.the_class, built(code, "BlankAttention")) == ("not yet", expected)


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("self.w_k = nn.Linear(d_model, d_model)", "self.w_k = nn.Linear(d_model, d_model, bias=False)", "self.w_k has no bias"),
        ("return self.w_o(concat), weights", "return self.w_o(concat).detach(), weights", "no gradient reaches self.w_q"),
        ("self.w_o(concat)", "torch.dropout(self.w_o(concat), 0.1, self.training)", "is there dropout,"),
        ("scores.masked_fill(", "scores.detach().masked_fill(", "no gradient reaches self.w_q, self.w_k, so"),
        ("weights = weights.masked_fill(", "weights.masked_fill_(", "x = x.f() does not."),
        ("if mask is not None:", "if mask is not None and not self.training:", "asks for self.training"),
    ],
)  # fmt: skip
def test_right_numbers_are_not_enough(old, new, words):
    """The class is used afterwards: it takes PyTorch's weights, in training mode."""
    for exercise in (exercises.the_class, exercises.three_bugs):
        answer = built(changed(exercises.the_class.solution_code, old, new), "BlankAttention")
        said, sentence = status(exercise, answer)
        assert said == "not yet"
        assert words in sentence


def test_gradients_that_are_nan_where_a_row_has_no_key_are_noticed():
    added = "scores + torch.zeros_like(scores).masked_fill("
    answer = built(changed(exercises.the_class.solution_code, "scores.masked_fill(", added), "BlankAttention")
    assert status(exercises.the_class, answer) == (
        "not yet",
        "The result is right, but the gradient of self.w_q, self.w_k becomes NaN, and one step of training would"
        " spoil it all. In a row without any key, masked_fill or torch.where on the scores stops NaN; −∞ that is"
        " added, or written into .data, does not.",
    )


@pytest.mark.parametrize(
    ("old", "new"),
    [
        # Rows without a key, looked for along the wrong axis.
        ("weights.masked_fill(~mask, 0.0)", "weights.masked_fill(~mask.any(dim=-2, keepdim=True), 0.0)"),
        # One row of the mask for all queries: right for padding alone.
        ("if mask is not None:", "if mask is not None:\n            mask = mask[:, :, :1] if mask.dim() == 4 else mask"),
    ],
)  # fmt: skip
def test_a_mask_of_padding_and_future_at_once_is_tried(old, new):
    answer = built(changed(exercises.the_class.solution_code, old, new), "BlankAttention")
    assert status(exercises.the_class, answer)[0] == "not yet"


def test_a_mask_kept_from_the_last_call_is_noticed():
    solution = built(exercises.the_class.solution_code, "BlankAttention")

    class KeepsTheMask(solution):
        def forward(self, x, mask=None):
            if mask is not None:
                self.mask = mask
            old = getattr(self, "mask", None)
            return super().forward(x, old if old is not None and old.shape[-1] == x.shape[1] else None)

    assert status(exercises.the_class, KeepsTheMask) == (
        "not yet",
        "The result is right in a new module, and another when the same module has seen other inputs: what does"
        " it keep from call to call?",
    )


def test_the_stubs_of_the_page_are_not_attempted():
    class BlankAttention(nn.Module):
        def __init__(self, d_model, num_heads):
            super().__init__()
            ...

        def forward(self, x, mask=None):
            return ...

    assert status(exercises.the_class, BlankAttention)[0] == "not attempted yet"


def test_a_class_written_in_another_way_is_right_too():
    class Einsum(FourLayers):
        def forward(self, x, mask=None):
            q, k, v = (w(x).unflatten(-1, (self.num_heads, -1)) for w in (self.w_q, self.w_k, self.w_v))
            scores = torch.einsum("bihd,bjhd->bhij", q, k) * q.shape[-1] ** -0.5
            if mask is not None:
                scores = torch.where(mask, scores, float("-inf"))
            weights = scores.softmax(-1).nan_to_num()
            return self.w_o(torch.einsum("bhij,bjhd->bihd", weights, v).flatten(-2)), weights

    assert status(exercises.the_class, Einsum)[0] == "correct"
    assert status(exercises.three_bugs, Einsum)[0] == "correct"

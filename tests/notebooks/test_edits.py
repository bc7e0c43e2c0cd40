"""A learner changes a cell and runs on: what the page then prints is true of the changed numbers."""

import re
from contextlib import redirect_stdout
from io import StringIO

import pytest
from notebook_page import FOLDER, Page


def printed(name, old, new, last):
    """Run a page with `old` replaced by `new`, up to the cell with `last` in it; return what this one prints."""
    cells = [cell.source for cell in Page(FOLDER / f"{name}.ipynb").cells if cell.cell_type == "code"]
    changed = [number for number, source in enumerate(cells) if old in source]
    assert len(changed) == 1, f"{old!r} stands in {len(changed)} cells"
    cells[changed[0]] = cells[changed[0]].replace(old, new)
    ends = [number for number, source in enumerate(cells) if last in source]
    assert len(ends) == 1, f"{last!r} stands in {len(ends)} cells"
    names = {}
    for source in cells[: ends[0] + 1]:
        output = StringIO()
        with redirect_stdout(output):
            exec(source, names)
    return output.getvalue()


@pytest.mark.parametrize(
    ("name", "old", "new", "last", "lines"),
    [
        (
            "01_inputs_and_shapes",
            "order = [2, 1, 0]",
            "order = [0, 2, 1]",
            "turned, _ = attention(words[order])",
            ["the same rows, in another order: True"],
        ),
        (
            "02_qkv_projection",
            "head = 1 ",
            "head = 2 ",
            "wrong_scores = q @ q.T",
            ["best answer for eats, W_Q and W_K:   fish"],
        ),
        (
            "03_qk_scores",
            "query_of_eats = [2, -1]\nkey_of_cat = [2, 0]",
            "query_of_eats = [2, -1, 3]\nkey_of_cat = [2, 0, 4]",
            "query_of_eats =",
            ["score of eats on cat: 16"],
        ),
        (
            "04_scaling",
            "head_w_q = example.w_q[:, :2]",
            "head_w_q = example.w_q[:, :2] * 2",
            "scaled_by_hand = ",
            ["eats on cat      8 ÷ √2 =  5.66"],
        ),
        (
            "04_scaling",
            "head_w_q = example.w_q[:, :2]",
            "head_w_q = example.w_q[:, 2:4] * 2",
            "scaled_in_w_q = ",
            ["or in W_Q, the same:               True"],
        ),
        (
            "04_scaling",
            "width = 64",
            "width = 128",
            "width = 64",
            ["random ÷ √d_model      spread of q 1.00, of scores ÷ √128 1.0"],
        ),
        (
            "05_causal_mask",
            '"fish", "[pad]", "[pad]"]',
            '"fish", "now", "[pad]", "[pad]"]',
            "padding = real",
            ["same as padding_mask:        True", "same as causal_mask:         True"],
        ),
        (
            "05_causal_mask",
            "[[True, True, False]]",
            "[[False, True, True]]",
            "pad = ~real[0]",
            ["largest weight on padding, right: 0.00"],
        ),
        (
            "05_causal_mask",
            "= 200.0",
            "= 20.0",
            "= 200.0",
            ["second row with a hidden 20:"],
        ),
        (
            "07_weighted_values",
            "torch.randn(1000, 3)",
            "torch.randn(100_000, 3)",
            "random_weights = ",
            ["all between smallest and largest value: True", "all inside the triangle: True"],
        ),
        (
            "08_splitting_heads",
            "example.tokens, example.x, example.w_q",
            "example.tokens, example.x.sin(), example.w_q",
            "in_any_order = ",
            [
                "one head, its scores in any order:         True",
                "its scores = those of three heads, added:  True",
            ],
        ),
        (
            "09_concat_and_output",
            "padding_mask([3, 2], n=3)",
            "padding_mask([3, 0], n=3)",
            "loops =    functions",
            ["padding    True       True        True                False                  True"],
        ),
    ],
)
def test_what_is_printed_follows_the_change(name, old, new, last, lines):
    output = printed(name, old, new, last.replace(old, new))
    missing = [line for line in lines if line not in output]
    assert not missing, f"not printed: {missing}; but:\n{output}"


def test_a_larger_head_is_really_as_large():
    output = printed("04_scaling", "256, 512]\nqueries", "256, 512, 1024]\nqueries", "scores_of = {}")
    spread = float(re.search(r"d_k = 1024: spread +([0-9.]+)", output).group(1))
    assert abs(spread - 32) < 1.5

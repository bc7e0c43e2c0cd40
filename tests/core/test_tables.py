"""What tables promise beyond those that pages store to the letter: cells lit or hidden, sums, misfits."""

import re

import pytest
import torch

from mha_helpers.tables import HATCHED, cell_sum, matrix_table, product_table, side_by_side, words_table

Q = torch.tensor([[2.0, 0], [2, -1], [1, 0]])
K = torch.tensor([[2.0, 0], [0, 1], [1, 2]])


def lit(table):
    return re.findall("<b>([^<]*)</b></td>", table.html)


@pytest.mark.parametrize(
    ("chosen", "expected"), [(1, ["2", "−1"]), ((None, 0), ["2", "2", "1"]), ((1, 1), ["−1"]), (None, [])]
)
def test_a_row_a_column_or_a_cell_is_lit(chosen, expected):
    table = matrix_table(Q, chosen=chosen, colour="#123456")
    assert lit(table) == re.findall(r"\[([^]]*)\]", table.text) == expected and "#123456" in table.html


def test_masked_cells_hold_no_number():
    table = matrix_table(Q, mask=torch.tensor([[True, False]]), shape=False)
    assert table.text.count("—") == table.html.count("—") == 3
    assert "−1" not in table.text and "(3, 2)" not in table.text
    scores = matrix_table([[2, -torch.inf]])
    assert scores.text == "(1, 2)\n2  −∞" and HATCHED in scores.html


def test_labels_are_text_and_never_markup():
    names = ["<script>", "<script> a thing", "a thing <script>"]
    table = product_table(Q, K.T, 0, 0, ("<script>", "b", "c"), rows=names, columns=names)
    assert "<script>" not in table.html + side_by_side(table, table, between=["<script>"]).html


def test_a_rounded_sum_says_so():
    assert cell_sum([0.1234, 1], [1, 1]) == "0.123·1 + 1·1 ≈ 1.123"
    assert (cell_sum([3], [1 / 3]), cell_sum([1 / 3], [3])) == ("3·0.333 ≈ 1", "0.333·3 ≈ 1")
    assert cell_sum([0.03], [0.04]) == "0.03·0.04 ≈ 0.001"


def test_sizes_that_do_not_fit_are_named():
    with pytest.raises(RuntimeError, match=r"cannot be multiplied \(3x2 and 3x2\)"):
        product_table(Q, K, 0, 0, names=("Q", "K", "scores"))
    with pytest.raises(ValueError, match=r"the matrix must have 2 axes.*got \(1, 3, 2\)"):
        matrix_table(Q[None])


def test_a_table_of_words_is_lined_up_and_safe_as_html():
    table = words_table([("call", "answer"), ("x < y", "refused")])
    assert table.text == "call   answer\nx < y  refused" and "<td" in table.html and "x &lt; y" in table.html
    long = words_table([["as long as a sentence, which wraps " * 2]])
    assert "nowrap" in table.html and "nowrap" not in long.html

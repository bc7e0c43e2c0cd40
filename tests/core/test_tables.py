"""What tables promise beyond those that pages store to the letter: cells lit or hidden, sums, misfits."""

import re

import pytest
import torch

from mha_helpers.tables import HATCHED, cell_sum, matrix_table, product_table, side_by_side

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


def test_a_large_matrix_leaves_its_middle_out():
    table = matrix_table(torch.arange(400).view(20, 20), range(20), range(20))
    lines = table.text.splitlines()
    assert len(lines) == 18 and lines[1].endswith("⋯   19") and lines[-1].split()[::16] == ["19", "399"]
    assert "⋯" not in matrix_table(torch.eye(16)).text


def test_a_rounded_sum_says_so_and_a_long_one_is_cut():
    assert cell_sum([0.1234, 1], [1, 1]) == "0.123·1 + 1·1 ≈ 1.123"
    assert (cell_sum([3], [1 / 3]), cell_sum([1 / 3], [3])) == ("3·0.333 ≈ 1", "0.333·3 ≈ 1")
    assert cell_sum([0.03], [0.04]) == "0.03·0.04 ≈ 0.001"
    assert cell_sum([1] * 8, [1] * 8) == f"{'1·1 + ' * 7}1·1 = 8"
    assert cell_sum([1] * 20, [1] * 20) == f"{'1·1 + ' * 6}… (13 more) … + 1·1 = 20"


def test_sizes_that_do_not_fit_are_named():
    with pytest.raises(ValueError, match=r"Q \(3, 2\) @ K \(3, 2\) does not fit"):
        product_table(Q, K, 0, 0, names=("Q", "K", "scores"))
    with pytest.raises(ValueError, match=r"the matrix must have 2 axes.*got \(1, 3, 2\)"):
        matrix_table(Q[None])

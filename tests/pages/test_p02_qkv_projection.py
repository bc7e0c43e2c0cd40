"""The explorer of page 02 multiplies as plain torch does, and a click chooses what was hit."""

import pytest

from mha_helpers.golden import golden_example
from mha_helpers.pages.p02_qkv_projection import projection_explorer


@pytest.mark.parametrize("matrix", ["query", "key", "value"])
@pytest.mark.parametrize("head", range(3))
def test_the_result_is_x_times_the_columns_of_the_head(matrix, head):
    panel, example = projection_explorer(), golden_example()
    panel.set(matrix=matrix, head=head)
    w = {"query": example.w_q, "key": example.w_k, "value": example.w_v}[matrix]
    wanted = example.x @ w[:, 2 * head : 2 * head + 2]
    assert panel.state()["result"].equal(wanted)
    said = ", ".join(f"{value:.0f}" for value in wanted[1]).replace("-", "−")
    assert f"({said})" in panel.description()
    names = example.value_names if matrix == "value" else example.key_names
    assert f"is about “{names[head][0]}”" in panel.description()


def test_the_words_write_out_the_sum_of_the_chosen_cell():
    panel = projection_explorer()
    panel.set(token=2, head=1, column=1, feature=2)
    assert "1·1 + 0·(−1) + 2·0" in panel.description()
    assert "“what is eaten” is 2 in “fish”, times 0 in W_Q, gives 0" in panel.description()


def test_a_click_chooses_the_row_and_the_column_that_were_hit():
    panel = projection_explorer()
    for cell, chosen in (
        ((0, 2, 5), {"token": 2, "feature": 5}),  # in x
        ((1, 0, 1), {"feature": 0, "column": 1}),  # in W
        ((2, 0, 0), {"token": 0, "column": 0}),  # in the result
    ):
        assert f'data-cell="{",".join(map(str, cell))}"' in panel.svg()
        panel.click(*cell)
        assert chosen.items() <= panel.state().items()

"""The explorer of page 02 multiplies as plain torch does, and a click chooses what was hit."""

import re

import pytest

from mha_course.p02_qkv_projection import projection_explorer
from mha_helpers.golden import golden_example


@pytest.mark.parametrize("matrix", ["query", "key", "value"])
@pytest.mark.parametrize("head", range(3))
def test_the_result_is_x_times_the_columns_of_the_head(matrix, head):
    panel, example = projection_explorer(), golden_example()
    panel.set(matrix=matrix, head=head)
    w = {"query": example.w_q, "key": example.w_k, "value": example.w_v}[matrix]
    assert panel.state()["result"].equal(example.x @ w[:, 2 * head : 2 * head + 2])


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


def test_the_frame_is_round_a_whole_row_of_x_on_the_line_of_its_result():
    svg = projection_explorer().svg()
    area = r'<rect x="([\d.]+)" y="([\d.]+)" width="([\d.]+)" height="([\d.]+)"'

    def cell(*where):
        return [float(n) for n in re.search(f'data-cell="{",".join(map(str, where))}">{area} ', svg).groups()]

    left, top, size, _ = cell(0, 1, 0)
    frames = [[float(n) for n in frame] for frame in re.findall(f'{area} fill="none" stroke="#E8A200"', svg)]
    assert [left, top, 6 * size, size] in frames and cell(2, 1, 0)[1:] == [top, size, size]

"""The projection explorer over its whole grid: x @ W, and the written-out sum."""

import itertools
import re
import warnings

import pytest
import torch

from mha_helpers import golden_example, projection_explorer
from mha_helpers.explorers.e02_qkv_projection import details


@pytest.fixture(scope="module")
def panel():
    return projection_explorer()


@pytest.mark.parametrize("kind, columns", list(itertools.product(["query", "key", "value"], range(1, 7))))
def test_every_matrix_and_width(panel, kind, columns):
    example = golden_example()
    matrix = {"query": example.w_q, "key": example.w_k, "value": example.w_v}[kind]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        panel.set(kind=kind, columns=columns)
        for token, feature in itertools.product(range(3), range(columns)):
            panel.set(token=token, feature=feature)
            state = panel.state()
            assert torch.equal(state["projected"], example.x @ matrix[:, :columns])
            assert state["selected"] == (token, feature)
            total = re.search(r"= (−?\d+)</p>", details(state)).group(1)
            assert float(total.replace("−", "-")) == state["projected"][token, feature]
            row = ", ".join(f"{number:.0f}" for number in state["projected"][token].tolist())
            row = f"Row {example.tokens[token]} of {kind[0].upper().replace('-', '−')} is ({row})"
            assert row.replace("-", "−") in panel.description()
            assert f"Lit in it: column {feature}." in panel.description()
    assert panel.message() == ""


def test_each_control_changes_the_picture(panel):
    panel.set(kind="query", columns=3, token=0, feature=0)
    for name, value in {"feature": 1, "token": 1, "columns": 4, "kind": "key"}.items():
        before = panel.png()
        panel.controls[name].value = value
        assert panel.png() != before, name


def test_a_column_that_is_gone_moves_inside(panel):
    panel.set(columns=6)
    panel.set(feature=5)
    panel.set(columns=2)
    assert panel.state()["selected"][1] == 1

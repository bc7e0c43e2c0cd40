"""What each head adds to the output, in the whole explorer: the bars show what the tensors hold."""

import re

import pytest
import torch

from mha_helpers import attention_explorer
from mha_helpers.explorers.whole_contributions import BAR_WIDTH, LONGEST, contribution_bars_html


@pytest.fixture
def panel():
    panel = attention_explorer()
    yield panel
    panel.close()


def bars(html):
    return re.findall(r"head (\d+)</span><span style=\"width: (\d+)px[^>]*></span><span>([^<]*)<", html)


@pytest.mark.parametrize(("heads", "d_k", "mask"), [(1, 1, "none"), (4, 8, "causal"), (16, 64, "padding")])
def test_the_contributions_add_up_to_the_output(panel, heads, d_k, mask):
    panel.set(heads=heads, d_k=d_k, mask=mask)
    state = panel.state()
    assert state["contributions"].shape == (heads, *state["output"].shape)
    assert torch.allclose(state["contributions"].sum(dim=0), state["output"], atol=1e-5)
    for head in range(heads):  # each through its own block of W_O
        block = state["w_o"][head * d_k : (head + 1) * d_k]
        assert torch.allclose(state["contributions"][head], state["heads"][head] @ block, atol=1e-5)


def test_the_bars_are_the_lengths_for_the_chosen_query(panel):
    for row in (0, 7):
        panel.controls["query"].value = row
        state = panel.state()
        assert f"output of “{state['tokens'][row]}”" in panel._details_box.value
        lengths = state["contributions"][:, row].norm(dim=-1)
        found = bars(panel._details_box.value)
        assert [int(head) for head, _, _ in found] == [1, 2, 3, 4]
        assert [float(said) for _, _, said in found] == pytest.approx(lengths.tolist(), abs=0.006)
        widths = [int(width) for _, width, _ in found]
        assert sorted(range(4), key=lambda i: widths[i]) == lengths.argsort().tolist()
        assert max(widths) <= BAR_WIDTH


def test_a_bar_that_is_longer_than_its_place_is_told(panel):
    assert "A bar is full" not in panel._details_box.value
    panel.set(mask="causal", query=0, d_k=1, heads=8)
    lengths = panel.state()["contributions"][:, 0].norm(dim=-1)
    assert lengths.max() > LONGEST / 8**0.5
    assert "A bar is full from 5.66 on." in panel._details_box.value


def test_try_this_1_a_head_switched_off_changes_no_other_bar(panel):
    before, weights = bars(panel._details_box.value), panel.state()["weights"]
    panel.controls["head_2"].value = False
    after = bars(panel._details_box.value)
    assert after[1] == ("2", "0", "off")
    assert [after[i] for i in (0, 2, 3)] == [before[i] for i in (0, 2, 3)]
    assert torch.equal(panel.state()["weights"], weights)
    assert not panel.state()["contributions"][1].any()


def test_try_this_2_equal_weights_and_different_contributions(panel):
    panel.set(mask="causal", query=0)
    assert torch.equal(panel.state()["weights"][:, 0, 0], torch.ones(4))
    assert len({said for _, _, said in bars(panel._details_box.value)}) == 4


def test_try_this_3_what_changes_shape_and_what_never_does(panel):
    def shapes():
        return {name: tuple(panel.state()[name].shape) for name in ("weights", "concat", "output")}

    first = shapes()
    panel.controls["d_k"].value = 16
    wider = shapes()
    assert (wider["weights"], wider["output"]) == (first["weights"], first["output"])
    assert wider["concat"] != first["concat"]
    panel.controls["heads"].value = 8
    assert shapes()["output"] == first["output"]
    assert shapes()["weights"] != first["weights"]
    panel.controls["sentence"].value = "他用电脑写代码"
    assert len(panel.state()["tokens"]) == 7
    assert not panel.message()


def test_a_token_is_escaped():
    html = contribution_bars_html(torch.ones(1, 4), "<b>&", [True])
    assert "“&lt;b&gt;&amp;”" in html
    assert contribution_bars_html(torch.full((1, 4), 1e6), "cat", [True]).count(f"width: {BAR_WIDTH}px") == 1


def test_anything_but_a_tensor_is_refused():
    with pytest.raises(TypeError, match="contributions must be a torch"):
        contribution_bars_html([[1.0]], "cat", [True])

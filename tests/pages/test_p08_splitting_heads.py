"""The explorer of page 08: numbers go where plain torch puts them, and a click follows them."""

import itertools

import pytest
import torch

from mha_course.p08_splitting_heads import splitting_explorer


@pytest.mark.parametrize(("n", "h", "d_k"), [*itertools.product((1, 2, 4), (1, 2, 4), (1, 3))])
def test_each_number_goes_where_slices_put_it_and_the_wrong_way_where_a_bare_view_does(n, h, d_k):
    panel = splitting_explorer()
    panel.set(tokens=n, heads=h, d_k=d_k)
    state, q = panel.state(), torch.arange(n * h * d_k).view(n, h * d_k)
    assert torch.equal(state["right"], torch.stack(q.split(d_k, dim=-1)))
    assert torch.equal(state["wrong"].flatten(), q.flatten()) and state["wrong"].shape == (h, n, d_k)
    assert ("no test can tell" in panel.description()) == (n == 1 or h == 1)


def test_what_a_head_owns_and_where_the_wrong_way_puts_a_token_is_told():
    panel = splitting_explorer()
    panel.set(tokens=4, heads=2, d_k=1, follow=("head", 0))
    assert "Head 1 owns feature 1 of every token." in panel.description()
    assert "head 1 is filled with numbers of tokens 1 and 2" in panel.description()
    panel.set(follow=("token", 1))
    assert "its numbers are in head 1 only" in panel.description()


def test_a_click_follows_the_token_and_a_second_one_its_head():
    panel = splitting_explorer()
    panel.click(1, 2, 3)  # head 2, token 3
    assert panel.state()["follow"] == ("token", 2)
    panel.click(1, 2, 3)
    assert panel.state()["follow"] == ("head", 1)
    panel.set(heads=1)  # head 2 is gone
    assert panel.state()["follow"] == ("head", 0)

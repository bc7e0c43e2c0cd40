"""The explorer of page 01: what it says of a number is what torch says."""

from mha_helpers.pages.p01_inputs_and_shapes import shapes_explorer


def test_the_place_in_memory_is_that_of_torch():
    panel = shapes_explorer()
    panel.set(b=3, n=4, d_model=5)
    panel.click(2, 1, 3)
    state = panel.state()
    x = state["x"]
    assert x.shape == (3, 4, 5)
    assert state["before"] == x[2, 1, 3].storage_offset()
    assert x[2, 1, 3] == x.flatten()[state["before"]]


def test_a_larger_block_keeps_the_numbers_of_a_smaller_one():
    panel = shapes_explorer()
    before = panel.state()["x"]
    panel.set(b=4, n=6, d_model=8)
    assert (panel.state()["x"][:2, :3, :6] == before).all()

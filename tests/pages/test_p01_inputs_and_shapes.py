"""The explorer of page 01: a slider adds numbers and changes none."""

from mha_course.p01_inputs_and_shapes import shapes_explorer


def test_a_larger_block_keeps_the_numbers_of_a_smaller_one():
    panel = shapes_explorer()
    before = panel.state()["x"]
    panel.set(b=4, n=6, d_model=8)
    assert (panel.state()["x"][:2, :3, :6] == before).all()

"""What notebooks/01_inputs_and_shapes.ipynb imports beside its exercises."""

from mha_course.p01_inputs_and_shapes.explorer import shapes_explorer

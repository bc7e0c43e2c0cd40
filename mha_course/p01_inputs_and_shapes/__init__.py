"""What notebooks/01_inputs_and_shapes.ipynb imports: its explorer, its pictures, its exercises."""

from mha_course.p01_inputs_and_shapes import exercises
from mha_course.p01_inputs_and_shapes.explorer import shapes_explorer

__all__ = ["exercises", "shapes_explorer"]

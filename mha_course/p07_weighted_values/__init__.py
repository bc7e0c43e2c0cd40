"""What notebooks/07_weighted_values.ipynb imports beside its exercises."""

from mha_course.p07_weighted_values.explorer import values_explorer

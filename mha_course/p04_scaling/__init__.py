"""What notebooks/04_scaling.ipynb imports beside its exercises."""

from mha_course.p04_scaling.explorer import scaling_explorer

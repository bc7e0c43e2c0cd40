"""What notebooks/04_scaling.ipynb imports: its explorer, its pictures, its exercises."""

from mha_course.p04_scaling import exercises
from mha_course.p04_scaling.explorer import scaling_explorer

__all__ = ["exercises", "scaling_explorer"]

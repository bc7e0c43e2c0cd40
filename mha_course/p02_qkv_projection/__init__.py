"""What notebooks/02_qkv_projection.ipynb imports: its explorer, its pictures, its exercises."""

from mha_course.p02_qkv_projection import exercises
from mha_course.p02_qkv_projection.explorer import projection_explorer

__all__ = ["exercises", "projection_explorer"]

"""What notebooks/02_qkv_projection.ipynb imports beside its exercises."""

from mha_course.p02_qkv_projection.explorer import projection_explorer

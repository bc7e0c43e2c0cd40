"""What notebooks/08_splitting_heads.ipynb imports beside its exercises."""

from mha_course.p08_splitting_heads.explorer import splitting_explorer

"""What notebooks/05_causal_mask.ipynb imports beside its exercises."""

from mha_course.p05_causal_mask.explorer import mask_explorer

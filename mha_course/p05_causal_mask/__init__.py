"""What notebooks/05_causal_mask.ipynb imports: its explorer, its pictures, its exercises."""

from mha_course.p05_causal_mask import exercises
from mha_course.p05_causal_mask.explorer import mask_explorer

__all__ = ["exercises", "mask_explorer"]

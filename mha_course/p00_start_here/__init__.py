"""What notebooks/00_start_here.ipynb imports beside its exercises."""

from mha_course.p00_start_here.explorer import attention_explorer
from mha_course.p00_start_here.explorer_three_heads import cat_eats_fish_heads

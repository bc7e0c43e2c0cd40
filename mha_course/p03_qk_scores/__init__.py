"""What notebooks/03_qk_scores.ipynb imports beside its exercises."""

from mha_course.p03_qk_scores.explorer import scores_explorer

"""What notebooks/03_qk_scores.ipynb imports: its explorer, its pictures, its exercises."""

from mha_course.p03_qk_scores import exercises
from mha_course.p03_qk_scores.explorer import scores_explorer

__all__ = ["exercises", "scores_explorer"]

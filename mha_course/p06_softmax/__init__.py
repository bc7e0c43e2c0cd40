"""What notebooks/06_softmax.ipynb imports: its explorer, its pictures, its exercises."""

from mha_course.p06_softmax import exercises
from mha_course.p06_softmax.explorer import softmax_explorer

__all__ = ["exercises", "softmax_explorer"]

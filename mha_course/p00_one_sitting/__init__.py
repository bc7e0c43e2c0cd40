"""What notebooks/one_sitting.ipynb imports of its own: its exercises."""

from mha_course.p00_one_sitting import exercises

__all__ = ["exercises"]

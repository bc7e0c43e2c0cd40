"""What notebooks/07_weighted_values.ipynb imports: its explorer, its pictures, its exercises."""

from mha_course.p07_weighted_values import exercises
from mha_course.p07_weighted_values.explorer import values_explorer
from mha_course.p07_weighted_values.picture import value_hull

__all__ = ["exercises", "value_hull", "values_explorer"]

"""What notebooks/deeper/09_since_2023.ipynb imports beside its exercise."""

from mha_course.d09_since_2023.census import FOUND, census

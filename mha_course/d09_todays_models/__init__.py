"""What notebooks/deeper/09_todays_models.ipynb imports beside its exercise."""

from mha_course.d09_todays_models.explorer import rotary_explorer

"""What notebooks/12_bugs_in_print.ipynb imports beside its exercises."""

from mha_course.p12_bugs_in_print.explorer import bugs_explorer

"""What notebooks/09_concat_and_output.ipynb imports beside its exercises."""

from mha_course.p09_concat_and_output.explorer_machine import machine_explorer

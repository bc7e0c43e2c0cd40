"""What notebooks/09_concat_and_output.ipynb imports: its explorer, its pictures, its exercises."""

from mha_course.p09_concat_and_output import exercises
from mha_course.p09_concat_and_output.explorer_machine import machine_explorer

__all__ = ["exercises", "machine_explorer"]

"""What notebooks/deeper/09_other_libraries.ipynb imports beside its exercises."""

from mha_course.d09_other_libraries.boxes import boxes
from mha_course.d09_other_libraries.explorer import libraries_explorer
from mha_course.d09_other_libraries.measured import WELL_KNOWN, libraries_table

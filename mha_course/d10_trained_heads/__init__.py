"""What notebooks/deeper/10_trained_heads.ipynb imports beside its exercises."""

from mha_course.d10_trained_heads.circuit import lift
from mha_course.d10_trained_heads.explorer import trained_explorer

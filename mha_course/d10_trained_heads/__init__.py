"""What notebooks/deeper/10_trained_heads.ipynb imports beside its exercises."""

from mha_course.d10_trained_heads.explorer import trained_explorer
from mha_course.models.tiny import lift

"""What notebooks/06_softmax.ipynb imports beside its exercises."""

from mha_course.p06_softmax.explorer import softmax_explorer

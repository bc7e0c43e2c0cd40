"""What notebooks/deeper/09_in_your_own_model.ipynb imports: its attention for PyTorch, its exercise."""

from mha_course.d09_in_your_own_model.block import InPyTorchsBlock

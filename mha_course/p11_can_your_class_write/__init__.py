"""What notebooks/11_can_your_class_write.ipynb imports: broken attention, its explorer, its exercises."""

from mha_course.p11_can_your_class_write import exercises
from mha_course.p11_can_your_class_write.broken import BREAKS, broken_attention, suspects
from mha_course.p11_can_your_class_write.explorer import language_explorer

"""What notebooks/10_can_your_class_learn.ipynb imports beside its exercises."""

from mha_course.p10_can_your_class_learn.explorer import learning_explorer
from mha_course.p10_can_your_class_learn.measured import ADAMW_ALONE, BROKEN_LINES, FIVE_TRAININGS
from mha_course.p10_can_your_class_learn.stories import ASKED, WORDS, as_words, new_stories

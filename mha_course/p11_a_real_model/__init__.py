"""What notebooks/11_a_real_model.ipynb imports: the class of page 09, its explorer, its exercises."""

from mha_course.p11_a_real_model import exercises
from mha_course.p11_a_real_model.explorer import real_model_explorer
from mha_course.p11_a_real_model.own_class import class_of_page_09

__all__ = ["class_of_page_09", "exercises", "real_model_explorer"]

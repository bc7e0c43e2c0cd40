"""What notebooks/08_splitting_heads.ipynb imports: its explorer, its pictures, its exercises."""

from mha_course.p08_splitting_heads import exercises
from mha_course.p08_splitting_heads.explorer import splitting_explorer
from mha_course.p08_splitting_heads.picture import heads_cut

__all__ = ["exercises", "heads_cut", "splitting_explorer"]

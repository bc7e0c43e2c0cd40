"""What notebooks/deeper/04_scaling.ipynb imports: its exercise."""

from mha_helpers.pages.d04_scaling import exercises

__all__ = ["exercises"]

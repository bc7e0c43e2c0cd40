"""What notebooks/deeper/09_in_your_own_model.ipynb imports: its exercise."""

from mha_helpers.pages.d09_in_your_own_model import exercises

__all__ = ["exercises"]

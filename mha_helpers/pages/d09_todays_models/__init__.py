"""What notebooks/deeper/09_todays_models.ipynb imports: its exercise."""

from mha_helpers.pages.d09_todays_models import exercises

__all__ = ["exercises"]

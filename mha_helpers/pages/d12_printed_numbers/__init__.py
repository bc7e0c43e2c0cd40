"""What notebooks/deeper/12_printed_numbers.ipynb imports: its exercise."""

from mha_helpers.pages.d12_printed_numbers import exercises

__all__ = ["exercises"]

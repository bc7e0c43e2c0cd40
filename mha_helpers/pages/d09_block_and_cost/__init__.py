"""What notebooks/deeper/09_block_and_cost.ipynb imports: its exercise."""

from mha_helpers.pages.d09_block_and_cost import exercises

__all__ = ["exercises"]

"""What notebooks/deeper/05_masks_in_pytorch.ipynb imports: its exercise."""

from mha_helpers.pages.d05_masks_in_pytorch import exercises

__all__ = ["exercises"]

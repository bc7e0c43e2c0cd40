"""What notebooks/deeper/05_masks_in_pytorch.ipynb imports: its exercise."""

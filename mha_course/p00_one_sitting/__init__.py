"""What notebooks/one_sitting.ipynb imports of its own: its exercises."""

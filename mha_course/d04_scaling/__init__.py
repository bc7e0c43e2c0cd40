"""What notebooks/deeper/04_scaling.ipynb imports: its exercise."""

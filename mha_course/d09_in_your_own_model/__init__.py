"""What notebooks/deeper/09_in_your_own_model.ipynb imports: its exercise."""

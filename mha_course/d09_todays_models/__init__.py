"""What notebooks/deeper/09_todays_models.ipynb imports: its exercise."""

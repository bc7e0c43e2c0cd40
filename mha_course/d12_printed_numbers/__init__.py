"""What notebooks/deeper/12_printed_numbers.ipynb imports: its exercise."""

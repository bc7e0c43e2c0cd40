"""What notebooks/deeper/09_block_and_cost.ipynb imports: its exercise."""

"""What remakes, hands out and measures the course. Run from its folder: ``python -m tools.refresh``."""

"""One folder for each page of the course, named like its notebook: its explorer, exercises and pictures."""

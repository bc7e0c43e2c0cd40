#!/usr/bin/env bash
# marimo 0.25.2: a notebook whose function reads a variable that a later cell sets anew, after `marimo convert`.
# Guess: the converted notebook prints what the old one printed; what cannot be converted is reported.
# Seen: a name that two cells define is made private to each cell, and the function keeps the one of its own cell: it
# goes on with the first value, though the later cell has set another and calls it. No error, no warning, other numbers.
# Where the value is printed by the cells themselves the conversion is right: there the names are numbered.
# Who meets it: whoever converts a notebook that sets d_k or heads again for a second example, with helper functions.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --no-compile marimo==0.25.2 nbformat==5.11.1 nbclient==0.11.0 ipykernel==7.4.0
cd "$folder"
"$folder/venv/bin/python" -I - <<'PY'
import subprocess
import sys
from importlib.metadata import version

import nbformat
from nbclient import NotebookClient
from nbformat.v4 import new_code_cell, new_notebook

print("marimo", version("marimo"))


def printed(*sources):
    """All that a notebook prints, run by nbclient; and as a script, converted by marimo."""
    notebook = new_notebook(cells=[new_code_cell(source) for source in sources])
    nbformat.write(notebook, "lesson.ipynb")
    NotebookClient(notebook).execute()
    before = [output.text for cell in notebook.cells for output in cell.outputs]
    convert = [sys.executable, "-m", "marimo", "-y", "convert", "lesson.ipynb", "-o", "lesson.py"]
    converted = subprocess.run(convert, capture_output=True, text=True)
    after = subprocess.run([sys.executable, "lesson.py"], capture_output=True, text=True)
    assert converted.returncode == after.returncode == 0
    return "".join(before).split(), after.stdout.split()


function = "d_k = 4\n\ndef scale():\n    return d_k ** -0.5\n\nprint(scale())"
by_function = printed(function, "d_k = 16\nprint(scale())")
over_three_cells = printed(function, "d_k = 16", "print(scale())")
by_cells = printed("d_k = 4\nprint(d_k ** -0.5)", "d_k = 16", "print(d_k ** -0.5)")
handed_over = printed("def scale(d_k):\n    return d_k ** -0.5", "d_k = 4\nprint(scale(d_k))", "d_k = 16\nprint(scale(d_k))")
print("printed by the notebook, and after convert")
print("a function reads d_k:     ", *by_function)
print("… over three cells:       ", *over_three_cells)
print("the cells read d_k:       ", *by_cells)
print("d_k is handed over:       ", *handed_over)
assert by_function == over_three_cells == (["0.5", "0.25"], ["0.5", "0.5"])
assert by_cells == handed_over == (["0.5", "0.25"], ["0.5", "0.25"])
PY

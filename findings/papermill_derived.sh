#!/usr/bin/env bash
# papermill 2.7.0: the cell tagged “parameters” holds d_model, heads and d_k = d_model // heads; run with heads=8.
# Guess: the value that was handed over takes the place of the default, so d_k follows.
# Seen: the handed values stand in a cell of their own *after* that cell, whose lines have all run with the defaults:
# heads is 8 and d_k still 16. Nothing is said; the notebook's own output shows both numbers. `papermill
# --help-notebook`, and inspect_notebook, list d_k as a parameter of its own.
# Who meets it: whoever sweeps one parameter and derives others beside it; derived values belong into the next cell.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --no-compile papermill==2.7.0 nbformat==5.11.1 ipykernel==7.4.0
cd "$folder"
"$folder/venv/bin/python" -I -W ignore - <<'PY'
from importlib.metadata import version

import nbformat
import papermill
from nbformat.v4 import new_code_cell, new_notebook

print("papermill", version("papermill"))
kernel = {"kernelspec": {"name": "python3", "language": "python", "display_name": "Python 3"}}
defaults, derived, look = "d_model = 64\nheads = 4", "d_k = d_model // heads", "print(d_model, heads, d_k)"


def run(*sources, **handed):
    """What the notebook prints; its first cell is the one of the parameters."""
    cells = [new_code_cell(source) for source in sources]
    cells[0].metadata["tags"] = ["parameters"]
    nbformat.write(new_notebook(cells=cells, metadata=kernel), "lesson.ipynb")
    done = papermill.execute_notebook("lesson.ipynb", "done.ipynb", parameters=handed, progress_bar=False)
    return done.cells[-1].outputs[0].text.strip()


beside = run(f"{defaults}\n{derived}", look, heads=8)
listed = list(papermill.inspect_notebook("lesson.ipynb"))
after = run(defaults, derived, look, heads=8)
print("d_k in the cell of parameters: d_model, heads, d_k =", beside, "listed as parameters:", listed)
print("d_k in the cell after it:      d_model, heads, d_k =", after)
assert beside == "64 8 16" and after == "64 8 8"
assert listed == ["d_model", "heads", "d_k"]
PY

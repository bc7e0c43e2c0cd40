#!/usr/bin/env bash
# papermill 2.7.0: a tuple given as a parameter of a notebook.
# Guess: it arrives as a tuple, or as a list, as JSON would have it.
# Seen: as a string, "(1, 2)", without a word; inside a list or a dictionary too. A loop over it goes over brackets,
# digits and commas, and its length is 6. Keys of a dictionary become strings: {1: 2} is {"1": 2}.
# Who meets it: whoever runs a notebook for several (heads, layers), or with a shape.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet papermill==2.7.0 ipykernel==7.4.0 nbformat==5.11.1
export PATH="$folder/venv/bin:$PATH"
"$folder/venv/bin/python" -I - <<'PY'
import tempfile
from importlib.metadata import version

import nbformat
import papermill
from nbformat.v4 import new_code_cell, new_notebook

print("papermill", version("papermill"))
given = {"as_list": [1, 2], "as_tuple": (1, 2), "inside": [(1, 2)], "by_number": {1: 2}}
cells = [
    new_code_cell("\n".join(f"{name} = None" for name in given), metadata={"tags": ["parameters"]}),
    new_code_cell("print([" + ", ".join(given) + "])\nprint(len(as_tuple), list(as_tuple))"),
]
kernel = {"kernelspec": {"name": "python3", "display_name": "Python 3", "language": "python"}}
with tempfile.TemporaryDirectory() as folder:
    nbformat.write(new_notebook(cells=cells, metadata=kernel), f"{folder}/asked.ipynb")
    papermill.execute_notebook(f"{folder}/asked.ipynb", f"{folder}/run.ipynb", parameters=given, progress_bar=False)
    last = nbformat.read(f"{folder}/run.ipynb", 4).cells[-1]
printed = "".join(output.text for output in last.outputs if output.get("name") == "stdout")
print("given:", list(given.values()))
print("seen in the notebook:", printed)
first, second = printed.splitlines()
assert first == str([[1, 2], "(1, 2)", ["(1, 2)"], {"1": 2}])
assert second == "6 " + str(list("(1, 2)"))
PY

#!/usr/bin/env bash
# ipywidgets 8.1.9 (nbclient 0.11.0): a cell that fails within `with output:` of an Output widget.
# Guess: the error is shown there and the cell fails, as a failing cell does; the rest of it is not run.
# Seen: the error is written into the widget and goes no further: the cell goes on after the block and counts as
# passed, the notebook runs to its end, and a runner (nbclient, so nbconvert --execute and papermill too) reports
# success. The same assert without the block stops it.
# Who meets it: whoever keeps a page's plots or checks in an Output and lets continuous integration run the page.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet ipywidgets==8.1.9 nbclient==0.11.0 ipykernel==7.4.0 nbformat==5.11.1
"$folder/venv/bin/python" -I - <<'PY'
from importlib.metadata import version

from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError
from nbformat.v4 import new_code_cell, new_notebook

print("ipywidgets", version("ipywidgets"), "nbclient", version("nbclient"))
blocks = {"with output": "import ipywidgets\nplace = ipywidgets.Output()\nwith place:\n", "alone": "if True:\n"}
passed, printed = {}, {}
for name, start in blocks.items():
    cells = [new_code_cell(start + "    assert 1 == 2\nprint('after the block')"), new_code_cell("print('next cell')")]
    try:
        NotebookClient(new_notebook(cells=cells), kernel_name="python3", timeout=60).execute()
        passed[name] = True
    except CellExecutionError:
        passed[name] = False
    printed[name] = [o.text.strip() for cell in cells for o in cell.outputs if o.get("name") == "stdout"]
    print(f"{name}: the runner says", "passed;" if passed[name] else "failed;", "printed:", printed[name])
assert passed == {"with output": True, "alone": False}
assert printed == {"with output": ["after the block", "next cell"], "alone": []}
PY

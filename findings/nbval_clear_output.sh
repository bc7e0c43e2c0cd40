#!/usr/bin/env bash
# nbval 0.11.0: a cell that clears its output, or updates what it displayed, as loops that show their progress do.
# Guess: a notebook that was just run and saved, and always prints the same, passes.
# Seen: it fails. Jupyter saves what is left after clear_output and the last state of a display; nbval collects all that
# was ever printed, and of a display the first state. Only the file that holds what no front end ever saves passes.
# Who meets it: whoever tests notebooks with a training loop that redraws its curve or its counter.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --no-compile nbval==0.11.0 pytest==9.2.0 nbclient==0.11.0 ipykernel==7.4.0
cd "$folder"
"$folder/venv/bin/python" -I - <<'PY'
import subprocess
import sys
from importlib.metadata import version

import nbformat
from nbclient import NotebookClient
from nbformat.v4 import new_code_cell, new_notebook, new_output

print(*(f"{name} {version(name)}" for name in ("nbval", "nbclient", "ipykernel")))
cells = {
    "plain": "for step in range(3):\n    print('step', step)",
    "cleared": "from IPython.display import clear_output\nfor step in range(3):\n    clear_output()\n    print('step', step)",
    "updated": "shown = display('step 0', display_id=True)\nfor step in range(3):\n    shown.update(f'step {step}')",
}


def passes(notebook):
    nbformat.write(notebook, "lesson.ipynb")
    command = [sys.executable, "-m", "pytest", "-q", "--nbval", "--nbval-current-env", "lesson.ipynb"]
    return subprocess.run(command, capture_output=True).returncode == 0


for name, source in cells.items():
    notebook = new_notebook(cells=[new_code_cell(source)])
    NotebookClient(notebook).execute()
    saved = [output.get("text") or output["data"]["text/plain"] for output in notebook.cells[0].outputs]
    as_saved = passes(notebook)
    print(f"{name:8} saved as {saved}, passes: {as_saved}")
    assert as_saved == (name == "plain")
    if name == "cleared":
        everything = "step 0\nstep 1\nstep 2\n"
        notebook.cells[0].outputs = [new_output("stream", name="stdout", text=everything)]
        with_everything = passes(notebook)
        print(f"{name:8} with all that was printed, passes: {with_everything}")
        assert with_everything
PY

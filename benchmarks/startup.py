"""What does starting cost? ``import mha_helpers`` beside ``import torch``; a notebook beside a bare one.

python benchmarks/startup.py            # the table
python benchmarks/startup.py --write    # also into README.md
python benchmarks/startup.py --notebooks    # pages 00 to 10, too
"""

import argparse
import statistics
import subprocess
import sys
import time
from pathlib import Path

import nbformat
from nbclient import NotebookClient

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from benchmarks.table import report  # noqa: E402

ROUNDS = 11


def seconds_of_import(code):
    # Timed inside the new process: the start of Python itself is the same for both.
    timed = f"import time; start = time.perf_counter(); {code}; print(time.perf_counter() - start)"
    done = subprocess.run([sys.executable, "-c", timed], cwd=ROOT, capture_output=True, text=True, check=True)
    return float(done.stdout)


def seconds_of_notebook(notebook):
    start = time.perf_counter()
    NotebookClient(notebook, timeout=120, resources={"metadata": {"path": ROOT / "notebooks"}}).execute()
    return time.perf_counter() - start


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--write", action="store_true", help="put the table into README.md")
    parser.add_argument("--notebooks", action="store_true", help="run pages 00 to 10, too")
    options = parser.parse_args()
    torch, ours = [], []
    for _ in range(ROUNDS):  # turn by turn, so that a busy machine slows both
        torch.append(seconds_of_import("import torch"))
        ours.append(seconds_of_import("import mha_helpers"))
    ratio = statistics.median(b / a for a, b in zip(torch, ours, strict=True))
    rows = [
        ["import torch", f"{statistics.median(torch):.2f} s", "1.00"],
        ["import mha_helpers", f"{statistics.median(ours):.2f} s", f"{ratio:.2f}"],
    ]
    if options.notebooks:
        code = nbformat.v4.new_code_cell("import seaborn\nimport torch")
        empty, all_times = [], {}
        for path in sorted((ROOT / "notebooks").glob("*.ipynb")):
            empty.append(seconds_of_notebook(nbformat.v4.new_notebook(cells=[code])))
            all_times[path.stem] = seconds_of_notebook(nbformat.read(path, as_version=4))
        base = statistics.median(empty)
        rows.append(["a notebook that imports torch and seaborn", f"{base:.1f} s", "1.0"])
        for name, seconds in all_times.items():
            rows.append([name, f"{seconds:.1f} s", f"{seconds / base:.1f}"])
        total = sum(all_times.values())
        rows.append(["all notebooks", f"{total:.1f} s", f"{total / sum(empty):.1f}"])
    report("startup", ["what", "seconds", "ratio"], rows, options.write)


if __name__ == "__main__":
    main()

"""What does each learner of a class cost the machine that runs all their notebooks?

    python benchmarks/class_load.py                           # 1, 2, 4 and 8 at once
    python benchmarks/class_load.py 1 10 30 --write           # also into README.md
    python benchmarks/class_load.py 1 4 --notebook 05_causal_mask

Every learner has a kernel and runs a whole notebook from the top, all beginning at the same moment, as
after "please open the next page": the worst minute of a lesson. One thread each, as a hub would set it.
Memory is what the kernels alone hold at their largest; pages that several share, such as PyTorch's
code, are divided among them. So a lonely learner counts more than one of many. Needs Linux.
"""

import argparse
import asyncio
import os
import statistics
import sys
import time
from pathlib import Path

import nbformat
from nbclient import NotebookClient

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from benchmarks.table import report  # noqa: E402

LOOK_EVERY = 0.5  # seconds between two looks at the memory


def megabytes(pid):
    """Return what a process holds now, its share of common pages included; 0 if it has ended."""
    try:
        lines = Path(f"/proc/{pid}/smaps_rollup").read_text(encoding="ascii").splitlines()
    except (FileNotFoundError, ProcessLookupError, PermissionError):
        return 0.0
    return sum(int(line.split()[1]) for line in lines if line.startswith("Pss:")) / 1024


async def learner(path, pids):
    """Run the notebook in a kernel of its own; return the seconds from the start of the kernel."""
    notebook = nbformat.read(path, as_version=4)
    start = time.perf_counter()
    client = NotebookClient(notebook, timeout=900, resources={"metadata": {"path": path.parent}})
    client.create_kernel_manager()
    async with client.async_setup_kernel(env={**os.environ, "OMP_NUM_THREADS": "1"}):
        pids.append(client.km.provisioner.pid)
        for index, cell in enumerate(notebook.cells):
            await client.async_execute_cell(cell, index)
        return time.perf_counter() - start


async def watch(pids, sums):
    while True:
        sums.append(sum(megabytes(pid) for pid in list(pids)))
        await asyncio.sleep(LOOK_EVERY)


async def lesson(count, path):
    """Return the seconds of each learner and the largest memory of all kernels together."""
    pids, sums = [], []
    watching = asyncio.create_task(watch(pids, sums))
    seconds = await asyncio.gather(*(learner(path, pids) for _ in range(count)))
    watching.cancel()
    return seconds, max(sums)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("learners", nargs="*", type=int, default=[1, 2, 4, 8], help="how many at once")
    parser.add_argument("--notebook", default="00_start_here", help="name of the page, without .ipynb")
    parser.add_argument("--write", action="store_true", help="put the table into README.md")
    arguments = parser.parse_args()
    if min(arguments.learners) < 1:
        parser.error(f"at least 1 learner is needed, got {min(arguments.learners)}.")
    path = ROOT / "notebooks" / f"{arguments.notebook}.ipynb"
    if not path.exists():
        parser.error(f"there is no {path.name} in notebooks/.")
    if not Path("/proc/self/smaps_rollup").exists():
        parser.error("this needs Linux, where /proc tells what each kernel holds.")
    cores = os.cpu_count()
    print(f"{path.name}, {cores} cores, load before the start {os.getloadavg()[0]:.1f}", flush=True)
    rows = []
    for count in arguments.learners:
        seconds, memory = asyncio.run(lesson(count, path))
        rows.append(
            (
                count,
                f"{statistics.median(seconds):.0f} s",
                f"{max(seconds):.0f} s",
                f"{max(seconds) / count:.1f} s",
                f"{memory / count:.0f} MB",
            )
        )
        print(*rows[-1], sep="  ", flush=True)
    print()
    headings = (
        f"learners at once ({cores} cores)",
        "whole page, median",
        "slowest",
        "slowest ÷ learners",
        "memory each",
    )
    report("class_load", headings, rows, arguments.write)


if __name__ == "__main__":
    main()

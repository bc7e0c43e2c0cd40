"""What does a class cost? The language model of page 11 in eight kernels at once, and thirty learners.

    python -m benchmarks.language         each kernel reads the model's file, then all map one file: ratios
    python -m benchmarks.language class   thirty learners begin page 00 in a minute, then eight page 11

Seconds are CPU seconds, in a class those on the clock. A kernel's own memory is what it shares with none.
"""

import ast
import contextlib
import os
import statistics
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import psutil
from jupyter_client.manager import start_new_kernel

from tools.lab import jupyterlab
from tools.notebook import ROOT, with_helpers
from tools.page import Page

KERNELS, LEARNERS = 8, 30
NOT_KEPT = "from mha_course.models import weights; weights.FOLDERS = ()"
LOAD = """
import statistics, time, timeit, psutil
from mha_course.models import load_language_model
from mha_course.p11_can_your_class_write import language_explorer
def seconds(function):
    return timeit.timeit(function, number=1, timer=time.process_time)
load = seconds(load_language_model)"""
TYPE = """panel = language_explorer()
words = [seconds(lambda: panel.set(sentence=f"The capital of France is {key}")) for key in "abcdefghi"]"""
MEASURED = "load, psutil.Process().memory_full_info().uss / 1e6, 1000 * statistics.median(words)"


def new_kernel(*_):
    options = {"extra_arguments": ["--log-level=ERROR"], "cwd": ROOT, "startup_timeout": 300}
    return start_new_kernel(env=with_helpers(), **options)[1]


def run(kernel, code, value="None"):
    """Run code in a kernel, and return the value of an expression there."""
    options = {"output_hook": lambda _: None, "user_expressions": {"value": value}, "timeout": 900}
    reply = kernel.execute_interactive(code, **options)["content"]
    if reply["status"] != "ok":
        raise RuntimeError(f"{reply['ename']}: {reply['evalue']}")
    return ast.literal_eval(reply["user_expressions"]["value"]["data"]["text/plain"])


def medians(pool, before=""):
    """Return what kernels measure that load the model at once and then use it one after another."""
    kernels = list(pool.map(new_kernel, range(KERNELS)))
    list(pool.map(run, kernels, [before + LOAD] * KERNELS))
    values = [run(kernel, TYPE, MEASURED) for kernel in kernels]
    for kernel in kernels:
        kernel.shutdown()
    return map(statistics.median, zip(*values, strict=True))


def begin(page, wait):
    """Run a page in a new kernel as far as its explorer, and return the seconds that took."""
    time.sleep(wait)
    start, kernel = time.monotonic(), new_kernel()
    cells = [cell.source for cell in Page(ROOT / "notebooks" / page).code]
    for source in cells[: 1 + next(i for i, source in enumerate(cells) if "explorer()" in source)]:
        run(kernel, source)
    return time.monotonic() - start


def memory():
    """Return the memory of all that was started here, in GB; what they share counts once."""
    return sum(each.memory_full_info().pss for each in psutil.Process().children(recursive=True)) / 1e9


def whole_class(pool, stack):
    print(f"{os.cpu_count()} cores, {psutil.virtual_memory().total / 2**30:.0f} GiB")
    folders = [Path(stack.enter_context(tempfile.TemporaryDirectory())) for _ in range(LEARNERS)]
    with ThreadPoolExecutor(4) as few:
        list(few.map(lambda folder: stack.enter_context(jupyterlab(folder)), folders))
    print(f"{LEARNERS} servers: {memory():.1f} GB", flush=True)
    for page, learners in (("00_start_here.ipynb", LEARNERS), ("11_can_your_class_write.ipynb", KERNELS)):
        waits = [60 * i / learners for i in range(learners)]
        times = sorted(pool.map(begin, [page] * learners, waits))
        half, last = times[learners // 2], times[-1]
        shown = f"its picture after {half:.0f} s, at most {last:.0f}"
        print(f"and {learners} × {page}: {memory():.1f} GB; {shown}")
    for child in psutil.Process().children(recursive=True):
        child.terminate()


def main(arguments):
    with ThreadPoolExecutor(LEARNERS) as pool, contextlib.ExitStack() as stack:
        if arguments == ["class"]:
            return whole_class(pool, stack)
        print(f"| {KERNELS} kernels at once | read | mapped | ratio |\n|---|--:|--:|--:|")
        names = ("load, CPU s", "own memory, MB", "next words, CPU ms")
        for name, before, after in zip(names, medians(pool, NOT_KEPT), medians(pool), strict=True):
            print(f"| {name} | {before:.3g} | {after:.3g} | {after / before:.2f} |")


if __name__ == "__main__":
    main(sys.argv[1:])

"""Photograph a notebook as a learner sees it: run in a real JupyterLab, the whole page in pieces.

    python tests/browser/screenshot.py 03 /tmp/shots              # 03_01.png, 03_02.png … 1300 × 1600
    python tests/browser/screenshot.py 03 /tmp/shots --dark
    python tests/browser/screenshot.py 00 /tmp/shots --stored     # as opened, nothing run

It needs a Chromium: on the PATH, or named by the environment variable COURSE_CHROMIUM.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from pathlib import Path

from lab import (
    ROOT,
    chromium,
    chromium_or_exit,
    error_outputs,
    full_length,
    jupyterlab,
    open_notebook,
    run_all,
)

WINDOW = {"width": 1300, "height": 1680}  # some of the height goes to JupyterLab's bars


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("notebook", help="its number (03), or the path of any .ipynb file")
    parser.add_argument("folder", type=Path, help="where the pictures go")
    parser.add_argument("--dark", action="store_true", help="use JupyterLab's dark theme")
    parser.add_argument("--stored", action="store_true", help="show the stored outputs, run nothing")
    options = parser.parse_args(arguments)
    executable = chromium_or_exit()
    given = Path(options.notebook)
    found = [given] if given.suffix == ".ipynb" else sorted((ROOT / "notebooks").glob(f"{given}*.ipynb"))
    if not found or not found[0].is_file():
        print(f"There is no notebook {options.notebook}.", file=sys.stderr)
        return 1
    source, name = found[0].resolve(), found[0].stem
    with (
        tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as temporary,
        jupyterlab(Path(temporary), options.dark, source.parent) as address,
        chromium(executable) as browser,
    ):
        page = browser.new_page(viewport=WINDOW)
        open_notebook(page, address, name)
        page.evaluate(
            "() => (window.jupyterapp.shell.collapseLeft(), window.jupyterapp.shell.collapseRight())"
        )
        if not options.stored:
            run_all(page)
        page.wait_for_timeout(1000)
        faults = error_outputs(page)
        for path in full_length(page, options.folder, name.split("_")[0] + ("_dark" if options.dark else "")):
            print(path)
    for fault in faults:
        print(fault, file=sys.stderr)
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())

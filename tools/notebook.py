"""The pages of the course as files: where they are, how they run, and the one form in which they are stored.

Each notebook runs alone, in its own folder, with one thread. Stored are:

* the set-up cell as it stands below, folded (a repository written into it by `set_repository.py` is kept);
* cell ids made of page, section and position in the section, `03-by-hand-02`: no two pages have the same,
  because MyST makes them labels of the whole; execution counts 1, 2, 3 …;
* at each heading the beginning of a slide, so that nbconvert can make slides of a page;
* pictures as PNG without the chunks that name versions. The picture of a Panel lives in a widget, which
  GitHub and an untrusted JupyterLab do not show: it is drawn as a PNG, and the widget is left out;
* the code cells of an exercise with the tags of `EXERCISE_TAGS`, so that a learner's slip there does not stop
  *Run All*, which would empty the cells below. No stored cell raises anything;
* the output of a cell with the tag `answer` folded until it is run, because a question stands above it; the
  tags `hide-output` and, of the set-up, `hide-input` say the same to Jupyter Book.
"""

import importlib.util
import os
import re
from pathlib import Path

import nbformat
from ipykernel.ipkernel import IPythonKernel
from nbclient import NotebookClient
from nbconvert.preprocessors import CoalesceStreamsPreprocessor
from nbformat import NotebookNode

from mha_course.exercises.engine import Exercise
from tools.stored_pictures import bare_png, live_picture, stored_picture

ROOT = Path(__file__).resolve().parent.parent
CELL_TIMEOUT = 120  # seconds
WIDGET_VIEW = "application/vnd.jupyter.widget-view+json"
WIDGET_STATE = "application/vnd.jupyter.widget-state+json"
SETUP_METADATA = {"cellView": "form", "jupyter": {"source_hidden": True}, "tags": ["set-up", "hide-input"]}
EXERCISE_TAGS = ["exercise", "raises-exception"]
FOLDED_OUTPUT = {"collapsed": True, "jupyter": {"outputs_hidden": True}}  # JupyterLab writes both
SLIDES = {"# ": "slide", "## ": "slide", "### ": "subslide"}
KEPT_METADATA = ("cellView", "jupyter", "tags")
# What JupyterLab writes when it opens a page, so that the page does not show as changed. Kernels of the
# environment that course.py makes all say that they are version 3.
NOTEBOOK_METADATA = {
    "kernelspec": {"display_name": "Python 3 (ipykernel)", "language": "python", "name": "python3"},
    "language_info": {**IPythonKernel.language_info, "version": "3"},
}
SETUP = """\
# @title Set-up: run this cell first (Shift + Enter)
import importlib.util, sys, torch

sys.path += ["..", "../.."]  # where the helpers are not installed, they are in a folder above
assert importlib.util.find_spec("mha_helpers"), (
    "The helpers of this page are not here. Open it in the course's folder, by a Colab badge, or as one file."
)
import mha_helpers

torch.set_printoptions(precision=3, sci_mode=False)
print("✓ ready")"""
IN_COLAB = """\
if "google.colab" in sys.modules:  # Colab brings this page alone
    get_ipython().system("pip install -q --no-deps git+https://github.com/{repository}")
"""
# A page calls its exercises so, one_sitting.ipynb has those of several pages: `exercises_03` …
EXERCISES = re.compile(r"(?m)^from mha_course\.(\w+) import (?:\w+, )*exercises(?: as (\w+))?(?:, \w+)*$")


def setup_cell(repository=""):
    """The source of the set-up cell; with a repository ("owner/name") Colab installs the helpers from it."""
    install = IN_COLAB.format(repository=repository) if repository else ""
    return SETUP.replace("assert ", install + "assert ", 1)


def is_setup_cell(source):
    return source.startswith("# @title Set-up")


def repository_of(source):
    """The repository ("owner/name" or "") that a set-up cell names."""
    address = re.search(r'git\+https://github\.com/([\w.-]+/[\w.-]+)"', source)
    return address.group(1) if address else ""


def exercise_cells(exercise, name, module="exercises"):
    """The sources of an exercise's three cells: heading and task; stub and check; calls for help."""
    evening = "*For the evening.* " if exercise.stars == 3 else ""
    gap = "\n\n" if exercise.stub.startswith(("def ", "class ")) else "\n"
    return (
        f"### {exercise.heading}\n\n{evening}{exercise.task}",
        f"{exercise.stub}{gap}\n{module}.{name}.check({exercise.variable})",
        f"# {module}.{name}.hint()\n# {module}.{name}.solution()",
    )


def exercises_of(module):
    """The exercises of a page's module by their names, in the order of the page."""
    return {name: value for name, value in vars(module).items() if isinstance(value, Exercise)}


def exercises_in(notebook):
    """The exercises of the modules that a page imports, each with the sources of its three cells."""
    exercises = []
    for page, alias in EXERCISES.findall("\n".join(cell.source for cell in notebook.cells)):
        module = importlib.import_module(f"mha_course.{page}.exercises")
        for name, exercise in exercises_of(module).items():
            exercises.append((exercise, exercise_cells(exercise, name, alias or "exercises")))
    return exercises


def page_folders():
    """The packages of ``mha_course`` that belong to a page, named like its notebook: p07_…, d09_…"""
    return sorted(path.parent.name for path in (ROOT / "mha_course").glob("[pd][0-9][0-9]_*/__init__.py"))


def all_pages():
    """The notebooks of the course, those of its folders after the others."""
    notebooks = (ROOT / "notebooks").rglob("*.ipynb")
    pages = [path for path in notebooks if ".ipynb_checkpoints" not in path.parts]
    return sorted(pages, key=lambda path: (len(path.parts), path))


def name_of(path):
    """The name of a page in a folder that holds all of them."""
    return path.stem if path.parent.name != "deeper" else f"deeper_{path.stem}"


def faults_of(cells):
    """Errors and stderr that cells show."""
    faults = []
    for cell in cells:
        for output in cell.get("outputs", []):
            if output["output_type"] == "error":
                faults.append(f"{cell['id']}: {output['ename']}: {output['evalue']}")
            elif output.get("name") == "stderr":
                faults.append(f"{cell['id']}: stderr: {''.join(output['text'])}")
    return faults


def lead_links(page, path, form):
    """Lead the links of the page at ``path`` to other pages to files named by ``form``, in place."""

    def link(target):
        return "](" + form.format(name_of((path.parent / target[1]).resolve()))

    for cell in page.cells:
        if cell.cell_type == "markdown":
            cell.source = re.sub(r"\]\(([\w./]+\.ipynb)", link, cell.source)


def with_helpers():
    """The environment variables of a process whose kernels find the helpers, installed or not."""
    paths = filter(None, (os.environ.get("PYTHONPATH"), str(ROOT)))
    return {**os.environ, "OMP_NUM_THREADS": "1", "PYTHONPATH": os.pathsep.join(paths)}


def execute(notebook, folder):
    """Run all cells in place, in `folder`. Raises CellExecutionError when one of them raises."""
    os.environ["JUPYTER_PREFER_ENV_PATH"] = "1"  # this Python, whatever kernel a user calls "python3"
    options = {"kernel_name": "python3", "extra_arguments": ["--log-level=ERROR"], "record_timing": False}
    place = {"metadata": {"path": str(folder)}}
    client = NotebookClient(notebook, timeout=CELL_TIMEOUT, resources=place, **options)
    client.execute(env=with_helpers())


def normalise_output(output, widgets):
    """Bring one output of a cell into its stored form, in place."""
    if "data" not in output:
        return
    view = output.data.pop(WIDGET_VIEW, None)
    output.metadata.pop(WIDGET_VIEW, None)
    svg = live_picture(view["model_id"], widgets) if view else None
    if svg:
        output.data["image/png"], output.metadata["image/png"] = stored_picture(svg)
    elif "image/png" in output.data:
        output.data["image/png"] = bare_png(output.data["image/png"])


def sections(cells):
    """The `##` headings and their cells; "top" is what stands before the first."""
    parts = [("top", [])]
    for cell in cells:
        if cell.cell_type == "markdown" and (heading := re.match(r"## +(.+)", cell.source)):
            parts.append((heading.group(1).strip(), []))
        parts[-1][1].append(cell)
    return parts


def id_prefix(path):
    """How the ids of a page's cells begin: 09-, one- of one_sitting; in `deeper/` d09-block-, d09-other- …"""
    number, word, *_ = [*re.split(r"[^A-Za-z0-9]", path.stem), ""]
    return f"d{number}-{word[:12]}-" if path.parent.name == "deeper" else f"{number[:12]}-"


def cell_ids(cells, prefix):
    """Ids that a change elsewhere in the notebook leaves alone: page, section, position in the section."""
    ids = []
    for heading, part in sections(cells):
        section = re.sub(r"[^a-z0-9]+", "-", heading.lower()).strip("-")[:40] or "part"
        ids += [f"{prefix}{section}-{position:02d}" for position, _ in enumerate(part, start=1)]
    return ids


def normalise(notebook, path):
    """Bring the executed notebook of a path into the stored form, in place; also one that Colab has saved."""
    widgets = notebook.metadata.get("widgets", {}).get(WIDGET_STATE, {})
    widgets = widgets.get("state", widgets)  # Colab writes them one level higher than JupyterLab
    of_exercises = {source for _, sources in exercises_in(notebook) for source in sources[1:]}
    count = 0
    for cell, cell_id in zip(notebook.cells, cell_ids(notebook.cells, id_prefix(path)), strict=True):
        cell.id = cell_id
        kept = {key: cell.metadata[key] for key in KEPT_METADATA if cell.metadata.get(key)}
        cell.metadata = NotebookNode(kept)
        cell.source = cell.source.rstrip("\n")
        slide = SLIDES.get(re.match("#* ?", cell.source)[0])
        if cell.cell_type == "markdown" and slide:
            cell.metadata.slideshow = NotebookNode(slide_type=slide)
        if cell.cell_type == "code":
            if cell.source in of_exercises:
                cell.metadata.tags = [*EXERCISE_TAGS]
            if "answer" in cell.metadata.get("tags", []):
                cell.metadata.update(nbformat.from_dict(FOLDED_OUTPUT))
                cell.metadata.tags = ["answer", "hide-output"]
            elif "outputs_hidden" in cell.metadata.get("jupyter", {}):  # folded by hand
                cell.metadata.pop("jupyter")
            count += 1
            cell.execution_count = count
            CoalesceStreamsPreprocessor().preprocess_cell(cell, {}, 0)
            for output in cell.outputs:
                normalise_output(output, widgets)
                if output.output_type == "execute_result":
                    output.execution_count = count
    notebook.metadata = nbformat.from_dict(NOTEBOOK_METADATA)
    notebook.nbformat, notebook.nbformat_minor = 4, 5


def write_setup_cell(notebook):
    """Bring the set-up cell up to date; where the page has none yet, put it below the first cell."""
    first = next((cell for cell in notebook.cells if cell.cell_type == "code"), None)
    if first is None or not is_setup_cell(first.source):
        first = nbformat.v4.new_code_cell()
        notebook.cells.insert(1, first)
    first.source = setup_cell(repository_of(first.source))
    first.metadata = nbformat.from_dict(SETUP_METADATA)


def as_text(notebook):
    """The bytes of the file: indent 1, sorted keys, one newline at the end, as JupyterLab saves it."""
    return nbformat.writes(notebook, version=4).rstrip("\n") + "\n"


def remade(notebook, path):
    """Run a changed notebook as the page at ``path``, and return it in its stored form."""
    execute(notebook, path.parent)
    normalise(notebook, path)
    nbformat.validate(notebook)
    return as_text(notebook)

"""For the JupyterLab of the course: a saved Panel stays saved, and is exported in its words. `course.py` puts
a copy where JupyterLab's server reads it.

A page that is opened again shows its Panels from what the page itself stored. JupyterLab stores only Panels
that have a kernel, so saving such a page, as it does by itself after two minutes, would lose the others.
"""

import html
import json
import re
import warnings
from pathlib import Path

from jupyter_server.utils import to_os_path

c = get_config()  # noqa: F821 - given to every configuration of Jupyter

STATE = "application/vnd.jupyter.widget-state+json"


def widgets_of(notebook):
    """The widgets that a notebook stores: model id -> state."""
    return notebook.get("metadata", {}).get("widgets", {}).get(STATE, {}).get("state", {})


def keep_widgets(model, path, contents_manager, **_):
    """Before a notebook is saved: give it those of its widgets that the file has, and no others."""
    if model["type"] != "notebook" or model["content"].get("nbformat") != 4:
        return
    notebook = model["content"]
    file = Path(to_os_path(path, contents_manager.root_dir))
    try:
        saved = widgets_of(json.loads(file.read_text(encoding="utf-8")))
    except (OSError, ValueError, AttributeError):  # a new notebook, or a file that was no notebook
        return
    known, widgets, part = saved | widgets_of(notebook), {}, notebook["cells"]
    while part:  # the ids of the widgets that cells or widgets show are words in them
        ids = set(re.findall(r"(?:IPY_MODEL_)?(\w+)", json.dumps(part)))
        part = {model_id: known[model_id] for model_id in ids & known.keys() - widgets.keys()}
        widgets = widgets | part
    if widgets != widgets_of(notebook):
        stored = notebook["metadata"].setdefault("widgets", {}).setdefault(STATE, {})
        stored.update(version_major=2, version_minor=0, state=widgets)


def with_words(notebook, resources):
    """Before a notebook is exported: write its pictures with their words, which nbconvert leaves out."""
    for output in (output for cell in notebook.cells for output in cell.get("outputs", [])):
        about = output.get("metadata", {}).get("image/png", {})
        if about.get("alt") and "image/png" in output.data:
            width = f' width="{about["width"]}"' if "width" in about else ""
            words, picture = html.escape(about["alt"]), output.data["image/png"].strip()
            output.data["text/html"] = f'<img alt="{words}"{width} src="data:image/png;base64,{picture}">'
    return notebook, resources


c.HTMLExporter.preprocessors = [with_words]  # slides, too
warnings.filterwarnings("ignore", "Overriding existing pre_save_hook")  # by itself: it is set more than once
c.FileContentsManager.pre_save_hook = keep_widgets
c.LabApp.custom_css = True
c.ServerApp.tornado_settings = {"static_custom_path": [str(Path(__file__).parent / "custom")]}
# A page exported as HTML has no kernel: a Panel is there in its words, not as an empty place.
c.NbConvertBase.display_data_priority = [
    "text/html", "image/svg+xml", "image/png", "image/jpeg", "text/latex", "text/markdown", "text/plain",
]  # fmt: skip

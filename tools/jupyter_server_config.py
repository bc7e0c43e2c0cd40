"""For the JupyterLab of the course: a Panel that has been saved stays saved. `course.py` puts a copy where
JupyterLab's server reads it.

A page that is opened again shows its Panels from what the page itself stored. JupyterLab stores only Panels
that have a kernel, so saving such a page, as it does by itself after two minutes, would lose the others.
"""

import json
import re
import warnings
from pathlib import Path

from jupyter_server.utils import to_os_path

c = get_config()  # noqa: F821 - given to every configuration of Jupyter

STATE = "application/vnd.jupyter.widget-state+json"
VIEW = "application/vnd.jupyter.widget-view+json"


def widgets_of(notebook):
    """The widgets that a notebook stores: model id -> state."""
    return notebook.get("metadata", {}).get("widgets", {}).get(STATE, {}).get("state", {})


def views_of(notebook):
    """The ids of the widgets that its outputs show."""
    outputs = [output for cell in notebook["cells"] for output in cell.get("outputs", [])]
    return {output["data"][VIEW]["model_id"] for output in outputs if VIEW in output.get("data", {})}


def with_parts(model_ids, widgets):
    """The widgets of these ids, and those inside them."""
    kept, open_ids = {}, set(model_ids)
    while open_ids:
        model_id = open_ids.pop()
        if model_id in widgets and model_id not in kept:
            kept[model_id] = widgets[model_id]
            open_ids.update(re.findall(r"IPY_MODEL_(\w+)", json.dumps(widgets[model_id])))
    return kept


def keep_widgets(model, path, contents_manager, **_):
    """Before a notebook is saved: give it back those of its widgets that the file has and it has not."""
    if model["type"] != "notebook" or model["content"].get("nbformat") != 4:
        return
    notebook = model["content"]
    lost = views_of(notebook) - set(widgets_of(notebook))
    file = Path(to_os_path(path, contents_manager.root_dir))
    try:
        saved = json.loads(file.read_text(encoding="utf-8"))
        kept = with_parts(lost, widgets_of(saved))
    except (OSError, ValueError, AttributeError):  # a new notebook, or a file that was no notebook
        return
    if kept:
        stored = notebook["metadata"].setdefault("widgets", {}).setdefault(STATE, {})
        stored.update(version_major=2, version_minor=0, state={**kept, **widgets_of(notebook)})


warnings.filterwarnings("ignore", "Overriding existing pre_save_hook")  # by itself: it is set more than once
c.FileContentsManager.pre_save_hook = keep_widgets

"""What JupyterLab's server does before it saves a page: no Panel that the page shows is lost."""

from types import SimpleNamespace

import nbconvert
import nbformat
import pytest
from traitlets.config import Config

from tools.notebook import ROOT, WIDGET_STATE, WIDGET_VIEW


@pytest.fixture
def config():
    """The configuration, as the server reads it."""
    config, file = Config(), ROOT / "tools/environment/etc/jupyter/jupyter_server_config.py"
    names = {"get_config": lambda: config, "__file__": file}
    exec(compile(file.read_text(encoding="utf-8"), file, "exec"), names)
    return config


@pytest.fixture
def before_saving(config):
    return config.FileContentsManager.pre_save_hook


def notebook(shown, stored):
    """A page that shows some widgets and stores the states of some."""
    outputs = [
        nbformat.v4.new_output("display_data", {WIDGET_VIEW: {"model_id": model_id}}) for model_id in shown
    ]
    page = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(outputs=outputs)])
    page.metadata.widgets = {WIDGET_STATE: {"state": stored}}
    return page


def test_a_panel_of_yesterday_is_kept_with_its_parts_beside_one_run_anew(before_saving, tmp_path):
    yesterday = {
        "old": {"children": ["IPY_MODEL_part"]},
        "part": {"“of”": ["IPY_MODEL_old", "IPY_MODEL_anew"]},
    }
    yesterday |= {"anew": {"value": 1}, "gone": {}}
    nbformat.write(notebook(["old", "anew", "gone"], yesterday), tmp_path / "page.ipynb")
    today = notebook(["old", "anew"], {"anew": {"value": 2}})
    manager = SimpleNamespace(root_dir=str(tmp_path))
    before_saving({"type": "notebook", "content": today}, "page.ipynb", manager)
    kept = {name: state for name, state in yesterday.items() if name in ("old", "part")}
    stored = {"state": {**kept, "anew": {"value": 2}}, "version_major": 2, "version_minor": 0}
    assert today.metadata.widgets[WIDGET_STATE] == stored
    (tmp_path / "list.ipynb").write_text("[1]", encoding="utf-8")
    (tmp_path / "text.ipynb").write_text("no notebook", encoding="utf-8")
    before_saving({"type": "file", "content": "a text"}, "page.ipynb", manager)  # nothing is raised
    of_old = {"nbformat": 3, "worksheets": []}
    for content, name in ((of_old, "page"), (today, "text"), (today, "list"), (today, "new")):
        before_saving({"type": "notebook", "content": content}, f"{name}.ipynb", manager)
    assert today.metadata.widgets[WIDGET_STATE] == stored
    for shown, expected in ((["old"], {**kept, "anew": {"value": 1}}), ([], None)):  # nothing was run today
        unrun = notebook(shown, {})
        del unrun.metadata["widgets"]
        before_saving({"type": "notebook", "content": unrun}, "page.ipynb", manager)
        assert (
            unrun.metadata.get("widgets", {WIDGET_STATE: {"state": None}})[WIDGET_STATE]["state"] == expected
        )


def test_a_saved_panel_is_exported_in_its_words(config):
    page = notebook(["old"], {"old": {"model_name": "VBoxModel"}})
    page.cells[0].outputs[0].data["text/plain"] = "Panel: Three heads\n“eats” looks at “cat”"
    by_itself, with_ours = (
        nbconvert.HTMLExporter(config=each).from_notebook_node(page)[0].split("<main>")[1]
        for each in (Config(), config)
    )
    assert "“eats” looks at “cat”" not in by_itself and "“eats” looks at “cat”" in with_ours

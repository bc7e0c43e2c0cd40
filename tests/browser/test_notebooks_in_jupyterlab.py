"""Every notebook in a real JupyterLab: all cells run, every control answers to the keyboard.

COURSE_SCREENSHOTS=/tmp/shots python -m pytest tests/browser -k 03_qk
"""

import controls
import nbformat
import pytest
from controls import drive, explorers, faults_of
from lab import ROOT, error_outputs, run_all

NAMES = [path.stem for path in sorted((ROOT / "notebooks").glob("*.ipynb"))]


@pytest.mark.parametrize("name", NAMES)
def test_a_notebook_runs_and_every_control_answers(name, open_in_lab):
    page, watched = open_in_lab(name)
    run_all(page)
    assert faults_of(page, watched) == []


@pytest.mark.parametrize("name", NAMES)
def test_a_notebook_that_was_only_opened_shows_its_pictures(name, open_in_lab):
    page, watched = open_in_lab(name)
    page.locator(".jp-OutputArea-output img").first.wait_for(timeout=60_000)
    assert page.locator("text=Error displaying widget").count() == 0
    assert page.locator("text=Loading widget").count() == 0
    assert watched.strangers == []


# --- the tests above would notice -----------------------------------------------------------------------

FAULTY = """\
import ipywidgets
from IPython.display import HTML, display
from matplotlib.figure import Figure

from mha_helpers import Panel


class Dot:
    def layout(self, state):
        return "one"

    def draw(self, state):
        figure = Figure(figsize=(4, 2))
        axes = figure.subplots()
        axes.set_xlim(0, 10)
        return figure, axes.plot([0], [0], "o")[0]

    def update(self, dot, state):
        dot.set_data([state["at"]], [0])


def compute(alive, dead, mask, ignored, late, tick, deaf, word, mute, way):
    at = alive + (late if mask == "late" else 0) - 2 * tick - (word != "") / 2 - (way == "left") / 4
    return {"at": at}


controls = {
    "alive": ipywidgets.IntSlider(9, 1, 9),
    "dead": ipywidgets.IntSlider(3, 1, 9),
    "mask": ipywidgets.Dropdown(options=["none", "early", "late"]),
    "ignored": ipywidgets.Dropdown(options=["one", "two"]),
    "late": ipywidgets.IntSlider(3, 1, 9),
    "tick": ipywidgets.Checkbox(),
    "deaf": ipywidgets.Checkbox(),
    "word": ipywidgets.Text(),
    "mute": ipywidgets.Text(),
    "way": ipywidgets.ToggleButtons(options=["right", "left"]),
}
display(Panel(controls, compute, Dot(), lambda state: f"A dot at {state['at']}."))
display(HTML('<img src="http://192.0.2.1/elsewhere.png" alt="from elsewhere">'))
"""


def test_faults_of_a_page_are_noticed(lab_folder, open_in_lab, monkeypatch):
    monkeypatch.setattr(controls, "PATIENCE", 300)  # it waits for nothing many times, and this page is small
    first = nbformat.v4.new_code_cell("import sys\n\nsys.path.insert(0, '..')\n" + FAULTY)
    notebook = nbformat.v4.new_notebook(cells=[first])
    notebook.cells += [nbformat.v4.new_code_cell("import sys\n\nprint('a warning', file=sys.stderr)")]
    notebook.cells += [nbformat.v4.new_code_cell("1 / 0")]
    notebook.metadata["kernelspec"] = {"display_name": "Python 3", "language": "python", "name": "python3"}
    nbformat.write(notebook, lab_folder / "course" / "notebooks" / "faulty.ipynb")
    page, watched = open_in_lab("faulty")
    run_all(page)
    shown = error_outputs(page)
    assert len(shown) == 2 and "a warning" in shown[0] and "ZeroDivisionError" in shown[1]
    (explorer,) = explorers(page)
    faults = drive(explorer)
    assert [fault.split()[1] for fault in faults] == ["dead", "deaf", "mute", "ignored"]
    assert set(watched.strangers) == {"http://192.0.2.1/elsewhere.png"}

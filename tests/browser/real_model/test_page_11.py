"""Page 11 in a real JupyterLab. Apart, because it needs transformers and a model's weights."""

import shutil

import pytest
from controls import faults_of
from lab import ROOT, run_all

FOLDER = ROOT / "notebooks" / "real_model"


@pytest.mark.parametrize("name", [path.stem for path in sorted(FOLDER.glob("*.ipynb"))])
def test_a_notebook_runs_and_every_control_answers(name, lab_address, lab_folder, open_in_lab):
    shutil.copy(FOLDER / f"{name}.ipynb", lab_folder / "course" / "notebooks")
    page, watched = open_in_lab(name)
    run_all(page)
    assert page.locator("text=your class = transformers: True").count() == 1, "the model was not there"
    assert faults_of(page, watched) == []

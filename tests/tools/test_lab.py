"""What is asked of a JupyterLab and of a browser, and what is made of their answers; neither is started here."""

import io
import operator
from contextlib import nullcontext
from pathlib import Path
from unittest.mock import MagicMock, Mock

import pytest
from PIL import Image

pytest.importorskip("playwright")

from tools import lab, screenshot

ERROR = {"output_type": "error", "ename": "E", "evalue": "no"}
WARNED = {"output_type": "stream", "name": "stderr", "text": ["a", "b"]}
CELLS = [
    {"id": "words", "metadata": {}},
    {"id": "warned", "metadata": {}, "outputs": [WARNED, WARNED | {"name": "stdout"}]},
    {"id": "meant", "metadata": {"tags": ["raises-exception"]}, "outputs": [ERROR]},
    {"id": "raised", "metadata": {"tags": ["set-up"]}, "outputs": [ERROR]},
    {"id": "slip", "metadata": {"tags": ["exercise", "raises-exception"]}, "outputs": [ERROR]},
]
FAULTS = "warned: stderr: ab\nraised: E: no\nslip: E: no"


def test_a_jupyterlab_has_the_settings_of_the_course_and_of_a_person_only_the_browser(tmp_path, monkeypatch):
    """It is waited for until it answers, and ended after its use."""
    popen, urlopen = MagicMock(), Mock(side_effect=[ConnectionError, Mock()])
    monkeypatch.setattr(lab.subprocess, "Popen", popen)
    monkeypatch.setattr(lab.urllib.request, "urlopen", urlopen)
    server = popen.return_value.__enter__.return_value
    with lab.jupyterlab(tmp_path) as address:
        assert urlopen.call_args[0] == (f"{address}/api",) and urlopen.call_count == 2
        assert not server.mock_calls
    assert server.terminate.called
    command, environment = popen.call_args[0][0], popen.call_args[1]["env"]
    own = {name for name, value in environment.items() if str(tmp_path) in value}
    assert own == {"JUPYTER_CONFIG_DIR", "JUPYTER_CONFIG_PATH", "JUPYTER_DATA_DIR", "IPYTHONDIR"}
    assert Path(command[-1].removeprefix("--LabApp.app_settings_dir="), "overrides.json").exists()
    (settings,) = tmp_path.rglob("config/**/*.jupyterlab-settings")
    assert settings.read_text(encoding="utf-8") == '{"windowingMode": "none"}'
    monkeypatch.setattr(lab.shutil, "which", lambda name: name)
    monkeypatch.setenv("COURSE_CHROMIUM", "mine")
    assert lab.find_chromium() == "mine"


@pytest.fixture
def page(monkeypatch):
    """A page in name only: 500 pixels of 970 are seen, a cell has raised, each photograph is another."""

    def photograph(**_):
        file = io.BytesIO()
        Image.new("RGB", (9, 9), (0, 0, len(page.mock_calls))).save(file, "PNG")
        return file.getvalue()

    page, browser = MagicMock(), MagicMock()
    page.screenshot.side_effect, page.new, browser.new_page.return_value = photograph, browser.new_page, page
    page.evaluate.side_effect = lambda script, *_: [500, 970] if "clientHeight" in script else CELLS
    page.locator().bounding_box.return_value = {"x": 10, "y": 20}
    page.mock_calls.clear()
    monkeypatch.setattr(lab, "jupyterlab", lambda folder: nullcontext("address"))
    monkeypatch.setattr(lab, "chromium", lambda: nullcontext(browser))
    monkeypatch.setattr(screenshot, "find_chromium", lambda: "there")
    monkeypatch.setattr(lab, "open_notebook", page.open)
    return page


def asked(page, expected, *words):
    """Whether the calls of the page in which these words are hold what is expected, each the next."""
    calls = [call for call in map(str, page.mock_calls) if any(word in call for word in words)]
    return len(calls) == len(expected) and all(map(operator.contains, calls, expected))


RUN = ["clear-all-cell-outputs')", "run-all-cells')"]


def test_one_photograph_a_screen_with_a_seam_that_both_show_and_what_went_wrong(page, monkeypatch):
    arguments = ["notebooks/03_a.ipynb", "shots"]
    assert screenshot.main(arguments) == FAULTS
    assert page.open.call_args[0][1::2] == ("address", Path(arguments[0]))
    assert page.new.call_args[1] == {"viewport": {"width": 1440, "height": 900}, "device_scale_factor": 2}
    shots = [", 0])", "shots/03_a_01.png", ", 470])", "shots/03_a_02.png"]
    assert asked(page, ["shell.collapseLeft()", *RUN, *shots], "Left", "notebook:", "scrollTo(", "screenshot")
    monkeypatch.setattr(screenshot, "find_chromium", lambda: None)
    assert "COURSE_CHROMIUM" in screenshot.main(arguments)


def test_the_moving_picture_shows_d_k_from_1_to_16_and_then_five_weights(page, tmp_path, monkeypatch):
    monkeypatch.setattr(screenshot, "README_PICTURE", tmp_path / "explorer.gif")
    screenshot.remake_readme_picture()
    photograph = ["timeout(700)", "clip={'x': 6, 'y': 16, 'width': 890, 'height': 520}"]
    expected = [*RUN, "nth(1)", "press('Home')", *photograph, *["press('ArrowRight')", *photograph] * 15]
    for cell in ("0,1,0", "0,5,4", "1,4,0", "2,3,4", "3,6,6"):
        expected += [f'[data-cell="{cell}"] > rect', "last.hover()", *photograph]
    assert asked(page, expected, "notebook:", "nth(1", "press", "data-cell", "hover", "timeout(700", "shot")
    with Image.open(screenshot.README_PICTURE) as picture:
        shown = [picture.seek(i) or picture.info["duration"] for i in range(picture.n_frames)]
        assert shown == [1100, *[350] * 15, *[1100] * 5] and picture.info["loop"] == 0
    monkeypatch.setattr(screenshot, "find_chromium", lambda: None)
    screenshot.remake_readme_picture()  # nothing is raised: pages are refreshed without a browser, too
    assert screenshot.README_PICTURE.exists() and page.screenshot.call_count == 21

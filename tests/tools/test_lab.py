"""What is asked of a JupyterLab and a browser, and what is made of their answers; neither is started here."""

import contextlib
import io
import json
import shutil
import subprocess
import sys
from pathlib import Path
from unittest.mock import MagicMock, Mock

import pytest
from PIL import Image

pytest.importorskip("playwright")

from tools import lab, readme_picture, screenshot

# As much of JupyterLab as the scripts look at: a notebook of some cells, and the state of its kernel.
JUPYTERLAB = """
const [script, cells, [status, connectionStatus]] = JSON.parse(require("fs").readFileSync(0));
const widgets = cells.map(([type, executionCount, tags, outputs, executionState], id) => ({ model: {
  id, type, executionCount, executionState, getMetadata: () => tags, sharedModel: { toJSON: () => ({ outputs }) } } }));
const currentWidget = { content: { widgets }, sessionContext: { session: { kernel: { status, connectionStatus } } } };
globalThis.window = { jupyterapp: { shell: { currentWidget } } };
console.log(JSON.stringify(eval(script)()));
"""
ERROR = {"output_type": "error", "ename": "E", "evalue": "no"}
WARNED = ["code", 1, None, [{"name": "stderr", "text": ["a", "b"]}, {"name": "stdout", "text": "c"}]]
MEANT, RAISED = ["code", 2, ["raises-exception"], [ERROR]], ["code", 3, ["set-up"], [ERROR]]
WORDS, RAN, UNTRIED, RUNNING = (
    ["markdown"],
    ["code", 4, None, []],
    ["code", None, None, []],
    ["code", 5, None, [], "running"],
)


def in_jupyterlab(script, cells=(), status="idle", connection="connected"):
    given = json.dumps([script, cells, [status, connection]])
    said = subprocess.run(["node", "-e", JUPYTERLAB], input=given, capture_output=True, text=True, check=True)
    return json.loads(said.stdout)


@pytest.mark.skipif(shutil.which("node") is None, reason="needs Node")
def test_what_cells_show_and_when_they_have_run():
    page = Mock(evaluate=lambda script: in_jupyterlab(script, [WORDS, WARNED, MEANT, RAISED]))
    assert lab.error_outputs(page) == ["1: stderr: ab", "3: E: no"]
    lab.run_all(page := MagicMock())
    assert [call[0][0].split("'")[1] for call in page.evaluate.call_args_list] == [
        "notebook:clear-all-cell-outputs",
        "notebook:run-all-cells",
    ]
    ran = page.wait_for_function.call_args[0][0]
    for cells, status, expected in [
        ([WORDS, MEANT, RAN], "idle", True), ([RAN], "busy", False), ([RAN, UNTRIED], "idle", False),
        ([RAN, RUNNING], "idle", False), ([RAISED, UNTRIED], "idle", True),
    ]:  # fmt: skip
        assert bool(in_jupyterlab(ran, cells, status)) == expected, (cells, status)
    for state in ("idle connected", "idle connecting", "busy connected"):
        assert in_jupyterlab(f"() => {lab.READY}", [], *state.split()) == (state == "idle connected")


def test_a_server_is_waited_for_and_ended_and_what_it_said_is_told(tmp_path):
    waits = [sys.executable, "-uc", "print('no room'); import time; time.sleep(60)"]
    answers = Mock(side_effect=[ConnectionError, 0, 1])
    with lab.served(waits, tmp_path, None, answers) as process:
        assert process.poll() is None and answers.call_count == 3
    assert process.poll() is not None
    with (
        pytest.raises(ValueError) as raised,
        lab.served(waits, tmp_path, None, (tmp_path / "server.log").read_text),
    ):
        raise ValueError
    assert raised.value.__notes__[0].split() == ["no", "room"]
    with pytest.raises(TimeoutError):
        lab.wait_for(lambda: 0, 0.1)


def test_a_jupyterlab_has_the_settings_of_the_course_and_none_of_a_person(tmp_path, monkeypatch):
    monkeypatch.setattr(lab, "served", lambda *given: contextlib.nullcontext(started.extend(given)))
    started = []
    with lab.jupyterlab(tmp_path, dark=True, options=["--last"]):
        command, _, environment, _ = started
    own = {name for name, value in environment.items() if str(tmp_path) in value}
    assert own == {"JUPYTER_CONFIG_DIR", "JUPYTER_CONFIG_PATH", "JUPYTER_DATA_DIR", "IPYTHONDIR"}
    options = dict(word.split("=") for word in command if "=" in word)
    assert Path(options["--LabApp.app_settings_dir"], "overrides.json").exists() and "--last" in command
    written = [path.read_text("utf-8") for path in sorted(tmp_path.rglob("config/**/*.jupyterlab-settings"))]
    assert written == ['{"theme": "JupyterLab Dark"}', '{"windowingMode": "none"}']


def test_a_browser_that_is_named_goes_first_and_a_dialog_in_the_way_is_told(monkeypatch):
    monkeypatch.setattr(lab.shutil, "which", lambda name: name or None)
    monkeypatch.setenv("COURSE_CHROMIUM", "mine")
    assert lab.find_chromium() == "mine"
    monkeypatch.delenv("COURSE_CHROMIUM")
    assert lab.find_chromium() == "chromium"
    page = MagicMock()
    page.wait_for_function.side_effect = lab.BrowserError("late")
    page.locator().all_inner_texts.return_value = ["Select kernel", "No"]
    with pytest.raises(lab.BrowserError) as raised:
        lab.open_copy(page, "http://here", "notebooks/03_a.ipynb")
    assert raised.value.__notes__ == ["Select kernel / No"]


@pytest.fixture
def page(monkeypatch):
    """A page of a browser in name only; each photograph has a colour of its own."""

    def photograph(**_):
        file = io.BytesIO()
        Image.new("RGB", (9, 9), (0, 0, len(page.mock_calls))).save(file, "PNG")
        return file.getvalue()

    page, browser = MagicMock(), MagicMock()
    page.screenshot.side_effect, browser.new_page.return_value = photograph, page
    page.evaluate.side_effect = lambda script, *_: page.heights if "clientHeight" in script else ["E: no"]
    page.locator().bounding_box.return_value = {"x": 10, "y": 20}
    page.new, page.heights = browser.new_page, (500, 970)
    monkeypatch.setattr(lab, "jupyterlab", lambda folder, dark: contextlib.nullcontext(f"dark: {dark}"))
    monkeypatch.setattr(lab, "chromium", lambda: contextlib.nullcontext(browser))
    monkeypatch.setattr(lab, "open_notebook", lambda *given: setattr(page, "given", given))
    for tool in (screenshot, readme_picture):
        monkeypatch.setattr(tool, "find_chromium", lambda: page.new and "there")
    page.mock_calls.clear()
    return page


def asked(page):
    """What was asked of the page: name and arguments."""
    return [" ".join(map(str, [name, *given, *options.values()])) for name, given, options in page.mock_calls]


def test_one_photograph_a_screen_with_a_seam_that_both_show(page, monkeypatch):
    assert screenshot.main(["notebooks/03_a.ipynb", "shots", "--dark"]) == "E: no"
    assert page.given == (page, "dark: True", page.given[2], Path("notebooks/03_a.ipynb"))
    assert page.new.call_args[1] == {"viewport": {"width": 1440, "height": 900}, "device_scale_factor": 2}
    words = [call.split()[-1] for call in asked(page) if "scrollTo(" in call or call.startswith("screenshot")]
    assert words == ["0]", "shots/03_a_dark_01.png", "470]", "shots/03_a_dark_02.png"]
    started = [call.split("execute('")[-1] for call in asked(page)]
    assert started.index("notebook:run-all-cells')") < len(started) - 9 and "collapseLeft" in asked(page)[0]
    page.mock_calls.clear()
    page.heights = 500, 20  # a page of one line
    screenshot.main(["notebooks/03_a.ipynb", "shots"])
    assert [call for call in asked(page) if call.startswith("screenshot")] == ["screenshot shots/03_a_01.png"]
    monkeypatch.setattr(screenshot, "find_chromium", lambda: None)
    assert "COURSE_CHROMIUM" in screenshot.main(["notebooks/03_a.ipynb", "shots"])


def test_the_moving_picture_shows_d_k_from_1_to_16_and_then_five_weights(page, tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(readme_picture, "PICTURE", tmp_path / "explorer.gif")
    readme_picture.main()
    photograph = ["wait_for_timeout 700", "screenshot {'x': 6, 'y': 16, 'width': 890, 'height': 520}"]
    moves = [[f"keyboard.press {key}"] for key in ("Home", *["ArrowRight"] * 15)]
    for cell in ("0,1,0", "0,5,4", "1,4,0", "2,3,4", "3,6,6"):
        moves.append([f'locator [data-cell="{cell}"] > rect', "locator().last.hover"])
    slider = ["locator .mha-panel .widget-slider [role=slider]", "locator().nth 1", "locator().nth().focus"]
    *before, _, _ = calls = asked(page)[: -2 - len(slider) - sum(len(move) + 2 for move in moves)]
    assert any("run-all-cells" in call for call in before)
    assert asked(page)[len(calls) + 2 :] == [
        *slider,
        *(call for move in moves for call in (*move, *photograph)),
    ]
    with Image.open(tmp_path / "explorer.gif") as picture:
        shown = [(picture.seek(i), picture.info["duration"])[1] for i in range(picture.n_frames)]
        assert shown == [1100, *[350] * 15, *[1100] * 5] and picture.info["loop"] == 0
    monkeypatch.setattr(readme_picture, "find_chromium", lambda: None)
    readme_picture.main()
    assert "left as it is" in capsys.readouterr().out.splitlines()[-1]

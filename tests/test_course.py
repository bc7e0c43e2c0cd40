"""course.py as a person types it: what it says, which port it takes, how the tests are run and summed up."""

import ast
import json
import os
import re
import shutil
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from pathlib import Path

import pytest
from small_project import free_port

from tools import commands, run_tests
from tools.failures import CannotGoOn
from tools.run_tests import Part

ROOT = Path(__file__).resolve().parent.parent


def course(*arguments, python=sys.executable, **settings):
    command = [str(python), str(ROOT / "course.py"), *arguments]
    return subprocess.run(command, capture_output=True, text=True, timeout=120, **settings)


def old_pythons():
    kept_by_pyenv = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv")) / "versions"
    for version in ("2.7", "3.6", "3.7", "3.8", "3.9"):
        found = [*sorted(kept_by_pyenv.glob(f"{version}.*/bin/python")), shutil.which(f"python{version}")]
        if found[0]:
            yield pytest.param(version, found[0], id=version)


OLD_PYTHONS = list(old_pythons())


@pytest.mark.parametrize(("version", "python"), OLD_PYTHONS or [pytest.param("", "", id="none installed")])
def test_an_old_python_gets_one_sentence(version, python):
    if not python:
        pytest.skip("no Python older than 3.10 on this machine")
    done = course("lab", python=python, env={**os.environ, "PYTHONPATH": ""})
    assert done.returncode == 1
    assert done.stdout == ""
    assert len(done.stderr.strip().splitlines()) == 1
    assert f"needs Python 3.10 or newer, and this is Python {version}:" in done.stderr


def test_course_py_has_nothing_that_an_old_python_cannot_read():
    source = (ROOT / "course.py").read_bytes()
    assert source.isascii()  # Python 2.7 wants other letters declared
    newer = (ast.JoinedStr, ast.NamedExpr, ast.AnnAssign, ast.AsyncFunctionDef, ast.Starred, ast.Match)
    for node in ast.walk(ast.parse(source)):
        assert not isinstance(node, newer), f"line {node.lineno}"
        assert not (isinstance(node, ast.Call) and getattr(node.func, "id", "") == "print"), node.lineno


def test_help_lists_every_command(tmp_path):
    done = course("--help", cwd=tmp_path, env={**os.environ, "COLUMNS": "200"})
    assert done.returncode == 0
    for name, (help_text, _, _) in commands.COMMANDS.items():
        assert re.search(rf"^ +{name} +{re.escape(help_text)}$", done.stdout, re.M)


def test_an_unknown_part_names_those_there_are(tmp_path):
    done = course("test", "--only", "units", cwd=tmp_path)
    assert done.returncode == 1
    assert done.stderr.startswith("There is no part 'units' of the tests: choose from ruff, unit,")


@pytest.fixture
def taken_port():
    with socket.socket() as server:
        server.bind(("127.0.0.1", 0))
        server.listen()
        yield server.getsockname()[1]


def test_a_port_in_use_gets_one_sentence_before_anything_is_installed(taken_port):
    done = course("lab", "--port", str(taken_port))
    assert done.returncode == 1
    assert done.stdout == ""
    assert re.fullmatch(rf"Port {taken_port} is in use .* --port \d+\.\n", done.stderr)


def test_without_a_wish_the_next_free_port_is_taken(taken_port, monkeypatch, capsys):
    monkeypatch.setattr(commands, "USUAL_PORT", taken_port)
    chosen = commands.choose_port(None)
    assert taken_port < chosen < taken_port + 50
    assert commands.port_is_free(chosen)
    assert capsys.readouterr().out == (
        f"Port {taken_port} is in use, perhaps by another JupyterLab: taking {chosen}.\n"
    )


@pytest.mark.parametrize("port", [0, -1, 65536])
def test_a_number_that_is_no_port(port):
    with pytest.raises(CannotGoOn, match=f"{port} is no port: take a number from 1024 to 65535"):
        commands.choose_port(port)


def test_colab_has_versions_of_its_own():
    done = course("test", "--colab", "--newest")
    assert done.returncode == 1
    assert done.stdout == ""
    assert done.stderr == "--colab takes Colab's versions and --newest the newest ones: leave one out.\n"


def page_at(address, seconds=60):
    """Return the page as text. JupyterLab prints its address a moment before it listens there."""
    deadline = time.monotonic() + seconds
    while True:
        try:
            with urllib.request.urlopen(address, timeout=30) as page:
                return page.read().decode()
        except urllib.error.URLError as error:
            if not isinstance(error.reason, ConnectionRefusedError) or time.monotonic() > deadline:
                raise
            time.sleep(0.1)


def test_lab_opens_the_first_page_in_a_real_jupyterlab(tmp_path):
    if Path(sys.prefix).resolve() != ROOT / ".venv":
        pytest.skip("this is not the environment that course.py made")
    port = free_port()
    folders = {name: str(tmp_path / name) for name in ("JUPYTER_CONFIG_DIR", "JUPYTER_RUNTIME_DIR")}
    said = tmp_path / "said.txt"
    with said.open("w") as out:
        lab = subprocess.Popen(
            [sys.executable, ROOT / "course.py", "lab", "--no-browser", "--port", str(port)],
            stdout=out, stderr=out, stdin=subprocess.DEVNULL, cwd=tmp_path, env={**os.environ, **folders},
        )  # fmt: skip
    try:
        address = None
        for _ in range(600):
            address = re.search(rf"http://127\.0\.0\.1:{port}/\S+", said.read_text())
            if address or lab.poll() is not None:
                break
            time.sleep(0.1)
        assert address, said.read_text()
        assert f"/lab/tree/{commands.FIRST_PAGE}?token=" in address.group()
        page = page_at(address.group())
        settings = re.search(r'<script id="jupyter-config-data"[^>]*>(.*?)</script>', page, re.S)
        # Or JupyterLab would ask every learner whether it may fetch news.
        assert (
            "@jupyterlab/apputils-extension:announcements"
            in json.loads(settings.group(1))["disabledExtensions"]
        )
    finally:
        lab.terminate()
        lab.wait(30)
    assert "this happens once" not in said.read_text(), "the second start made the environment anew"


@pytest.fixture
def small_tests(tmp_path):
    (tmp_path / "test_good.py").write_text("def test_good():\n    pass\n")
    (tmp_path / "test_bad.py").write_text("def test_bad():\n    assert 1 == 2\n")
    (tmp_path / "test_broken.py").write_text("import no_such_module\n")
    return tmp_path


def run(*parts):
    return run_tests.run(parts, sys.executable)


def test_all_parts_run_and_the_summary_names_the_place(small_tests, capfd):
    parts = [Part(name, (str(small_tests / f"test_{name}.py"),)) for name in ("bad", "broken", "good")]
    assert run(*parts) == 1
    summary = capfd.readouterr().out.partition("=== summary ===")[2]
    assert re.search(r"^bad +FAILED \(1 failed\)", summary, re.M)
    assert re.search(r"^ +\S*test_bad\.py: test_bad$", summary, re.M)
    assert re.search(r"^broken +FAILED \(1 failed\)", summary, re.M)
    assert re.search(r"^ +\S*test_broken.*$", summary, re.M)
    assert re.search(r"^good +1 passed", summary, re.M)
    assert summary.endswith("Failed: bad, broken.\n")


def test_nothing_failed(small_tests, capfd):
    assert run(Part("good", (str(small_tests / "test_good.py"),))) == 0
    assert capfd.readouterr().out.endswith("Everything that ran passed.\n")


@pytest.mark.parametrize("path", ["no_such_folder", "empty"])
def test_a_part_without_any_test_fails(small_tests, path, capfd):
    (small_tests / "empty").mkdir()
    assert run(Part("nothing", (str(small_tests / path),))) == 1
    assert "nothing    FAILED (nothing ran)" in capfd.readouterr().out


def test_strict_nbval_finds_a_changed_output_and_names_its_cell(tmp_path, capfd):
    notebook = {
        "cells": [
            {
                "cell_type": "code", "execution_count": 1, "id": "one", "metadata": {}, "source": "print(1)",
                "outputs": [{"name": "stdout", "output_type": "stream", "text": "2\n"}],
            }
        ],
        "metadata": {"kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"}},
        "nbformat": 4,
        "nbformat_minor": 5,
    }  # fmt: skip
    (tmp_path / "page.ipynb").write_text(json.dumps(notebook))
    assert run(Part("nbval", (str(tmp_path), *run_tests.STRICT_NBVAL))) == 1
    summary = capfd.readouterr().out.partition("=== summary ===")[2]
    assert re.search(r"^ +\S*page\.ipynb\S*: Cell 0$", summary, re.M), summary


def test_without_a_chromium_the_browser_tests_are_left_out_and_it_says_how_to_get_one(monkeypatch, capfd):
    monkeypatch.delenv("COURSE_CHROMIUM", raising=False)
    monkeypatch.setattr(run_tests.shutil, "which", lambda name: None)
    assert run(*[part for part in run_tests.PARTS if part.name == "browser"]) == 0
    said = capfd.readouterr().out
    assert "browser    left out: no Chromium found" in said
    assert "install Chromium, Chrome or Edge, or set COURSE_CHROMIUM" in said


def test_course_chromium_comes_before_any_other(monkeypatch, tmp_path):
    program = tmp_path / ("chrome.bat" if os.name == "nt" else "chrome")
    program.touch(0o755)
    monkeypatch.setenv("COURSE_CHROMIUM", str(program))
    assert run_tests.find_chromium() == str(program)
    monkeypatch.setenv("COURSE_CHROMIUM", str(tmp_path / "nowhere"))
    with pytest.raises(
        CannotGoOn, match=r"COURSE_CHROMIUM is set to .*nowhere, but there is no such program"
    ):
        run_tests.find_chromium()


def test_a_chromium_is_found_by_its_name(monkeypatch):
    monkeypatch.delenv("COURSE_CHROMIUM", raising=False)
    monkeypatch.setattr(
        run_tests.shutil, "which", lambda name: "/somewhere/" + name if name == "msedge" else None
    )
    assert run_tests.find_chromium() == "/somewhere/msedge"


def runs(part, file):
    """Tell whether a part names the file or a folder of it, and does not leave it out."""
    named = [ROOT / word for word in part.arguments if word.startswith("tests/")]
    left_out = [ROOT / word.removeprefix("--ignore=") for word in part.arguments if "--ignore=" in word]
    places = {file, *file.parents}
    return any(path in places for path in named) and not any(path in places for path in left_out)


def test_every_test_file_belongs_to_one_part():
    parts = [*run_tests.PARTS, *run_tests.REAL_MODEL_PARTS]
    for file in (ROOT / "tests").rglob("test_*.py"):
        homes = [part.name for part in parts if runs(part, file)]
        assert len(homes) == 1, f"{file} is in {len(homes)} parts of tools/run_tests.py: {homes}"


def test_settings_of_the_person_do_not_reach_the_tests(monkeypatch):
    monkeypatch.setenv("PYTHONPATH", "elsewhere")
    monkeypatch.setenv("MPLBACKEND", "svg")
    monkeypatch.setenv("MPLCONFIGDIR", "elsewhere")
    variables = run_tests.test_environment(sys.executable)
    assert "PYTHONPATH" not in variables
    assert "MPLBACKEND" not in variables
    assert variables["MPLCONFIGDIR"] != "elsewhere"
    assert variables["OMP_NUM_THREADS"] == "1"

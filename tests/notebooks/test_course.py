"""The commands of the course and the lists of what they install."""

import ast
import io
import re
import subprocess
import sys

import pytest

import course
from tools.notebook import ROOT


def names(file):
    """The packages that a file of requirements or environment.yml lists, with their bounds."""
    lines = (ROOT / file).read_text(encoding="utf-8").splitlines()
    found = [re.match(r"(?:  - )?([A-Za-z][\w.-]*)((?:[=<>].*?)?)(?: [;#].*)?$", line) for line in lines]
    return {match.group(1).lower().replace("_", "-"): match.group(2) for match in found if match}


def test_an_old_python_can_read_course_py_and_say_that_it_is_too_old():
    ast.parse((ROOT / "course.py").read_text(encoding="utf-8"), feature_version=(3, 6))


@pytest.fixture
def calls(tmp_path, monkeypatch):
    """Everything that course.py would start, started in name only."""
    started = []
    python = tmp_path / "python"
    python.touch()
    monkeypatch.setattr(course, "VENV", str(tmp_path))
    monkeypatch.setattr(course, "PYTHON", str(python))
    monkeypatch.setattr(course.subprocess, "call", lambda command, **_: started.append(command) or 0)
    monkeypatch.setattr(course, "install_cpu_torch", lambda: None)
    return started


def test_a_second_run_installs_nothing(calls):
    course.main(["test", "-k", "softmax"])
    assert sum("pip" in command for command in calls) == 2
    calls.clear()
    course.main(["test", "-k", "softmax"])
    assert [command[1:] for command in calls] == [["-m", "pytest", "-k", "softmax"]]


def test_a_changed_list_is_installed_again(calls, monkeypatch):
    course.main(["lab"])
    calls.clear()
    monkeypatch.setattr(course, "fingerprint", lambda requirements: "another")
    course.main(["lab"])
    assert any("pip" in command for command in calls)


def test_a_failed_pip_says_what_to_do_and_is_asked_again_at_the_next_start(calls, monkeypatch):
    with monkeypatch.context() as broken, pytest.raises(SystemExit, match="pip says above why"):
        broken.setattr(course, "pip", lambda arguments: 1)
        course.main(["lab"])
    assert not any("jupyterlab" in command for command in calls)
    course.main(["lab"])
    assert ["-m", "pip"] in [command[1:3] for command in calls]
    assert calls[-1][1:3] == ["-m", "jupyterlab"]


def test_a_folder_to_collect_is_looked_for_where_the_command_is_given(calls, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    course.main(["collect", "homes"])
    assert calls[-1][1:] == ["-m", "tools.collect", str(tmp_path / "homes")]


@pytest.mark.parametrize(
    ("platform", "card", "taken"), [("linux", False, 1), ("linux", True, 0), ("darwin", False, 0)]
)
def test_the_cpu_build_of_torch_is_for_linux_without_a_card(monkeypatch, platform, card, taken):
    installed = []
    monkeypatch.setattr(course.sys, "platform", platform)
    monkeypatch.setattr(course.os.path, "exists", lambda path: card)
    monkeypatch.setattr(course.urllib.request, "urlopen", lambda *_, **__: io.BytesIO())
    monkeypatch.setattr(course, "pip", installed.append)
    course.install_cpu_torch()
    assert len(installed) == taken


def test_conda_and_binder_get_what_pip_gets():
    conda = names("environment.yml")
    assert conda.pop("conda-forge") == ""
    assert re.fullmatch(r"=3\.\d+", conda.pop("python"))
    conda["torch"] = conda.pop("pytorch-cpu")
    conda.pop("nbgitpuller")  # what brings the course to learners on a hub
    assert conda == names("requirements.txt")


def test_every_required_package_has_a_tested_version():
    lists = ("requirements.txt", "tests/requirements.txt")
    required = {name for file in lists for name in names(file)}
    assert required <= set(names("constraints.txt"))


@pytest.mark.parametrize("command", [["check"], ["format", "--check"]], ids=" ".join)
def test_ruff_has_nothing_to_say(command):
    said = subprocess.run(
        [sys.executable, "-m", "ruff", *command, "."], cwd=ROOT, capture_output=True, text=True
    )
    assert said.returncode == 0, said.stdout

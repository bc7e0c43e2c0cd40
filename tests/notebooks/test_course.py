"""The commands of the course and the lists of what they install."""

import ast
import re
import subprocess
import sys

import pytest
from page import ROOT

import course


def names(file):
    """The packages that a file of requirements or environment.yml lists, with their bounds."""
    lines = (ROOT / file).read_text(encoding="utf-8").splitlines()
    found = [re.match(r"(?:  - )?([A-Za-z][\w.-]*)((?:[=<>].*?)?)(?: [;#].*)?$", line) for line in lines]
    return {match.group(1).lower().replace("_", "-"): match.group(2) for match in found if match}


def test_an_old_python_can_read_course_py_and_say_that_it_is_too_old():
    ast.parse((ROOT / "course.py").read_text(encoding="utf-8"), feature_version=(3, 4))


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


def test_conda_and_binder_get_what_pip_gets():
    conda = names("environment.yml")
    assert conda.pop("conda-forge") == ""
    assert re.fullmatch(r"=3\.\d+", conda.pop("python"))
    conda["torch"] = conda.pop("pytorch-cpu")
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

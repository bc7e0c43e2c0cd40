"""The environment check finds what is missing or too old, and says what to do."""

import platform
import sys
from pathlib import Path

import pytest

from mha_helpers import environment

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def versions(monkeypatch):
    found = {package: "99.1.0+cpu" for package in environment.NEEDED}
    monkeypatch.setattr(environment, "_version_of", found.get)
    return found


def test_nothing_is_missing(versions, capsys):
    assert environment.check_environment() is True
    assert capsys.readouterr().out == (
        "Everything is here: Python, torch, matplotlib, seaborn, ipywidgets. You can start.\n"
    )


def test_this_machine_is_ready(capsys):
    assert environment.check_environment() is True


def test_a_missing_package(versions, capsys):
    del versions["seaborn"]
    assert environment.check_environment() is False
    assert '- seaborn is missing. In a new cell, run: %pip install "seaborn>=0.13"' in capsys.readouterr().out


@pytest.mark.parametrize(
    "version, old",
    [
        ("2.4.1", True),
        ("2.4+cu121", True),
        ("2.5.0", False),
        ("2.5rc1", False),
        ("2.13.0+cpu", False),
        ("1.99", True),
    ],
)
def test_a_package_too_old(versions, capsys, version, old):
    versions["torch"] = version
    assert environment.check_environment() is not old
    assert (f"torch {version} is too old: the course needs 2.5" in capsys.readouterr().out) is old


def test_python_too_old(versions, capsys, monkeypatch):
    monkeypatch.setattr(sys, "version_info", (3, 9, 1))
    assert environment.check_environment() is False
    assert capsys.readouterr().out == (
        f"Not yet ready:\n- Python {platform.python_version()} is too old: the course needs 3.10 or newer."
        " Install a newer Python, then start again.\n"
    )


@pytest.mark.parametrize("version", [(3, 10, 0), (3, 10, 4), (3, 14, 0)])
def test_the_oldest_python_will_do(versions, capsys, monkeypatch, version):
    monkeypatch.setattr(sys, "version_info", version)
    assert environment.check_environment() is True


def test_versions_are_shown_on_request(versions, capsys):
    versions["torch"] = "2.13.0+cpu"
    del versions["seaborn"]
    environment.check_environment(show_versions=True)
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == f"Python {platform.python_version()} on {platform.system()}"
    assert "torch 2.13.0+cpu" in lines
    assert "seaborn not found" in lines


def test_the_bounds_are_those_of_requirements_txt():
    bounds = {}
    for line in (ROOT / "requirements.txt").read_text(encoding="utf-8").splitlines():
        package, _, bound = line.split("#")[0].strip().partition(">=")
        bounds[package] = bound.split(",")[0]
    for package, oldest in environment.NEEDED.items():
        assert bounds[package] == oldest

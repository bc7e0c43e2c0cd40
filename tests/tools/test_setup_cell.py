"""The set-up cell, run as a learner runs it: in the course, beside it, in Colab, and alone."""

import subprocess
import sys
from pathlib import Path

import pytest
from setup_cell import SETUP_CELL, is_setup_cell, repository_of, setup_cell

ROOT = Path(__file__).resolve().parents[2]
SHOW = "\nimport mha_helpers\nprint(mha_helpers.__file__)"


# The notebooks run the cell with the real torch; here its two seconds of import would be all that is seen.
QUICK = """
import sys, types
sys.modules["torch"] = types.SimpleNamespace(set_printoptions=lambda **options: None)
"""


def _run(code, folder):
    command = [sys.executable, "-I", "-c", QUICK + code]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, encoding="utf-8")


def _course(folder):
    package = folder / "mha_helpers"
    package.mkdir(parents=True)
    (package / "__init__.py").write_text("", encoding="utf-8")
    return package


def test_it_prints_nothing_and_finds_the_helpers_from_any_depth(tmp_path):
    package = _course(tmp_path)
    deep = tmp_path / "notebooks" / "week 1"
    deep.mkdir(parents=True)
    assert _run(SETUP_CELL, deep).stdout == ""
    done = _run(SETUP_CELL + SHOW, deep)
    assert done.stdout.strip() == str(package / "__init__.py") and done.stderr == ""


def test_alone_it_says_what_to_do(tmp_path):
    done = _run(SETUP_CELL, tmp_path)
    assert done.returncode == 1 and done.stdout == ""
    last = done.stderr.strip().splitlines()[-1]
    assert last.startswith("ModuleNotFoundError: The helper module mha_helpers is not here.")
    assert "whole course folder" in last and "one-file copy" in last


def test_it_is_content_when_the_helpers_are_already_there(tmp_path):
    elsewhere = _course(tmp_path / "installed").parent
    alone = tmp_path / "alone"
    alone.mkdir()
    done = _run(f"import sys\nsys.path.insert(0, {str(elsewhere)!r})\n" + SETUP_CELL + SHOW, alone)
    assert done.returncode == 0 and str(elsewhere) in done.stdout


COLAB = """
import subprocess, sys, types
sys.modules["google.colab"] = types.ModuleType("google.colab")
subprocess.run = lambda command, **more: print("RUN", *command[1:])
"""


def test_in_colab_it_installs_from_the_repository_and_nothing_else(tmp_path):
    done = _run(COLAB + setup_cell("some-one/course"), tmp_path)
    assert done.stdout.splitlines() == [
        "RUN -m pip install --quiet --no-deps git+https://github.com/some-one/course"
    ]
    assert "mha_helpers is not here" in done.stderr  # the pretended install brought nothing


@pytest.mark.parametrize(("before", "repository"), [(COLAB, ""), ("", "some-one/course")])
def test_it_installs_nothing_without_an_address_or_outside_colab(before, repository, tmp_path):
    done = _run(before + setup_cell(repository), tmp_path)
    assert "RUN" not in done.stdout and "mha_helpers is not here" in done.stderr


def test_in_colab_a_second_run_installs_nothing(tmp_path):
    elsewhere = _course(tmp_path / "installed").parent
    alone = tmp_path / "alone"
    alone.mkdir()
    code = COLAB + f"sys.path.insert(0, {str(elsewhere)!r})\n" + setup_cell("some-one/course")
    assert _run(code, alone).stdout == ""


def test_the_repository_is_written_and_read_back():
    filled = setup_cell("some-one/course")
    assert is_setup_cell(filled) and repository_of(filled) == "some-one/course"
    assert setup_cell("") == SETUP_CELL and repository_of(SETUP_CELL) == ""
    assert not is_setup_cell("import torch")
    with pytest.raises(ValueError, match="not a set-up cell"):
        repository_of("import torch")

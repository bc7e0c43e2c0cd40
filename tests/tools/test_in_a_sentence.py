"""Commands of a teacher write to files and pipes of every encoding."""

import os
import subprocess
import sys
from pathlib import Path

import nbformat
import pytest

ROOT = Path(__file__).resolve().parents[2]


def _written_as_cp1252(tool, *arguments):
    """Run a tool as Windows does with `> results.txt`."""
    return subprocess.run(
        [sys.executable, str(ROOT / "tools" / tool), *map(str, arguments)],
        capture_output=True,
        env={**os.environ, "PYTHONIOENCODING": "cp1252"},
    )


@pytest.fixture
def returned(tmp_path):
    said = nbformat.v4.new_output("stream", name="stdout", text="Exercise 3.1: not yet. Divide by √d_k.\n")
    cell = nbformat.v4.new_code_cell("check", outputs=[said])
    nbformat.write(nbformat.v4.new_notebook(cells=[cell]), tmp_path / "李.ipynb")
    return tmp_path


def test_homework_writes_what_the_encoding_has(returned):
    done = _written_as_cp1252("homework.py", returned)
    assert done.returncode == 0, done.stderr
    assert b"?: 0 of 1 correct" in done.stdout and b"Divide by ?d_k." in done.stdout


def test_misconceptions_are_written_and_drawn(tmp_path):
    picture = tmp_path / "class.png"
    done = _written_as_cp1252("misconceptions.py", ROOT / "teaching" / "example_answers.csv", "--to", picture)
    assert done.returncode == 0, done.stderr
    assert picture.exists()


def test_minutes_are_written():
    done = _written_as_cp1252("class_minutes.py")
    assert done.returncode == 0, done.stderr

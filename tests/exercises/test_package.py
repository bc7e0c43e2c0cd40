"""The package of the exercises hands out its names when they are asked for."""

import subprocess
import sys
from pathlib import Path

import pytest

from mha_helpers import exercises

ROOT = Path(__file__).resolve().parents[2]


def test_every_name_it_promises_is_there_and_no_other():
    assert {name: getattr(exercises, name).__name__ for name in exercises.__all__} == {
        name: name for name in exercises.__all__
    }
    assert dir(exercises) == sorted(exercises.__all__)
    with pytest.raises(AttributeError, match=r"'mha_helpers\.exercises' has no attribute 'nothing'"):
        exercises.nothing  # noqa: B018


def test_a_page_without_functions_to_write_loads_no_check_of_functions():
    code = "import sys; from mha_helpers.exercises import e00_start_here; print(*sys.modules, sep='\\n')"
    run = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    loaded = run.stdout.split()
    assert "mha_helpers.exercises.values" in loaded
    assert "mha_helpers.exercises.functions" not in loaded

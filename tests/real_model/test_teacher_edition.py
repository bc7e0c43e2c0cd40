"""The teacher edition of page 11: every exercise solved, and strict nbval passes."""

import subprocess
import sys

import make_teacher_edition


def test_the_teacher_edition_is_solved_and_passes_strict_nbval():
    root = make_teacher_edition.ROOT
    path = root / "notebooks" / "real_model" / "11_a_real_model.ipynb"
    folder = root / "dist" / "tests" / f"teacher-{path.stem}"  # beside the helpers, or it would not find them
    assert make_teacher_edition.make(path, folder) == []
    command = [sys.executable, "-m", "pytest", "-q", "--nbval", "--nbval-current-env"]
    command += ["--nbval-cell-timeout=120", "-p", "no:randomly", "-p", "no:cacheprovider"]
    done = subprocess.run(
        [*command, str(folder / path.name)], cwd=root, capture_output=True, text=True, timeout=500
    )
    assert done.returncode == 0, done.stdout[-3000:]

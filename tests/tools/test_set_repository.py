"""Writing the address of the course into pages and README, and taking it out again."""

import os
import re
import shutil
import subprocess

import nbformat
import pytest

from tools import set_repository
from tools.notebook import ROOT, all_pages, name_of, setup_cell

COLAB = """\n
[![Open in Colab](https://colab.research.google.com/assets/colab-badge.svg)]\
(https://colab.research.google.com/github/Octo/Course.js/blob/main/{path}) """
OPENING = COLAB + "[Play with this page in your browser](https://octo.github.io/Course.js/{name}.html)"
README = f"""\n
**[Play with it in your browser](https://octo.github.io/Course.js/)**: nothing to install, the first slider moves at once.\
{COLAB.format(path="notebooks/00_start_here.ipynb")}[![Open in Binder](https://mybinder.org/badge_logo.svg)]\
(https://mybinder.org/v2/gh/Octo/Course.js/main?urlpath=lab/tree/notebooks/00_start_here.ipynb)
"""


@pytest.fixture
def course(tmp_path, monkeypatch):
    """A copy of README and two pages, where the tool may write."""
    pages = [tmp_path / path.relative_to(ROOT) for path in (all_pages()[0], all_pages()[-1])]
    (tmp_path / "notebooks" / "deeper").mkdir(parents=True)
    for copy in (tmp_path / "README.md", *pages):
        shutil.copy(ROOT / copy.relative_to(tmp_path), copy)
    monkeypatch.setattr(set_repository, "ROOT", tmp_path)
    monkeypatch.setattr(set_repository, "all_pages", lambda: pages)
    return tmp_path


def contents(folder):
    return {path: path.read_bytes() for path in folder.rglob("*.*") if path.is_file()}


def test_what_is_written_to_the_letter_and_that_it_is_taken_out_again(course, capsys):
    """Another address takes the place of the first, and twice is once."""
    before, readme = contents(course), course / "README.md"
    pages = {path: nbformat.read(path, as_version=4).cells for path in course.rglob("*.ipynb")}
    assert set_repository.main(["first/course"]) == 0
    for changed in (True, False):
        capsys.readouterr()
        assert set_repository.main(["Octo/Course.js"]) == 0
        assert ("will play at\nhttps://octo.github.io/Course.js/\n" in capsys.readouterr().out) == changed
    assert contents(course)[readme] == before[readme].replace(b"\n", README.encode(), 1)
    for path, cells in pages.items():
        cells[0].source += OPENING.format(path=path.relative_to(course).as_posix(), name=name_of(path))
        cells[1].source = setup_cell("Octo/Course.js")
        assert nbformat.read(path, as_version=4).cells == cells
    set_repository.main(["--clear"])
    assert contents(course) == before
    assert "owner/name" in set_repository.main(["https://github.com/octo/course"])


@pytest.mark.skipif(shutil.which("bash") is None, reason="the workflow runs in a bash")
@pytest.mark.parametrize("address, published", [("Octo/course", True), ("fork/course", False)])
def test_the_workflow_publishes_only_what_the_readme_links_to(course, address, published):
    set_repository.main([address])
    workflow = (ROOT / ".github" / "workflows" / "pages.yml").read_text(encoding="utf-8")
    script = re.search(r"^ +link=.*?fi$", workflow, re.DOTALL | re.MULTILINE)[0]
    github = {"GITHUB_REPOSITORY_OWNER": "Octo", "GITHUB_REPOSITORY": "Octo/course", "GITHUB_OUTPUT": "out"}
    subprocess.run(["bash", "-ec", script], cwd=course, env={**os.environ, **github}, check=True)
    assert (course / "out").exists() == published

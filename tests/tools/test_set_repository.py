"""Writing the address of the course into pages and README, and taking it out again."""

import os
import re
import shutil
import subprocess

import nbformat
import pytest

from tools import set_repository
from tools.notebook import ROOT, all_pages, name_of, setup_cell

COLAB = "(https://colab.research.google.com/github/Octo/Course.js/blob/main/{path})"
OF_PAGE = "[Play with this page in your browser](https://octo.github.io/Course.js/{name}.html)"
OF_README = [
    "**[Play with it in your browser](https://octo.github.io/Course.js/)**: ",
    COLAB.format(path="notebooks/00_start_here.ipynb"),
    "(https://mybinder.org/v2/gh/Octo/Course.js/main?urlpath=lab/tree/notebooks/00_start_here.ipynb)",
]


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


def test_what_is_written_below_titles_and_openings_and_that_it_is_taken_out_again(course):
    """Another address takes the place of the first, and twice is once."""
    before = contents(course)
    for address in ("first/course", "Octo/Course.js", "Octo/Course.js"):
        assert set_repository.main([address]) == 0
    written = (course / "README.md").read_text(encoding="utf-8").split("\n\n")
    assert all(link in "\n".join(written[1:3]) for link in OF_README)
    for path in course.rglob("*.ipynb"):
        opening, setup = nbformat.read(path, as_version=4).cells[:2]
        links = COLAB.format(path=path.relative_to(course).as_posix()), OF_PAGE.format(name=name_of(path))
        assert opening.source.endswith(" ".join(links)) and setup.source == setup_cell("Octo/Course.js")
    set_repository.main([])
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

"""Writing the address of the course into pages and README, and taking it out again."""

import os
import re
import shutil
import subprocess

import pytest

from tools import set_repository
from tools.notebook import ROOT, all_pages


@pytest.fixture
def course(tmp_path, monkeypatch):
    """A copy of README and two pages, where the tool may write."""
    for name in ("README.md", *(path.relative_to(ROOT) for path in (all_pages()[0], all_pages()[-1]))):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / name, tmp_path / name)
    pages = sorted(tmp_path.rglob("*.ipynb"))
    monkeypatch.setattr(set_repository, "ROOT", tmp_path)
    monkeypatch.setattr(set_repository, "all_pages", lambda: pages)
    return tmp_path


def contents(folder):
    return {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def test_there_and_back_leaves_every_file_as_it_was(course):
    before = contents(course)
    assert set_repository.main(["octo/course"]) == 0
    assert all(old != contents(course)[path] for path, old in before.items())
    set_repository.main(["--clear"])
    assert contents(course) == before


def test_twice_is_once_and_another_address_takes_the_place_of_the_first(course):
    set_repository.main(["octo/first"])
    set_repository.main(["octo/course", "--branch", "trunk"])
    once = contents(course)
    set_repository.main(["octo/course", "--branch", "trunk"])
    assert contents(course) == once
    assert b"octo/first" not in b"".join(once.values())
    readme = once[course / "README.md"]
    assert b"octo/course/trunk?urlpath" in readme and b"octo/course/blob/trunk/" in readme


def test_the_first_link_of_the_readme_plays(course):
    set_repository.main(["Octo/course"])
    text = (course / "README.md").read_text(encoding="utf-8")
    assert text[text.index("](") :].startswith("](https://octo.github.io/course/)")


def test_each_page_links_to_itself_as_it_plays(course):
    set_repository.main(["octo/course"])
    for path in course.rglob("*.ipynb"):
        name = f"deeper_{path.stem}" if path.parent.name == "deeper" else path.stem
        assert f"(https://octo.github.io/course/{name}.html)" in path.read_text(encoding="utf-8")


@pytest.mark.parametrize("wrong", ["octo", "https://github.com/octo/course", "octo/co urse", "o/c/d"])
def test_what_is_no_address_is_refused_in_words(course, wrong):
    assert "owner/name" in set_repository.main([wrong])


@pytest.mark.skipif(shutil.which("bash") is None, reason="the workflow runs in a bash")
@pytest.mark.parametrize("address, published", [("Octo/course", True), ("fork/course", False), (None, False)])
def test_the_workflow_publishes_only_what_the_readme_links_to(course, address, published):
    if address:
        set_repository.main([address])
    workflow = (ROOT / ".github" / "workflows" / "pages.yml").read_text(encoding="utf-8")
    script = re.search(r"^ +link=.*?fi$", workflow, re.DOTALL | re.MULTILINE)[0]
    github = {"GITHUB_REPOSITORY_OWNER": "Octo", "GITHUB_REPOSITORY": "Octo/course", "GITHUB_OUTPUT": "out"}
    subprocess.run(["bash", "-ec", script], cwd=course, env={**os.environ, **github}, check=True)
    assert (course / "out").exists() == published

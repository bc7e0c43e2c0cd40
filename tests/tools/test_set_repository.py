"""tools/set_repository.py: address and badges in, out again, and the same bytes as before."""

import shutil
import subprocess
import sys
from pathlib import Path

import nbformat
import pytest
import set_repository
from refresh_notebooks import as_text, normalise
from set_repository import checked_branch, checked_repository, main
from setup_cell import SETUP_CELL, repository_of

ROOT = Path(__file__).resolve().parents[2]
START = "notebooks/00_start_here.ipynb"


def _write_notebook(path):
    notebook = nbformat.v4.new_notebook(
        cells=[
            nbformat.v4.new_markdown_cell("# Who asks whom?\n\nYou will be able to score."),
            nbformat.v4.new_code_cell(SETUP_CELL),
        ]
    )
    normalise(notebook, path.stem)
    path.write_bytes(as_text(notebook).encode("utf-8"))


@pytest.fixture
def course(tmp_path, monkeypatch):
    (tmp_path / "notebooks").mkdir()
    for name in ("00_start_here", "03_qk_scores"):
        _write_notebook(tmp_path / "notebooks" / f"{name}.ipynb")
    (tmp_path / "README.md").write_bytes(b"# A course\n\nWhat it is.\n")
    monkeypatch.setattr(set_repository, "ROOT", tmp_path)
    return tmp_path


def _bytes(folder):
    return {path.name: path.read_bytes() for path in folder.rglob("*.*") if path.is_file()}


def test_address_and_badges_go_in_and_out_again(course):
    shipped = _bytes(course)
    assert main(["some-one/attention.course"]) == 0
    with_badges = _bytes(course)
    notebook = nbformat.reads(with_badges["03_qk_scores.ipynb"].decode(), as_version=4)
    assert repository_of(notebook.cells[1].source) == "some-one/attention.course"
    assert notebook.cells[0].source.startswith("# Who asks whom?\n\nYou will")
    assert notebook.cells[0].source.endswith(
        "(https://colab.research.google.com/github/some-one/attention.course/blob/main/notebooks/03_qk_scores.ipynb)"
    )
    readme = with_badges["README.md"].decode()
    assert readme.startswith("# A course\n\n[![Open in Colab]") and readme.endswith("\n\nWhat it is.\n")
    assert f"https://mybinder.org/v2/gh/some-one/attention.course/main?urlpath=lab/tree/{START})" in readme
    assert (ROOT / START).is_file()

    assert main(["some-one/attention.course"]) == 0
    assert _bytes(course) == with_badges

    assert main(["another/course", "--branch", "v2"]) == 0
    assert b"some-one" not in b"".join(_bytes(course).values())
    assert b"another/course/blob/v2/notebooks" in _bytes(course)["03_qk_scores.ipynb"]
    assert b"gh/another/course/v2?urlpath=" in _bytes(course)["README.md"]

    assert main(["--clear"]) == 0
    assert _bytes(course) == shipped
    assert main(["--clear"]) == 0
    assert _bytes(course) == shipped


@pytest.mark.parametrize(
    "name",
    [
        "course",
        "a/b/c",
        "https://github.com/a/b",
        "a/b.git",
        "-a/b",
        "a-/b",
        "a--b/c",
        "a/..",
        "a/b c",
        'a/b"',
        "a/",
        "/b",
        "",
        "a/b\n",
        "ä/b",
        "a" * 40 + "/b",
    ],
)
def test_what_is_no_owner_and_name_is_refused(name, course, capsys):
    shipped = _bytes(course)
    with pytest.raises(ValueError, match="owner/name"):
        checked_repository(name)
    assert main(["--", name]) == 1
    assert "Nothing was changed" in capsys.readouterr().err
    assert _bytes(course) == shipped


@pytest.mark.parametrize("name", ["a/b", "octo-cat/attention_course.v2", "A1/-x", "a" * 39 + "/b"])
def test_names_that_github_knows_are_taken(name):
    assert checked_repository(name) == name


@pytest.mark.parametrize("branch", ["", "a b", "../x", "x)", "-x"])
def test_what_cannot_be_a_branch_is_refused(branch):
    with pytest.raises(ValueError, match="branch"):
        checked_branch(branch)


def test_one_notebook_that_cannot_be_changed_stops_all(course, capsys):
    path = course / "notebooks" / "03_qk_scores.ipynb"
    path.write_bytes(path.read_bytes() + b"\n")
    before = _bytes(course)
    assert main(["a/b"]) == 1
    assert "run tools/refresh_notebooks.py first" in capsys.readouterr().err
    assert _bytes(course) == before


def test_the_real_course_gets_its_bytes_back(course):
    shutil.rmtree(course / "notebooks")
    shutil.copytree(ROOT / "notebooks", course / "notebooks")
    if not list((course / "notebooks").glob("*.ipynb")):
        pytest.skip("no notebook yet")
    if (ROOT / "README.md").exists():
        shutil.copy(ROOT / "README.md", course)
    assert main(["--clear"]) == 0  # a fork may have set its own address
    shipped = _bytes(course)
    assert b"colab-badge" not in b"".join(shipped.values())
    assert b"mybinder.org/badge" not in b"".join(shipped.values())
    assert main(["a/b"]) == 0
    changed = _bytes(course)
    unchanged = [name for name in shipped if name.endswith(".ipynb") and changed[name] == shipped[name]]
    assert unchanged == []
    assert b"/blob/main/notebooks/real_model/11_a_real_model.ipynb)" in changed["11_a_real_model.ipynb"]
    assert main(["--clear"]) == 0
    assert _bytes(course) == shipped


def test_it_is_a_command():
    tool = str(ROOT / "tools" / "set_repository.py")
    done = subprocess.run([sys.executable, tool, "nonsense"], capture_output=True, text=True)
    assert done.returncode == 1 and "owner/name" in done.stderr and "Traceback" not in done.stderr


def test_a_file_that_cannot_be_written_leaves_all_as_they_were(course, monkeypatch, capsys):
    shipped, write = _bytes(course), Path.write_bytes

    def refuses_the_readme(path, data):
        if path.name == "README.md" and b"colab" in data:
            raise PermissionError(13, "Permission denied", str(path))
        return write(path, data)

    monkeypatch.setattr(Path, "write_bytes", refuses_the_readme)
    assert main(["some-one/attention.course"]) == 1
    assert "Nothing was changed" in capsys.readouterr().err
    assert _bytes(course) == shipped

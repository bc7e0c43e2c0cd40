"""tools/make_portable.py: one file that needs nothing else, and the same bytes every time."""

import ast
import json
import os
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import nbformat
import pytest
from carried import (
    carried_data,
    carried_files,
    needed_files,
    package_data,
    package_files,
    without_breaks,
    without_remarks,
    without_unnamed,
)
from course_notebooks import course_notebooks
from make_portable import (
    ARCHIVE,
    MOST_ADDED,
    carrier_cells,
    main,
    make_portable,
    portable,
    without_local_links,
)

ROOT = Path(__file__).resolve().parents[2]
NOTEBOOKS = course_notebooks()
FILES, DATA = package_files(ROOT), package_data(ROOT)


def _program(source):
    """What Python makes of it, without docstrings."""
    tree = ast.parse(source)
    for node in ast.walk(tree):
        is_block = isinstance(node, (ast.Module, ast.ClassDef, ast.FunctionDef))
        if is_block and ast.get_docstring(node) is not None:
            node.body = node.body[1:] or ([] if isinstance(node, ast.Module) else [ast.Pass()])
    return ast.dump(tree)


@pytest.mark.parametrize("name", sorted(FILES))
def test_a_file_without_remarks_is_the_same_program(name):
    bare = without_breaks(without_remarks(FILES[name]))
    assert "\0" not in FILES[name]  # which parts one file from the next in a copy
    assert _program(bare) == _program(FILES[name])
    assert len(bare) <= len(FILES[name])


def test_remarks_go_and_everything_else_stays():
    source = '''"""About."""

import x  # why


def f(a):
    """Say a."""


class C:
    """About C.

    More.
    """

    text = """# not a remark

    kept"""

    def g(self):
        """Say g."""
        # because
        return ("#", 1)  # one
'''
    assert without_remarks(source) == (
        'import x\ndef f(a):\n    pass\nclass C:\n    text = """# not a remark\n\n    kept"""\n'
        '    def g(self):\n        return ("#", 1)\n'
    )


def test_only_breaks_in_brackets_go():
    source = '''a = [
    1,
    f(
        2, """three

        """, 4,
    ),
]
if a:
    b = {
        "x": (1,),

        "y": x[
            0
        ],
    }
    c = (
        1,
    )
'''
    assert without_breaks(source) == (
        'a = [1, f(2, """three\n\n        """, 4,)]\nif a:\n    b = {"x": (1,), "y": x[0]}\n    c = (1,)\n'
    )
    assert ast.dump(ast.parse(without_breaks(source))) == ast.dump(ast.parse(source))


def test_what_a_page_needs_is_found_through_lazy_names():
    files = {
        "mha_helpers/__init__.py": "from mha_helpers.base import core\nLAZY = {'draw': 'figures'}",
        "mha_helpers/base.py": "def core(): ...",
        "mha_helpers/figures/__init__.py": "LAZY = {'draw': 'maps'}",
        "mha_helpers/figures/maps.py": "from mha_helpers import style\ndef draw(): ...",
        "mha_helpers/figures/f04_scaling.py": "def spread(): ...",
        "mha_helpers/style.py": "RED = 1",
        "mha_helpers/e04.py": "from mha_helpers.figures import draw\ndef explorer():\n    import mha_helpers.late",
        "mha_helpers/late.py": "",
    }
    always = {"mha_helpers/__init__.py", "mha_helpers/base.py", "mha_helpers/figures/__init__.py"}
    drawing = {"mha_helpers/figures/maps.py", "mha_helpers/style.py"}
    assert set(needed_files("import torch", files)) == always
    assert set(needed_files("import mha_helpers as m\nm.draw()", files)) == always | drawing
    assert set(needed_files("from mha_helpers import draw", files)) == always | drawing
    through = always | drawing | {"mha_helpers/e04.py", "mha_helpers/late.py"}
    assert set(needed_files("from mha_helpers import e04", files)) == through
    with pytest.raises(ValueError, match="relative import"):
        needed_files("from mha_helpers import e05", {"mha_helpers/e05.py": "from . import style"})


def test_what_nobody_names_stays_behind_and_what_only_that_names_too():
    files = {
        "mha_helpers/a.py": (
            "import x\n__all__ = []\nDEAD = [1]\nUSED = {}\nfor i in range(2):\n    USED[i] = i\n"
            "@x.wrap\ndef f():\n    return g()\ndef g():\n    return g\ndef h():\n    return USED\n"
            "class Kept:\n    pass\nTOLD = 1\nSOLUTION = 'TOLD + 1'\nFOR_LEARNERS = 2\n"
        ),
        "mha_helpers/b.py": "from mha_helpers.a import h\nprint(h, 'Kept')\n",
        "mha_helpers/masks.py": "def nobody(): pass\n",
    }
    left = without_unnamed(files, "show(SOLUTION)\nTry FOR_LEARNERS.")
    assert left == files | {
        "mha_helpers/a.py": (
            "import x\n__all__ = []\nUSED = {}\nfor i in range(2):\n    USED[i] = i\n"
            "def h():\n    return USED\n"
            "class Kept:\n    pass\nTOLD = 1\nSOLUTION = 'TOLD + 1'\nFOR_LEARNERS = 2\n"
        )
    }


def test_a_list_of_public_names_keeps_nothing():
    start = "from mha_helpers.a import f\nLAZY = {'g': 'a'}\n__all__ = ['f', *LAZY]\nget = lazy(LAZY)\n"
    files = {
        "mha_helpers/__init__.py": start,
        "mha_helpers/a.py": "__all__ = ['f', 'g']\nNAMES = ['h']\ndef f(): NAMES\ndef g(): 1\ndef h(): 2\n",
    }
    short = files["mha_helpers/a.py"].replace("def g(): 1\n", "")
    assert without_unnamed(files, "") == {"mha_helpers/__init__.py": start, "mha_helpers/a.py": short}
    assert without_unnamed(files, "mha.g()") == files


def test_links_to_files_become_words_and_others_stay():
    text = "See [the `mask` page](05_causal_mask.ipynb), [a paper](https://arxiv.org/abs/1), [below](#recap)."
    assert without_local_links(text) == (
        "See the `mask` page, [a paper](https://arxiv.org/abs/1), [below](#recap)."
    )
    assert without_local_links("[readme](../README.md#x) and f[i](j)") == "readme and fi"
    assert (
        without_local_links("[![badge](https://a/b.svg)](https://c)")
        == "[![badge](https://a/b.svg)](https://c)"
    )
    with pytest.raises(ValueError, match="a picture from a file"):
        without_local_links("![map](map.png)")


@pytest.fixture
def carrier(tmp_path):
    """Runs the carrying cell in an empty folder of its own; returns how it went and its temporary folder."""
    files = {"mha_helpers/__init__.py": "HERE = __file__\n", "mha_helpers/deep/er.py": "WORDS = '猫 √d_k'\n"}
    data = {"mha_helpers/numbers/some.bin": bytes(range(256))}
    code = carrier_cells(files, data, "03")[1].source
    alone, temporary = tmp_path / "alone", tmp_path / "temporary"
    alone.mkdir()
    temporary.mkdir()

    def run(after="", change=lambda code: code):
        environment = {**os.environ, **{name: str(temporary) for name in ("TMPDIR", "TEMP", "TMP")}}
        done = subprocess.run(
            [sys.executable, "-B", "-X", "utf8", "-c", change(code) + "\n" + after],
            cwd=alone,
            env=environment,
            capture_output=True,
            text=True,
            encoding="utf-8",
        )
        return done, temporary, alone

    return run


def test_the_cell_unpacks_to_a_temporary_folder_and_nowhere_else(carrier):
    done, temporary, alone = carrier("from mha_helpers.deep.er import WORDS\nprint(WORDS, mha_helpers.HERE)")
    assert done.stderr == ""
    words, here = done.stdout.strip().rsplit(" ", 1)
    assert words == "猫 √d_k" and Path(here).is_relative_to(temporary)
    assert list(alone.iterdir()) == []
    assert list(temporary.iterdir()) == []  # cleared when the kernel ends


def test_a_page_may_use_the_names_of_the_cell(carrier):
    for again in ("del unpacked", "unpacked = 5", "unpacked = 5\nexec(whole)"):
        after = f"{again}\nimport gc\ngc.collect()\nfrom mha_helpers.deep.er import WORDS"
        done, _, _ = carrier(after, change=lambda code: f"whole = {code!r}\n{code}")
        assert done.stderr == ""


def test_the_cell_unpacks_data_byte_by_byte(carrier):
    read = "print(open(mha_helpers.HERE.replace('__init__.py', 'numbers/some.bin'), 'rb').read().hex())"
    done, _, _ = carrier(read)
    assert done.stdout.strip() == bytes(range(256)).hex()


def test_the_first_cell_says_that_trained_models_travel_too():
    with_data, without = carrier_cells({}, DATA, "10")[0].source, carrier_cells({}, {}, "01")[0].source
    size = round(sum(map(len, DATA.values())) / 1000)
    assert f"{len(DATA)} files, " in " ".join(with_data.split())
    assert f"{len(DATA)} of the files are trained models, {size} kB" in " ".join(with_data.split())
    assert "trained" not in without


def test_data_travels_with_the_module_that_names_its_folder():
    data = {"mha_helpers/numbers/some.bin": b"1", "mha_helpers/other/more.bin": b"2"}
    assert carried_data({"mha_helpers/a.py": "FOLDER = HERE / 'numbers'"}, data) == {
        "mha_helpers/numbers/some.bin": b"1"
    }
    assert carried_data({"mha_helpers/a.py": "numbers = 1"}, data) == {}


@pytest.mark.parametrize("with_what", [None, "", "”", " A", "\\\\", "~~~~~"])
def test_the_cell_refuses_a_damaged_copy(carrier, with_what):
    def damage(code):
        first = code.index('CARRIED = """\n') + len('CARRIED = """\n') + 40
        other = "A" if code[first] != "A" else "B"
        return code[:first] + (other if with_what is None else with_what) + code[first + 1 :]

    done, _, _ = carrier(change=damage)
    assert done.returncode == 1
    assert done.stderr.strip().endswith("is damaged. Get a fresh copy of this notebook.")


def test_the_cell_can_be_run_again(carrier):
    again = (
        "first = mha_helpers.HERE\nexec(CELL)\nimport mha_helpers.deep.er\nprint(first == mha_helpers.HERE)"
    )
    done, _, _ = carrier(again, change=lambda code: f"CELL = {code!r}\n{code}")
    assert done.stdout.strip() == "True" and done.stderr == ""


@pytest.mark.skipif(not NOTEBOOKS, reason="no notebook yet")
def test_the_same_course_gives_the_same_bytes(tmp_path):
    root = tmp_path / "course"  # a copy, since somebody may be working on the course
    shutil.copytree(ROOT / "mha_helpers", root / "mha_helpers")
    shutil.copytree(ROOT / "notebooks", root / "notebooks")
    paths = course_notebooks(root)
    first, second = (make_portable(paths, tmp_path / name, root) for name in ("one", "two"))
    assert [path.name for path in first] == [path.name for path in paths] + [ARCHIVE]
    assert [path.read_bytes() for path in first] == [path.read_bytes() for path in second]
    with zipfile.ZipFile(first[-1]) as archive:
        assert archive.testzip() is None
        members = {Path(name).name: archive.read(name) for name in archive.namelist()}
    assert members == {path.name: path.read_bytes() for path in first[:-1]}


def test_what_learners_read_travels_as_it_is():
    carried = carried_files("import mha_helpers", FILES)
    for name in ("mha_helpers/attention.py", "mha_helpers/masks.py"):
        assert carried[name] == FILES[name]
    assert len(carried["mha_helpers/checks.py"]) < len(FILES["mha_helpers/checks.py"])


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_copy_is_small_whole_and_without_dead_links(path):
    stored = path.read_text(encoding="utf-8")
    text = portable(stored, path.stem, FILES, DATA)  # raises if it is too large
    if path.stem < "10":
        assert len(text.encode("utf-8")) - len(stored.encode("utf-8")) <= MOST_ADDED
    notebook = nbformat.reads(text, as_version=4)
    nbformat.validate(notebook)
    code = [cell for cell in notebook.cells if cell.cell_type == "code"]
    assert code[0].source.startswith("# This cell carries mha_helpers")
    assert [cell.execution_count for cell in code] == list(range(1, len(code) + 1))
    original = nbformat.reads(stored, as_version=4)
    assert [cell.source for cell in code[1:]] == [c.source for c in original.cells if c.cell_type == "code"]
    prose = "\n".join(cell.source for cell in notebook.cells if cell.cell_type == "markdown")
    assert "This notebook is one file" in prose and ".ipynb)" not in prose.replace("https://", "")


@pytest.mark.parametrize("path", course_notebooks(real_model=False), ids=lambda path: path.stem)
def test_a_copy_runs_alone_under_strict_nbval(path, tmp_path):
    make_portable([path], tmp_path / "made")
    alone = tmp_path / "alone"
    alone.mkdir()
    shutil.copy(tmp_path / "made" / path.name, alone)
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    command = [sys.executable, "-m", "pytest", "-q", "--nbval", "--nbval-current-env"]
    command += ["--nbval-cell-timeout=120", "-p", "no:randomly", "-p", "no:cacheprovider", path.name]
    done = subprocess.run(
        command, cwd=alone, env={**environment, "OMP_NUM_THREADS": "1"}, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stdout[-3000:]
    assert [one.name for one in alone.iterdir() if one.suffix != ".ipynb"] in ([], ["__pycache__"])


def test_a_copy_that_would_be_too_large_is_refused(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr("make_portable.MOST_ADDED", 10)
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell("1")])
    path = tmp_path / "03_small.ipynb"
    path.write_text(json.dumps(notebook), encoding="utf-8")
    assert main([str(path), "--out", str(tmp_path / "out")]) == 1
    assert "the limit is 10" in capsys.readouterr().err
    assert not (tmp_path / "out").exists()

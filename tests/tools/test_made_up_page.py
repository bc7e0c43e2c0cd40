"""A made-up page through the tools that remake pages: what each of them writes, to the letter."""

import functools
import os
import re
import runpy
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import ModuleType
from unittest.mock import Mock

import nbformat
import pytest
from nbclient.exceptions import CellExecutionError

import course
import tools
from mha_course.exercises import ValueExercise
from tools import notebook, page, portable, refresh, teach

TWO = ValueExercise(
    "D99.1 ★★★ · 4 min · Two", right=2, task="Which?", stub="two = ...", praise="Two it is.",
    hints=["It is even.", "And <3."], solution="two = math.sqrt(4)", mistakes=[(3, "Odd."), (4, "Even."), (5, "Odd.")],
)  # fmt: skip
OPENING = """\
# Why is $1 + 1$ two & not three? · 5 min

After [page 00](../00_start_here.ipynb#Play) and [*scaling*](04_scaling.ipynb), see [below](#Say), [a
paper](https://a.org), ![two](two.png). **Time** 3 minutes, and 4 for the exercise.

| `a` | b |
|---|---|"""
FOLDED = "## Say · 2 min\n\nYou [**say**](04_scaling.ipynb) `it`.\n<details>\n<summary>Open</summary>\n\nTwo.\n\nNot 3.\n\n</details>"
IMPORT = "from mha_course.p99_made_up import an, explorer, exercises as exercises_99, two"
PIXEL = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAAAAAA6fptVAAAACklEQVR4nGNgAAAAAgABSK+kcQAAAABJRU5ErkJggg=="

REFRESHED = [
    r"""d99-made-top-01  {'slideshow': {'slide_type': 'slide'}} '# Why is $1 + 1$ two & not three? · 5 min\n\nAfter [page 00](../00_start_here.ipynb#Play) and [*scaling*](04_scaling.ipynb), see [below](#Say), [a\npaper](https://a.org), ![two](two.png). **Time** 3 minutes, and 4 for the exercise.\n\n| `a` | b |\n|---|---|'""",
    r"""d99-made-top-02 1 {'cellView': 'form', 'jupyter': {'source_hidden': True}, 'tags': ['set-up', 'hide-input']} '# @title Set-up: run this cell first (Shift + Enter)\nimport importlib.util, sys, torch\n\nsys.path += ["..", "../.."]  # where the helpers are not installed, they are in a folder above\nif "google.colab" in sys.modules:  # Colab brings this page alone\n    get_ipython().system("pip install -q --no-deps git+https://github.com/oc-to/course.js")\nassert importlib.util.find_spec("mha_helpers"), (\n    "The helpers of this page are not here. Open it in the course\'s folder, by a Colab badge, or as one file."\n)\nimport mha_helpers\n\ntorch.set_printoptions(precision=3, sci_mode=False)\nprint("✓ ready")'""",
    r"""d99-made-top-03 2 {} 'from mha_course.p99_made_up import an, explorer, exercises as exercises_99, two'""",
    r"""d99-made-say-2-min-01-3  {'slideshow': {'slide_type': 'slide'}} '## Say · 2 min\n\nYou [**say**](04_scaling.ipynb) `it`.\n<details>\n<summary>Open</summary>\n\nTwo.\n\nNot 3.\n\n</details>'""",
    r"""d99-made-exercises-01  {'slideshow': {'slide_type': 'slide'}} '## Exercises '""",
    r"""d99-made-exercises-02  {'slideshow': {'slide_type': 'subslide'}} '### Exercise D99.10 ★'""",
    r"""d99-made-exercises-03  {'slideshow': {'slide_type': 'subslide'}} '### Exercise D99.1 ★★★ · 4 min · Two\n\n*For the evening.* Which?'""",
    r"""d99-made-exercises-04 3 {'tags': ['exercise', 'raises-exception']} 'two = ...\n\nexercises_99.two.check(two)' {'name': 'stdout', 'output_type': 'stream', 'text': '<a>\nExercise D99.1: correct. Two it is.\n'} {'name': 'stderr', 'output_type': 'stream', 'text': 'a warning\n'}""",
    r"""d99-made-exercises-05 4 {'tags': ['exercise', 'raises-exception']} '# exercises_99.two.hint()\n# exercises_99.two.solution()'""",
    r"""d99-made-say-2-min-01-9  {'slideshow': {'slide_type': 'slide'}} '## Say · 2 min'""",
    r"""d99-made-say-2-min-02 5 {'tags': ['raises-exception']} '1 / 0  # [x](04_scaling.ipynb)' {'data': {'text/html': '<i>as it is</i>', 'text/plain': 'not this'}, 'metadata': {}, 'output_type': 'display_data'} {'data': {'text/plain': 'a < b'}, 'metadata': {}, 'output_type': 'display_data'} {'data': {'image/png': 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAAAAAA6fptVAAAACklEQVR42mNgAAAAAgAB5Sfe/AAAAABJRU5ErkJggg=='}, 'metadata': {'image/png': {'alt': 'a "b"', 'width': 60}}, 'output_type': 'display_data'} {'ename': 'ZeroDivisionError', 'evalue': 'by <0>', 'output_type': 'error', 'traceback': ['ZeroDivisionError: by <0>']}""",
    r"""d99-made-say-2-min-03 6 {} 'p = picture_explorer()\n \nx' {'data': {'image/png': 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAAAAAA6fptVAAAACklEQVR42mNgAAAAAgAB5Sfe/AAAAABJRU5ErkJggg==', 'text/plain': 'Panel: <b>'}, 'execution_count': 6, 'metadata': {}, 'output_type': 'execute_result'}""",
]
# What is other in the edition: from the third cell to the one that raises.
TAUGHT = [
    r"""d99-made-top-03 2 {} 'from mha_course.p99_made_up import an, explorer, exercises as exercises_99, two\n\nimport math\n\nfrom torch import nn\nfrom torch.nn import functional as F\n\nfrom mha_helpers import *'""",
    r"""d99-made-say-2-min-01-3  {'slideshow': {'slide_type': 'slide'}} '## Say · 2 min\n\nYou [**say**](TEACHER_deeper_04_scaling.ipynb) `it`.\n> **Answer.** Two.\n>\n> Not 3.'""",
    r"""d99-made-say-2-min-02-4  {} '> **Say.** Slowly.\n>\n> Then wait.'""",
    *REFRESHED[4:7],
    r"""d99-made-exercises-04 3 {} 'two = math.sqrt(4)\n\n\nexercises_99.two.check(two)' {'name': 'stdout', 'output_type': 'stream', 'text': '<a>\nExercise D99.1: correct. Two it is.\n'} {'name': 'stderr', 'output_type': 'stream', 'text': 'a warning\n'}""",
    r"""d99-made-exercises-05  {} '> **For the teacher.** Exercise D99.1. Hints, one by one:\n>\n> 1. It is even.\n> 2. And <3.\n>\n> What the check says of the usual mistakes:\n>\n> - Odd.\n> - Even.'""",
    r"""d99-made-say-2-min-01-10  {'slideshow': {'slide_type': 'slide'}} '## Say · 2 min'""",
    r"""d99-made-say-2-min-02-11  {} '> **Say.** Slowly.\n>\n> Then wait.'""",
    REFRESHED[-2].replace("02 5", "03 4"),
]
# What a page that plays shows below the heading of the exercise, without headings and the bytes of its picture.
PLAYED = """\
<p><em>For the evening.</em> Which?</p> <div class="scroll code"><pre>two = ... exercises_99.two.check(two) </pre></div> <div class="scroll
output"><pre>&lt;a&gt; Exercise D99.1: correct. Two it is. </pre></div><div class="scroll output"><pre>a warning </pre></div> <details><summary>Hints,
in JupyterLab</summary><div class="scroll code"><pre># exercises_99.two.hint() # exercises_99.two.solution() </pre></div> </details> <div
class="scroll code"><pre>1 / 0 # [x](04_scaling.ipynb) </pre></div> <div class="scroll output"><i>as it is</i></div><div class="scroll output"><pre>a
&lt; b</pre></div><div class="scroll output"><img alt="a &quot;b&quot;" width="60" src="data:image/png;base64,"></div><div class="scroll
output"><pre>ZeroDivisionError: by &lt;0&gt;</pre></div> <details><summary>The code of this picture</summary><div class="scroll code"><pre>p =
picture_explorer() x </pre></div> </details><figure>p = p</figure> </main> </body> </html>"""
LISTED = ["Twenty minutes", "00 00_a.html", "One sitting", "one_d.html", "The course", "05 05_b.html"]
LISTED += ["After it", "11 11_c.html", "Deeper", "04 deeper_04_e.html"]
SIZES = [11, 51, 8, 26, 2, 1, 7, 4]


class Client:
    """In place of a kernel: what each cell gives."""

    def __init__(self, page, **options):
        assert options["resources"] == {"metadata": {"path": str(FOLDER[-1])}}
        assert options["kernel_name"] == "python3"
        assert options["timeout"] > 60 and not options["record_timing"]
        self.page = page

    def execute(self, env):
        assert env["PYTHONPATH"] == os.pathsep.join(["/mine", str(notebook.ROOT)])
        assert env["OMP_NUM_THREADS"] == os.environ["JUPYTER_PREFER_ENV_PATH"] == "1"
        new = nbformat.v4.new_output
        for cell in self.page.cells:
            if "1 / 0" in cell.source:
                shown = {"text/html": "<i>as it is</i>", "text/plain": "not this"}, {"text/plain": "a < b"}
                sized = {"image/png": {"alt": 'a "b"', "width": 60}}
                cell.outputs = [new("display_data", data) for data in shown]
                cell.outputs += [new("display_data", {"image/png": PIXEL}, metadata=sized)]
                error = {"ename": "ZeroDivisionError", "evalue": "by <0>", "traceback": ["/home/me"]}
                cell.outputs.append(new("error", **error))
            elif "check" in cell.source and cell.cell_type == "code":
                printed = [("stdout", "<a>\n"), ("stdout", SAID[-1]), ("stderr", "a warning\n")]
                cell.outputs = [new("stream", name=name, text=text) for name, text in printed]
            elif "picture" in cell.source:
                data = {"image/png": PIXEL, "text/plain": "Panel: <b>"}
                data[notebook.WIDGET_VIEW] = {"model_id": "gone"}
                cell.outputs = [new("execute_result", data, execution_count=9)]


FOLDER, SAID = [], ["Exercise D99.1: correct. Two it is.\n"]


@pytest.fixture
def path(tmp_path, monkeypatch):
    """A page of a folder deeper/ with an exercise, whose two code cells are still empty."""
    module = ModuleType("mha_course.p99_made_up.exercises")
    module.two = TWO
    monkeypatch.setitem(sys.modules, module.__name__, module)
    monkeypatch.setattr(notebook, "NotebookClient", Client)
    monkeypatch.setenv("PYTHONPATH", "/mine")
    monkeypatch.setenv("JUPYTER_PREFER_ENV_PATH", "0")
    code, words = nbformat.v4.new_code_cell, nbformat.v4.new_markdown_cell
    setup = '# @title Set-up\nof old: git+https://github.com/oc-to/course.js"'
    exercise = [words("### Exercise D99.10 ★"), words("### Exercise D99.1 of old"), code(), code("# below")]
    meant = code("1 / 0  # [x](04_scaling.ipynb)\n", metadata={"tags": ["raises-exception"], "jupyter": {}})
    shown = code("p = picture_explorer()\n \nx", metadata={"trusted": True, **notebook.FOLDED_OUTPUT})
    cells = [
        words(OPENING), code(setup), code(IMPORT), words(FOLDED), words("## Exercises "), *exercise,
        words("## Say · 2 min"), meant, shown,
    ]  # fmt: skip
    path = tmp_path / "deeper" / "99_made_up.ipynb"
    path.parent.mkdir()
    nbformat.write(nbformat.v4.new_notebook(cells=cells, metadata={"me": "/home/me"}), path)
    FOLDER.append(path.parent)
    monkeypatch.setattr(refresh, "all_pages", lambda: [path])
    yield path
    del FOLDER[:], SAID[1:]


def transcript(path):
    """All that the cells of a page hold, a line for each."""
    lines = []
    for cell in nbformat.read(path, as_version=4).cells:
        about = f"{cell.id} {cell.get('execution_count', '')} {dict(cell.metadata)}"
        outputs = (str(dict(output)) for output in cell.get("outputs", []))
        lines.append(" ".join([about, repr(cell.source), *outputs]))
    return lines


def test_refresh_to_the_letter_and_a_second_time_nothing_changes(path, capsys, monkeypatch):
    assert refresh.main([str(path)]) == 0
    assert transcript(path) == REFRESHED
    once = path.read_bytes()
    assert refresh.main([str(path)]) == 0 and path.read_bytes() == once and b"/home" not in once
    said = [line.split(", ")[0] for line in capsys.readouterr().out.splitlines()]
    assert said == [f"99_made_up.ipynb: {state}" for state in ("written", "unchanged")]
    torn = nbformat.read(path, as_version=4)
    del torn.cells[8]  # an exercise without its second cell: nothing is written
    nbformat.write(torn, path)
    torn = path.read_bytes()
    assert refresh.main([str(path)]) == 1 and path.read_bytes() == torn
    assert "exercise D99.1 needs two code cells" in capsys.readouterr().err
    path.write_bytes(once)
    monkeypatch.setattr(tools, "screenshot", Mock(), raising=False)
    assert refresh.main([]) == 0 and tools.screenshot.remake_readme_picture.call_count == 1
    raised = CellExecutionError("line 3", "NameError", "x")
    monkeypatch.setattr(Client, "execute", Mock(side_effect=raised))
    assert refresh.main([str(path)]) == 1 and path.read_bytes() == once
    assert "CellExecutionError: line 3" in capsys.readouterr().err


def test_the_sizes_of_a_page_that_had_no_set_up_cell_and_where_it_stands(path, tmp_path, monkeypatch, capsys):
    new = nbformat.read(path, as_version=4)
    del new.cells[1]
    nbformat.write(new, path)
    assert refresh.main([str(path)]) == 0 and transcript(path)[1].startswith(REFRESHED[1][:120])
    measured = page.Page(path)
    assert list(measured.sizes.values()) == SIZES and measured.stated_minutes() == (3, 4)
    monkeypatch.setattr(sys, "argv", ["page", str(path)])
    runpy.run_path(page.__file__, run_name="__main__")
    assert "\n99_made_up: 11 cells, 51 words, 8 lines" in capsys.readouterr().out
    names = ["10_b", "9_c", "one_d", "deeper/01_a", ".ipynb_checkpoints/10_b"]
    for name in names:
        course.write(str(tmp_path / "notebooks" / f"{name}.ipynb"), "")
    monkeypatch.setattr(notebook, "ROOT", tmp_path)
    listed = [file.relative_to(tmp_path / "notebooks").with_suffix("") for file in notebook.all_pages()]
    assert [file.as_posix() for file in listed] == names[:4]


def test_the_teachers_folder_to_the_letter(path, tmp_path, monkeypatch):
    refresh.main([str(path)])
    monkeypatch.setattr(teach, "own_pages", refresh.all_pages)
    monkeypatch.setattr(teach, "SOURCE", tmp_path)
    monkeypatch.setattr(teach, "FOLDER", tmp_path / "dist" / "teach")
    teach.FOLDER.mkdir(parents=True)
    for name in ("handout", "paper", "key"):
        (tmp_path / f"{name}.md").write_text(f"# {name} & all\n\n{{picture}}", encoding="utf-8")
    notes = "# Notes\n\n## Say\n\nSlowly.\n\nThen wait.\n\n## Gone\n\nNo."
    (tmp_path / "99_made_up.md").write_text(notes, encoding="utf-8")
    (teach.FOLDER / "of_old.html").touch()
    assert teach.main([]) == 0
    names = ["TEACHER_deeper_99_made_up.ipynb", "handout.html", "key.html", "paper.html"]
    assert sorted(file.name for file in teach.FOLDER.iterdir()) == names
    taught = transcript(teach.FOLDER / names[0])
    assert "(TEACHER_00_start_here.ipynb#Play)" in taught[0] and taught[2:13] == TAUGHT
    printed = (teach.FOLDER / "key.html").read_text(encoding="utf-8")
    assert "<title>key &amp; all</title>" in printed and "key &amp; all<" in printed
    assert "<p><svg " in printed and "Framed: 1.784 · 1 + 1.865" in printed and teach.STYLE in printed
    unsolved = "Exercise D99.1: not yet. No.\nExercise 3.2: not attempted yet. …\nExercise 3.3: correctly …"
    SAID.append(f"{unsolved}\n")
    assert teach.main([]) == f"Not solved:\n{unsolved}"


def test_a_copy_in_one_file_carries_what_its_page_needs(path, tmp_path, monkeypatch):
    whole = nbformat.reads(portable.portable(notebook.all_pages()[0]), as_version=4).cells[1].source
    assert len(whole) < 52_000 and max(map(len, whole.splitlines())) == 2000
    helpers = {
        "mha_helpers/__init__.py": '"""Words."""\n\n\ndef f():\n    """Words."""\n\n\nsaid = "ü"  # why\n',
        "mha_helpers/a.css": "a{}  /* why */\n",
        "mha_course/models/a.pt": "\x00\x7f",
        "mha_course/__init__.py": "",
        "mha_course/p99_made_up/__init__.py": "x = 1",
        "mha_course/p98_paper/__init__.py": "x = 2",  # only words name it
    }
    for name, text in helpers.items():
        course.write(str(tmp_path / name), text)
    monkeypatch.setattr(portable, "ROOT", tmp_path)
    monkeypatch.setattr(sys, "path", [*sys.path])
    out = tmp_path / "out"
    portable.main([str(path), "--out", str(out)])
    copy = out / "deeper_99_made_up.ipynb"
    cells = nbformat.read(copy, as_version=4).cells
    assert "](04" not in cells[3].source and "You **say** `it`." in cells[3].source
    assert "After page 00 and *scaling*, see [below](#Say), [a\npaper](https://a.org)" in cells[0].source
    assert "![two](two.png)" in cells[0].source and "04_scaling" in cells[10].source
    monkeypatch.delitem(sys.modules, "mha_helpers")
    exec(cells[1].source, {})
    assert cells[1].source.splitlines()[-2:] == notebook.SETUP.splitlines()[-2:]
    folder = Path(sys.modules["mha_helpers"].__file__).parent.parent
    assert sys.modules["mha_helpers"].unpacked.name == str(folder)
    bare = helpers | {"mha_helpers/__init__.py": "def f():\n    pass\nsaid = 'ü'"}
    del bare["mha_course/p98_paper/__init__.py"], bare["mha_course/models/a.pt"]
    files = [file for file in folder.rglob("*.*") if file.suffix != ".pyc"]
    assert {file.relative_to(folder).as_posix(): file.read_text("utf-8") for file in files} == bare
    page = nbformat.read(path, as_version=4)
    page.cells[2].source += "\ntrained_model()"
    nbformat.write(page, path)
    portable.main([str(path), "--out", str(out)])
    exec(nbformat.read(copy, as_version=4).cells[1].source, {})
    model = Path(sys.modules["mha_helpers"].unpacked.name, "mha_course/models/a.pt")
    assert model.read_bytes() == b"\x00\x7f"


def test_pages_that_play_and_their_list_to_the_letter(path, tmp_path, monkeypatch):
    play = pytest.importorskip("tools.play")
    refresh.main([str(path)])
    page = nbformat.read(path, as_version=4)
    page.cells[0].source += "\n\n[![Open in Colab](badge.svg)](https://a.org)"
    paths = [tmp_path / f"{name}.ipynb" for name in ("00_a", "05_b", "11_c", "one_d", "deeper/04_e")]
    for copy in paths:
        nbformat.write(page, copy)
    monkeypatch.setattr(play, "own_pages", lambda: paths)
    monkeypatch.setattr(play, "shipped", functools.partial(nbformat.read, as_version=4))
    monkeypatch.setattr(play, "POOL", functools.partial(ThreadPoolExecutor, 1))
    monkeypatch.setattr(
        play, "panel_html", lambda make: f"<figure>{getattr(make, 'args', ['0'])[0][:5]}</figure>"
    )
    out = tmp_path / "out"
    course.write(str(out / "of_old.html"), "")
    play.main(["--out", str(out)])
    made = {path.stem: path.read_text(encoding="utf-8") for path in out.iterdir()}
    assert sorted(made) == ["00_a", "05_b", "11_c", "deeper_04_e", "index", "one_d"]
    before, shown = made["deeper_04_e"].split("<main>")
    shown = re.sub('</?span[^>]*>|<script.*?</script>|<h2.*?</h2>|iVBO[^"]*', "", shown, flags=re.DOTALL)
    assert shown.split("</h3>")[-1].split() == PLAYED.split() and "badge.svg" not in shown
    assert '<div class="scroll"><table>' in shown and '<a href="00_start_here.html#Play">' in shown
    assert "<details><summary>The cell that sets this page up in JupyterLab</summary>" in shown
    assert "<title>Why is $1 + 1$ two &amp; not three?</title>" in before
    light, dark = before.split("prefers-color-scheme: dark")[:2]
    assert ".code { background: #f8f8f8" in light and ".code { background: #0d1117" in dark
    assert {name for name, text in made.items() if "<figure>" in text} == made.keys()
    listed = re.findall('<h2>(.*?)</h2>|<li>(.*?) <a href="(.*?)">Why is .*?</a></li>', made["index"])
    assert [" ".join(filter(None, part)) for part in listed] == LISTED
    course.write(str(out / "of_old.html"), "")
    play.main([str(paths[1]), "--out", str(out)])
    assert len(list(out.iterdir())) == 7 and (out / "index.html").read_text(encoding="utf-8") == made["index"]

"""tools/refresh_notebooks.py: one stored form, reached in one run and kept by the next."""

import base64
import io
import json
import os

import nbformat
import pytest
import refresh_notebooks
from notebook_page import Page, stored_pages
from PIL import Image
from refresh_notebooks import WIDGET_VIEW, as_text, bare_png, cell_ids, main, normalise
from sample_page import code, printed, prose, sample_page, tiny_png, write_page

MESSY = [
    prose("# What is kept?"),
    code(
        "import os\nimport sys\n\nprint('one')\nsys.stdout.flush()\nprint('two', os.environ['OMP_NUM_THREADS'])"
    ),
    prose("## Play"),
    code(
        "import ipywidgets\nimport matplotlib.pyplot as plt\nfrom IPython.display import display\n\n"
        "display(ipywidgets.IntSlider())\n_ = plt.plot([1, 2])\nplt.show()"
    ),
    code("1 / 0"),
    code("open('written_here.txt', 'w').close()\n6 * 7"),
]


@pytest.fixture
def messy(tmp_path):
    notebook = nbformat.v4.new_notebook(cells=nbformat.from_dict(json.loads(json.dumps(MESSY))))
    notebook.cells[4].metadata["tags"] = ["raises-exception"]
    notebook.metadata["widgets"] = {"application/vnd.jupyter.widget-state+json": {"state": {}}}
    path = tmp_path / "03_messy.ipynb"
    nbformat.write(notebook, path)
    return path


def test_a_refreshed_notebook_is_in_the_stored_form_and_stays_so(messy, capsys):
    assert main([str(messy)]) == 0
    first = messy.read_bytes()
    assert main(["--check", str(messy)]) == 0
    assert main([str(messy)]) == 0
    assert messy.read_bytes() == first
    assert "unchanged" in capsys.readouterr().out

    page = Page(messy)
    assert [cell.execution_count for cell in page.code] == [1, 2, 3, 4]
    assert [cell.id for cell in page.cells][2:4] == ["03-play-01", "03-play-02"]
    assert "widgets" not in page.notebook.metadata and WIDGET_VIEW.encode() not in first
    assert [output.text for output in page.code[0].outputs] == ["one\ntwo 1\n"]
    assert page.code[2].outputs[0].traceback == ["ZeroDivisionError: division by zero"]
    assert page.code[3].outputs[0].execution_count == 4
    assert b"Software" not in base64.b64decode(page.code[1].outputs[1].data["image/png"])
    assert first.endswith(b"}\n") and b"\r" not in first and b'\n "cells"' in first
    assert (messy.parent / "written_here.txt").exists()  # it ran in its own folder


def test_check_writes_nothing_and_names_what_would_change(messy, capsys):
    before = messy.read_bytes()
    assert main(["--check", str(messy)]) == 1
    assert messy.read_bytes() == before
    assert "03_messy.ipynb: would change" in capsys.readouterr().err


def test_an_error_that_is_not_meant_fails_and_leaves_the_file(tmp_path, capsys):
    notebook = nbformat.v4.new_notebook(cells=[code("raise ValueError('d_k is 3')")])
    path = write_page(notebook, tmp_path)
    before = path.read_bytes()
    assert main([str(path)]) == 1
    assert "ValueError: d_k is 3" in capsys.readouterr().err
    assert path.read_bytes() == before


def test_a_notebook_that_is_too_large_fails(tmp_path, capsys, monkeypatch):
    monkeypatch.setattr(refresh_notebooks, "LARGEST", 100)
    assert main([str(write_page(nbformat.v4.new_notebook(cells=[code("1")]), tmp_path))]) == 1
    assert "draw smaller or fewer pictures" in capsys.readouterr().err


def test_a_missing_file_is_named(tmp_path, capsys):
    assert main([str(tmp_path / "99_nothing.ipynb")]) == 1
    assert "99_nothing.ipynb: there is no such file" in capsys.readouterr().err


def test_what_is_no_notebook_is_named(tmp_path, capsys):
    page = tmp_path / "page.ipynb"
    page.write_text("# Not JSON", encoding="utf-8")
    assert main([str(tmp_path), str(page)]) == 1
    said = capsys.readouterr().err
    assert f"{tmp_path.name}: this is a folder" in said and "page.ipynb: this is no notebook" in said


def test_a_bare_picture_has_the_same_pixels_and_no_text():
    image = Image.effect_noise((40, 30), 50).convert("RGB")
    file = io.BytesIO()
    image.save(file, "PNG", dpi=(100, 100), compress_level=1)
    bare = bare_png(file.getvalue())
    assert Image.open(io.BytesIO(bare)).tobytes() == image.tobytes()
    assert b"pHYs" in file.getvalue() and b"pHYs" not in bare
    assert bare_png(bare) == bare
    assert bare_png(tiny_png(text=b"Matplotlib 3")) == bare_png(tiny_png(text=b"Matplotlib 4"))
    assert bare_png(tiny_png(1)) != bare_png(tiny_png(2))
    with pytest.raises(ValueError, match="not a PNG"):
        bare_png(b"GIF89a")


def test_ids_change_in_one_section_only():
    cells = sample_page().cells
    before = cell_ids(cells, "03_qk_scores")
    place = before.index("03-in-pytorch-01")
    after = cell_ids([*cells[:place], prose("A new thought."), *cells[place:]], "03_qk_scores")
    assert after[:place] == before[:place] and after[place + 1 :] == before[place:]
    twice = cell_ids([prose("## Play"), prose("## Play")], "03_qk_scores")
    assert len(set(twice)) == 2


def test_streams_stay_apart_where_something_stands_between():
    notebook = nbformat.v4.new_notebook(
        cells=[code("x", printed("a\n"), printed("b\n"), printed("!", "stderr"), printed("c\n"))]
    )
    normalise(notebook, "03_qk_scores")
    assert [(o.name, o.text) for o in notebook.cells[0].outputs] == [
        ("stdout", "a\nb\n"),
        ("stderr", "!"),
        ("stdout", "c\n"),
    ]


def test_the_set_up_cell_is_brought_up_to_date_and_keeps_its_repository(tmp_path):
    notebook = sample_page()
    notebook.cells[1].source = 'import torch\n\nREPOSITORY = "someone/course"'
    refresh_notebooks.write_setup_cell(notebook)
    assert notebook.cells[1].source == refresh_notebooks.setup_cell("someone/course")


@pytest.mark.parametrize("page", stored_pages(), ids=lambda page: page.name)
def test_stored_notebooks_read_and_written_are_the_same_bytes(page):
    assert as_text(page.notebook).encode("utf-8") == page.path.read_bytes()


def test_refreshing_leaves_this_process_alone(messy):
    before = dict(os.environ)
    main(["--check", str(messy)])
    assert dict(os.environ) == before

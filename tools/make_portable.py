"""Make one-file copies of the notebooks: each carries the helper module inside its first code cell.

    python tools/make_portable.py                       # all of them, into dist/portable/
    python tools/make_portable.py notebooks/03_qk_scores.ipynb --out /some/folder

A copy needs nothing else but what Colab has: torch, matplotlib, seaborn, ipywidgets. A teacher can hand it
out by mail or a learning platform. Nothing is run to make it, and the same course gives the same bytes.
Next to the notebooks lies one zip with all of them.
"""

from __future__ import annotations

import argparse
import base64
import bz2
import hashlib
import json
import re
import sys
import textwrap
import zipfile
from pathlib import Path

import nbformat
from carried import PACKAGE, carried_data, carried_files, package_data, package_files
from course_notebooks import as_python, course_notebooks, id_prefix
from nbformat.notebooknode import NotebookNode

ROOT = Path(__file__).resolve().parent.parent
ARCHIVE = "multi_head_attention_notebooks.zip"
MOST_ADDED = 50_000  # bytes more than the notebook it came from, and the data it reads
ABOUT = """\
**This notebook is one file.** The next cell carries `{package}`, the helper module of this course:
{files} files, `attention.py` and `masks.py` as they are, the others without comments and without what this
page does not need.{weights} It checks that its copy is whole, unpacks it to a temporary folder and installs
nothing. Run it first."""
CARRIER = '''\
# This cell carries {package}, the helper module of this course. It unpacks it to a temporary folder.
import base64
import bz2
import hashlib
import sys
import tempfile
from pathlib import Path

CARRIED = """
{text}
"""
text = "".join(CARRIED.split())
if hashlib.sha256(text.encode()).hexdigest() != "{sha256}":
    raise ValueError("The helper module in this cell is damaged. Get a fresh copy of this notebook.")
if "{package}" not in sys.modules:
    unpacked = tempfile.TemporaryDirectory(prefix="{package}_", ignore_cleanup_errors=True)
    parts = bz2.decompress(base64.b85decode(text)).decode().split("\\0")
    for name, text in zip(parts[::2], parts[1::2]):
        path = Path(unpacked.name, name)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text.encode() if name.endswith(".py") else base64.b85decode(text))
    sys.path.insert(0, unpacked.name)
    import {package}

    {package}.unpacked = unpacked  # the folder stays, whatever a page calls unpacked
import {package}  # noqa: E402, F401, I001
'''


def carrier_cells(files: dict[str, str], data: dict[str, bytes], number: str) -> list[NotebookNode]:
    """A Markdown cell that says what comes, and the code cell that carries it."""
    files = files | {name: base64.b85encode(content).decode("ascii") for name, content in data.items()}
    parts = [part for name in sorted(files) for part in (name, files[name])]
    packed = bz2.compress("\0".join(parts).encode("utf-8"), 9)
    text = "\n".join(textwrap.wrap(base64.b85encode(packed).decode("ascii"), width=4000))
    sha256 = hashlib.sha256("".join(text.split()).encode()).hexdigest()
    weights = ""
    if data:
        size = round(sum(map(len, data.values())) / 1000)
        weights = f" {len(data)} of the files are trained models, {size} kB, nearly all of this one."
    about = nbformat.v4.new_markdown_cell(ABOUT.format(package=PACKAGE, files=len(files), weights=weights))
    source = CARRIER.format(package=PACKAGE, text=text, sha256=sha256).rstrip("\n")
    carrier = nbformat.v4.new_code_cell(source, metadata={"jupyter": {"source_hidden": True}})
    about.id, carrier.id = f"{number}-portable-about", f"{number}-portable-carrier"
    return [about, carrier]


def without_local_links(markdown: str) -> str:
    """Markdown in which a link to a file of the course is its words alone: the file is not there."""
    if re.search(r"!\[[^\]]*\]\((?!https?://|data:)", markdown):
        raise ValueError("it shows a picture from a file, which a one-file copy does not have")
    return re.sub(r"(?<!!)\[((?:[^\[\]]|`[^`]*`)*)\]\((?!https?://|#|mailto:)[^)\s]*\)", r"\1", markdown)


def portable(text: str, name: str, files: dict[str, str], data: dict[str, bytes] | None = None) -> str:
    """The one-file copy of the notebook with this text and the name `name`, as text.

    Raises ValueError if it is more than 50 kB larger than the notebook and the data it needs.
    """
    notebook = nbformat.reads(text, as_version=4)
    code = "\n".join(as_python(cell.source) for cell in notebook.cells if cell.cell_type == "code")
    prose = "\n".join(cell.source for cell in notebook.cells if cell.cell_type == "markdown")
    for cell in notebook.cells:
        cell.metadata.pop("slideshow", None)  # slides are made of the course's own notebooks
        if cell.cell_type == "markdown":
            cell.source = without_local_links(cell.source)
    first_code = next((i for i, cell in enumerate(notebook.cells) if cell.cell_type == "code"), None)
    if first_code is None:  # a page to be read alone needs no helper module
        return json.dumps(notebook, ensure_ascii=False, sort_keys=True, separators=(",", ":")) + "\n"
    number = id_prefix(name)
    carried = carried_files(code, files, prose)
    needed = carried_data(carried, data or {})
    cells, without_data = carrier_cells(carried, needed, number), carrier_cells(carried, {}, number)
    notebook.cells[first_code:first_code] = cells
    count = 0
    for cell in notebook.cells:
        if cell.cell_type == "code":
            count += 1
            cell.execution_count = count
            for output in cell.outputs:
                if output.output_type == "execute_result":
                    output.execution_count = count
    nbformat.validate(notebook)
    # Nobody compares copies line by line, so the lines and indents of the stored form can be saved.
    copy = json.dumps(notebook, ensure_ascii=False, sort_keys=True, separators=(",", ":")) + "\n"
    added = len(copy.encode("utf-8")) - len(text.encode("utf-8"))
    allowed = MOST_ADDED + len(cells[1].source) - len(without_data[1].source)
    if added > allowed:
        raise ValueError(f"{added} bytes more than the notebook; the limit is {allowed}")
    return copy


def write_zip(path: Path, texts: dict[str, str]) -> None:
    """A zip with the same bytes every time: fixed order, date and permissions."""
    with zipfile.ZipFile(path, "w") as archive:
        for name in sorted(texts):
            entry = zipfile.ZipInfo(f"{path.stem}/{name}", date_time=(1980, 1, 1, 0, 0, 0))
            entry.external_attr, entry.create_system = 0o644 << 16, 3
            entry.compress_type = zipfile.ZIP_DEFLATED
            archive.writestr(entry, texts[name].encode("utf-8"), compresslevel=9)


def make_portable(paths: list[Path], out: Path, root: Path = ROOT) -> list[Path]:
    """Write the copies and their zip into `out`. Returns what was written."""
    files, data = package_files(root), package_data(root)
    if not files:
        raise ValueError(f"there is no {PACKAGE} in {root}")
    texts = {}
    for path in paths:
        original = path.read_text(encoding="utf-8")
        try:
            texts[path.name] = portable(original, path.stem, files, data)
        except ValueError as error:
            raise ValueError(f"{path.name}: {error}") from error
        added = len(texts[path.name].encode("utf-8")) - len(original.encode("utf-8"))
        print(f"{path.name}: {added / 1000:.0f} kB more than the notebook")
    out.mkdir(parents=True, exist_ok=True)
    for name, text in texts.items():
        (out / name).write_bytes(text.encode("utf-8"))
    write_zip(out / ARCHIVE, texts)
    return [*(out / name for name in texts), out / ARCHIVE]


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("notebooks", nargs="*", type=Path, help="files (default: all in notebooks/)")
    parser.add_argument("--out", type=Path, default=ROOT / "dist" / "portable", help="where the copies go")
    options = parser.parse_args(arguments)
    try:
        make_portable(options.notebooks or course_notebooks(), options.out)
    except (OSError, ValueError) as error:
        print(error, file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())

"""Run the notebooks and store their outputs in one fixed form, so that a second run changes nothing.

    python tools/refresh_notebooks.py                            # all of them
    python tools/refresh_notebooks.py notebooks/03_qk_scores.ipynb
    python tools/refresh_notebooks.py --check                    # write nothing; say which would change

Each notebook runs alone, in its own folder, with the Python that runs this tool and one thread.
What is stored:

* the set-up cell as `tools/setup_cell.py` has it (its REPOSITORY is kept);
* cell ids made of notebook number, section and place in the section: `03-by-hand-02`;
* execution counts 1, 2, 3 …; streams of one kind in one piece; no timings; of the cell metadata the
  tags, `jupyter` and `slideshow` alone;
* pictures as PNG without text chunks, with their words beside them; no widget view and no widget state,
  since a stored view without its model shows "Error displaying widget";
* of an expected error (tag `raises-exception`) its name and message, not the traceback with its paths.

`--check` compares everything except the pixels of pictures: another version of matplotlib or of its font
library draws the same picture with a few other pixels, and the words beside it say what it shows.

The exit code is 1 when a cell raises, a notebook would change (`--check`), or a file passes 600 kB.
"""

from __future__ import annotations

import argparse
import base64
import copy
import os
import re
import sys
import zlib
from pathlib import Path

import nbformat
from course_notebooks import course_notebooks, id_prefix
from ipykernel.kernelspec import RESOURCES, get_kernel_dict
from jupyter_client.kernelspec import KernelSpec, KernelSpecManager
from jupyter_client.manager import AsyncKernelManager
from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError, CellTimeoutError, DeadKernelError
from nbformat.notebooknode import NotebookNode
from setup_cell import is_setup_cell, repository_of, setup_cell

ROOT = Path(__file__).resolve().parent.parent
LARGEST = 600_000  # bytes: beyond this, GitHub and slow connections show a notebook late or not at all
CELL_TIMEOUT = 120  # seconds
WIDGET_VIEW = "application/vnd.jupyter.widget-view+json"
KEPT = ("tags", "jupyter", "slideshow")  # of a cell's metadata
NOTEBOOK_METADATA = {
    "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
    "language_info": {
        "codemirror_mode": {"name": "ipython", "version": 3},
        "file_extension": ".py",
        "mimetype": "text/x-python",
        "name": "python",
        "nbconvert_exporter": "python",
        "pygments_lexer": "ipython3",
    },
}


class ThisPython(KernelSpecManager):
    """Starts the Python that runs this tool, whatever kernel a user has registered as "python3"."""

    def get_kernel_spec(self, kernel_name: str) -> KernelSpec:
        return KernelSpec(resource_dir=RESOURCES, **get_kernel_dict(["--log-level=ERROR"]))


def execute(notebook: NotebookNode, folder: Path) -> None:
    """Run all cells in place, in `folder`. Raises CellExecutionError when one of them raises."""
    manager = AsyncKernelManager(kernel_name="python3", kernel_spec_manager=ThisPython())
    client = NotebookClient(
        notebook,
        km=manager,
        timeout=CELL_TIMEOUT,
        resources={"metadata": {"path": str(folder)}},
        record_timing=False,
    )
    client.execute(env={**os.environ, "OMP_NUM_THREADS": "1"})


# --- one fixed form -------------------------------------------------------------------------------------


def bare_png(png: bytes) -> bytes:
    """The same pixels without text, time and resolution chunks (they name versions), packed tightly."""
    if png[:8] != b"\x89PNG\r\n\x1a\n":
        raise ValueError("this is not a PNG picture: its first eight bytes are not the PNG signature")
    chunks, place = [], 8
    while place < len(png):
        length = int.from_bytes(png[place : place + 4], "big")
        chunks.append((png[place + 4 : place + 8], png[place + 8 : place + 8 + length]))
        place += 12 + length
    pixels = zlib.decompress(b"".join(data for kind, data in chunks if kind == b"IDAT"))
    kept = [(kind, data) for kind, data in chunks if kind in (b"IHDR", b"PLTE", b"tRNS")]
    kept += [(b"IDAT", zlib.compress(pixels, level=9)), (b"IEND", b"")]
    packed = [
        len(data).to_bytes(4, "big") + kind + data + zlib.crc32(kind + data).to_bytes(4, "big")
        for kind, data in kept
    ]
    return png[:8] + b"".join(packed)


def normalise_outputs(outputs: list[NotebookNode], count: int | None) -> list[NotebookNode]:
    """The outputs of one cell in their stored form."""
    stored: list[NotebookNode] = []
    for output in outputs:
        kind = output.output_type
        if kind == "stream":
            if stored and stored[-1].output_type == "stream" and stored[-1].name == output.name:
                stored[-1].text += output.text
                continue
        elif kind == "error":
            output.traceback = [f"{output.ename}: {output.evalue}"]
        else:
            output.data.pop(WIDGET_VIEW, None)
            output.metadata.pop(WIDGET_VIEW, None)
            if "image/png" in output.data:
                png = base64.b64decode(output.data["image/png"])
                output.data["image/png"] = base64.b64encode(bare_png(png)).decode()
            if kind == "execute_result":
                output.execution_count = count
        output.pop("transient", None)
        stored.append(output)
    return stored


def cell_ids(cells: list[NotebookNode], name: str) -> list[str]:
    """Ids that a change elsewhere in the notebook leaves alone: number, section, place in the section."""
    number = id_prefix(name)
    section, place, ids = "top", 0, []
    for cell in cells:
        heading = re.match(r"## +(.+)", cell.source) if cell.cell_type == "markdown" else None
        if heading:
            section, place = re.sub(r"[^a-z0-9]+", "-", heading.group(1).lower()).strip("-")[:40], 0
        place += 1
        ids.append(f"{number}-{section or 'part'}-{place:02d}")
    twice = {one for one in ids if ids.count(one) > 1}  # two sections of one name
    return [f"{one}-{i}" if one in twice else one for i, one in enumerate(ids)]


def normalise(notebook: NotebookNode, name: str) -> None:
    """Bring an executed notebook into the stored form, in place."""
    count = 0
    for cell, cell_id in zip(notebook.cells, cell_ids(notebook.cells, name), strict=True):
        cell.id = cell_id
        cell.metadata = NotebookNode({key: cell.metadata[key] for key in KEPT if cell.metadata.get(key)})
        cell.source = cell.source.rstrip("\n")
        if cell.cell_type == "code":
            count += bool(cell.source.strip())
            cell.execution_count = count if cell.source.strip() else None
            cell.outputs = normalise_outputs(cell.outputs, cell.execution_count)
    notebook.metadata = NotebookNode(copy.deepcopy(NOTEBOOK_METADATA))
    notebook.nbformat, notebook.nbformat_minor = 4, 5


def write_setup_cell(notebook: NotebookNode) -> None:
    """Bring the set-up cell up to date; an unrelated first cell is left for the contract test to name."""
    first = next((cell for cell in notebook.cells if cell.cell_type == "code"), None)
    if first is not None and is_setup_cell(first.source):
        first.source = setup_cell(repository_of(first.source))


def as_text(notebook: NotebookNode) -> str:
    """The bytes of the file: indent 1, sorted keys, one newline at the end."""
    return nbformat.writes(notebook, version=4).rstrip("\n") + "\n"


def refreshed(path: Path) -> NotebookNode:
    """The notebook at `path`, executed and in its stored form. The file is not touched."""
    notebook = nbformat.read(path, as_version=4)
    write_setup_cell(notebook)
    execute(notebook, path.parent)
    normalise(notebook, path.stem)
    nbformat.validate(notebook)
    return notebook


def without_pixels(text: str) -> str:
    """What `--check` compares: the notebook with every picture replaced by a mark."""
    return re.sub(r'"image/png": "[^"]*"', '"image/png": "…"', text)


# --- the command ----------------------------------------------------------------------------------------


def refresh(path: Path, check: bool) -> str | None:
    """Refresh one file and print a line on it. Returns what is wrong, or None."""
    try:
        old = path.read_bytes().decode("utf-8")
        notebook = refreshed(path)
    except CellExecutionError as error:
        return f"a cell raised {error.ename}: {error.evalue}\n{error.traceback}"
    except (CellTimeoutError, DeadKernelError) as error:
        return f"{type(error).__name__}: {error}"
    except (nbformat.reader.NotJSONError, UnicodeDecodeError):
        return "this is no notebook"
    new = as_text(notebook)
    changed = without_pixels(new) != without_pixels(old) if check else new != old
    if changed and not check:
        half = path.with_suffix(".half-written")
        half.write_bytes(new.encode("utf-8"))
        half.replace(path)  # whoever reads the notebook meanwhile sees the old or the new one, whole
    size = len(new.encode("utf-8"))
    state = ("would change" if check else "written") if changed else "unchanged"
    print(f"{path.name}: {state}, {size / 1000:.0f} kB", flush=True)
    if size > LARGEST:
        return f"{size / 1000:.0f} kB, and the limit is {LARGEST // 1000} kB: draw smaller or fewer pictures"
    return "would change: run tools/refresh_notebooks.py" if changed and check else None


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("notebooks", nargs="*", type=Path, help="files (default: all but page 11)")
    parser.add_argument("--check", action="store_true", help="write nothing; fail if one would change")
    options = parser.parse_args(arguments)
    paths = options.notebooks or course_notebooks(real_model=False)  # page 11 needs its own Python
    if not paths:
        print(f"There is no notebook in {ROOT / 'notebooks'}.", file=sys.stderr)
        return 1
    faults = 0
    for path in paths:
        if path.is_file():
            fault = refresh(path.resolve(), options.check)
        else:
            fault = "this is a folder" if path.is_dir() else "there is no such file"
        if fault:
            faults += 1
            print(f"{path.name}: {fault}", file=sys.stderr, flush=True)
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())

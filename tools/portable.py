"""Make one-file copies of the pages: each carries the helpers, packed, in its first code cell.

    python -m tools.portable                                    # all pages, into dist/portable
    python -m tools.portable notebooks/03_qk_scores.ipynb --out /some/folder

A copy needs what Colab has: torch, matplotlib, seaborn, ipywidgets. Hand it out by mail or a learning
platform. The same course gives the same bytes, whatever was saved in a page. The package goes in without
comments, docstrings, the folders of other pages and models that it does not load.
"""

import argparse
import ast
import base64
import bz2
import functools
import json
import re
from pathlib import Path

import nbformat

from tools.notebook import ROOT, name_of
from tools.shipped import own_pages, shipped

CARRIER = '''\
# @title Set-up: run this cell first (Shift + Enter)
# This notebook is one file: the long text below is the helper modules of the course, packed.
# It is unpacked into a temporary folder; nothing is installed.
import base64, bz2, json, sys, tempfile, torch
from pathlib import Path

CARRIED = """
{text}
"""
folder = tempfile.TemporaryDirectory(prefix="mha_helpers_", ignore_cleanup_errors=True)
for name, content in json.loads(bz2.decompress(base64.b85decode(CARRIED.replace("\\n", "")))).items():
    path = Path(folder.name, name)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(base64.b85decode(content) if name.endswith(".pt") else content.encode("utf-8"))
sys.path.insert(0, folder.name)
import mha_helpers

mha_helpers.unpacked = folder  # the folder stays as long as the kernel
torch.set_printoptions(precision=3, sci_mode=False)
print("✓ ready")'''
FOLDER = re.compile(r"mha_course\.(models|[pd]\d\d_\w+)")
LINK = re.compile(r"(?<!!)\[([^\[\]]*)\]\((?!https?://|#|mailto:)[^)\s]*\)")
# Modules that are loaded late, when somebody asks for one of these names.
LATE = {"mha_helpers/probing.py": "probe|moves|d09_other_libraries"}
LATE |= {"mha_helpers/weights_view.py": "attention_view"}


@functools.cache
def bare(source):
    """Return a module without comments and docstrings: half the size, the same behaviour."""
    tree = ast.parse(source)
    for node in ast.walk(tree):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef) and ast.get_docstring(node):
            node.body = node.body[1:] or [ast.Pass()]
    return ast.unparse(tree)


def folders_of(code):
    """Return the folders of ``mha_course`` that code names, and those that their own code names in turn."""
    folders = set()
    while new := set(FOLDER.findall(code)) - folders:
        folders |= new
        files = [path for folder in new for path in sorted((ROOT / "mha_course" / folder).glob("*.py"))]
        code = "\n".join(bare(path.read_text(encoding="utf-8")) for path in files)
    return folders


def carried_files(code):
    """Return the files that a page with this code needs: name -> text, that of a model in base 85."""
    files, folders = {}, folders_of(code)
    for path in sorted(ROOT.glob("mha_*/**/*")):
        name = path.relative_to(ROOT).as_posix()
        folder = FOLDER.match(name.replace("/", "."))
        needed = folder[1] in folders if folder else re.search(LATE.get(name, ""), code)
        if path.suffix in (".py", ".css", ".js", ".json") and needed:
            text = path.read_text(encoding="utf-8")
            files[name] = bare(text) if path.suffix == ".py" else text
        elif path.suffix == ".pt" and "trained_model" in code:
            files[name] = base64.b85encode(path.read_bytes()).decode("ascii")
    return files


def portable(path):
    page = shipped(path)
    files = carried_files("\n".join(cell.source for cell in page.cells if cell.cell_type == "code"))
    packed = bz2.compress(json.dumps(files, ensure_ascii=False).encode("utf-8"))
    text = re.sub(".{2000}", r"\g<0>\n", base64.b85encode(packed).decode("ascii"))
    page.cells[1].source = CARRIER.format(text=text)
    for cell in page.cells:
        if cell.cell_type == "markdown":  # of a link to a page that is not there, only the words
            cell.source = LINK.sub(r"\1", cell.source)
    nbformat.validate(page)
    return json.dumps(page, ensure_ascii=False, sort_keys=True, separators=(",", ":")) + "\n"


def main(arguments=None):
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("pages", nargs="*", type=Path, help="files (default: all pages)")
    parser.add_argument("--out", type=Path, default=ROOT / "dist" / "portable", help="where the copies go")
    options = parser.parse_args(arguments)
    options.out.mkdir(parents=True, exist_ok=True)
    for path in options.pages or own_pages():
        text = portable(path)
        name = f"{name_of(path)}.ipynb"
        (options.out / name).write_text(text, encoding="utf-8", newline="\n")
        added = len(text.encode("utf-8")) - path.stat().st_size
        print(f"{name}: {added / 1000:.0f} kB more than the page")


if __name__ == "__main__":
    main()

"""The course as it is handed out: its own pages, without what a learner has saved in them or put beside them.

For what is made of all pages: `play.py`, `teach.py`, `portable.py`.
"""

import copy
import functools
import re

import nbformat

from tools.notebook import ROOT, all_pages, as_text, exercises_in, id_prefix, normalise
from tools.refresh import renewed


def own_pages():
    """Return the pages that README lists; say in one line which other notebooks lie beside them."""
    listed = re.findall(r"\]\((notebooks/[\w./]+\.ipynb)", (ROOT / "README.md").read_text(encoding="utf-8"))
    names = {path: path.relative_to(ROOT).as_posix() for path in all_pages()}
    others = [name for name in names.values() if name not in listed]
    if others:
        print(f"Left out, because they are no pages of the course: {', '.join(others)}", flush=True)
    return [path for path, name in names.items() if name in listed]


def shipped(path):
    """Return the page at ``path``, with open exercises and with all outputs."""
    return nbformat.reads(_shipped_text(path, path.read_text(encoding="utf-8")), as_version=4)


@functools.cache
def _shipped_text(path, saved):
    page = nbformat.reads(saved, as_version=4)
    stored, sources = copy.deepcopy(page), {cell.source for cell in page.cells}
    normalise(stored, path)
    # As `refresh.py` writes it: exercises open, each cell run once, in order.
    if stored == page and all(sources.issuperset(cells) for _, cells in exercises_in(page)):
        return as_text(page)
    print(f"{path.name}: its exercises begin anew, and it is run", flush=True)
    if page.cells[0].id.startswith(id_prefix(path)):  # a cell of a learner's own has another kind of id
        page.cells = [cell for cell in page.cells if cell.id.startswith(id_prefix(path))]
    return renewed(page, path)

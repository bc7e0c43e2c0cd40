"""Make what a teacher prints and shows, and pages to read without a kernel.

    python tools/teach.py teach     dist/teach: the teacher edition, the handout, the paper and its key
    python tools/teach.py html      dist/html: every page as it is stored, and an index

The teacher edition is made from the pages and their exercises and run here: in place of each stub is the
solution, in place of its help the hints and the wrong answers that the check names; answers stand open. The
tool fails where a check does not say "correct". Handout, paper and key are written in ``teaching/``.
"""

import argparse
import base64
import html
import importlib
import re
import shutil
import sys

import nbformat
from nbconvert import HTMLExporter
from nbconvert.filters import markdown2html
from refresh import ROOT, all_pages, as_text, can_run, execute, normalise

sys.path.insert(0, str(ROOT))

from mha_helpers.exercises import exercises_of
from mha_helpers.pictures import summary_picture

DIST, SOURCE = ROOT / "dist", ROOT / "teaching"
# A page calls them `exercises`, session.ipynb has several: `exercises_03` …
MODULE = re.compile(r"^from mha_helpers\.exercises import (\w+) as (exercises\w*)$", re.MULTILINE)
FOLDED = re.compile(r"<details>\s*<summary>.*?</summary>\s*(.*?)\s*</details>", re.DOTALL)
# A solution may use what its page has not imported.
IMPORTS = (
    "import math\n\nfrom torch import nn\nfrom torch.nn import functional as F\n\nfrom mha_helpers import *"
)
# Code on white and links underlined: nbconvert's own colours are too pale for some readers.
READABLE = (
    "<style>.jp-InputArea-editor, .highlight { background: #fff !important }"
    " .jp-RenderedHTMLCommon a { text-decoration: underline !important }</style>"
)
PRINTED = """<!doctype html><html lang="en"><meta charset="utf-8"><title>{title}</title><style>
@page {{ size: A4; margin: 11mm }} .anchor-link {{ display: none }}
body {{ font: 9.5pt/1.25 sans-serif; max-width: 188mm; margin: 0 auto; color: #000 }}
h1 {{ font-size: 14pt; margin: 0 0 1mm }} h2 {{ font-size: 11pt; margin: 2.5mm 0 0 }} p {{ margin: 1mm 0 }}
table {{ border-collapse: collapse; width: 100% }} img {{ width: 92% }} ul {{ margin: 1mm 0 3mm }}
th, td {{ border-bottom: 0.3mm solid #999; padding: 0.4mm 2mm 0.4mm 0; text-align: left }}
</style>{body}</html>
"""


def name_of(path):
    """Return the name of a page in a folder that holds all of them."""
    return path.stem if path.parent.name != "deeper" else f"deeper_{path.stem}"


def with_links(markdown, path, form):
    """Return Markdown of the page at ``path``, its links to other pages led to files named by ``form``."""

    def link(found):
        return "](" + form.format(name_of((path.parent / found[1]).resolve()))

    return re.sub(r"\]\(([\w./]+\.ipynb)", link, markdown)


def quoted(text):
    """Return Markdown as one block quote, so that a note cannot be taken for the page."""
    return "\n".join(f"> {line}".rstrip() for line in text.splitlines())


def note_on(exercise):
    """Return what a teacher wants to know of an exercise: its hints, and what the check says of mistakes."""
    lines = [f"**For the teacher.** Exercise {exercise.number}. Hints, one by one:", ""]
    lines += [f"{i}. {hint}" for i, hint in enumerate(exercise.hints, start=1)]
    lines += ["", "What the check says of the usual mistakes:", ""]
    lines += [f"- {sentence}" for sentence in dict.fromkeys(mistake[1] for mistake in exercise.mistakes)]
    return quoted("\n".join(lines))


def with_solutions(page):
    """Return the page with its exercises solved and its answers open, not yet run."""
    cells, replaced = [], {}
    for cell in page.cells:
        found = MODULE.findall(cell.source) if cell.cell_type == "code" else []
        for module, alias in found:
            exercises = exercises_of(importlib.import_module(f"mha_helpers.exercises.{module}"))
            for name, exercise in exercises.items():
                stub, help_cell = (
                    text.replace("exercises.", f"{alias}.")
                    for text in (exercise.cell(name), exercise.help_cell(name))
                )
                solved = f"{exercise.solution_code}\n\n\n{alias}.{name}.check({exercise.variable})"
                replaced[stub] = nbformat.v4.new_code_cell(solved)
                replaced[help_cell] = nbformat.v4.new_markdown_cell(note_on(exercise))
        if found:
            cell.source += f"\n\n{IMPORTS}"
        if cell.cell_type == "markdown":
            cell.source = FOLDED.sub(lambda one: quoted(f"**Answer.** {one.group(1)}"), cell.source)
        cells.append(replaced.get(cell.source, cell))
    page.cells = cells
    return page


def unsolved(page):
    """Return what the checks of an executed edition say where it is not "correct"."""
    said = "".join(output.get("text", "") for cell in page.cells for output in cell.get("outputs", []))
    return [
        line for line in re.findall(r"^Exercise \d+\.\d+: .*", said, re.MULTILINE) if ": correct." not in line
    ]


def teacher_edition(folder):
    """Write TEACHER_….ipynb for every page that can run here; return the checks that are not passed."""
    faults = []
    for path in filter(can_run, all_pages()):
        page = with_solutions(nbformat.read(path, as_version=4))
        execute(page, path.parent)
        faults += unsolved(page)
        normalise(page, path.stem)
        for cell in page.cells:
            if cell.cell_type == "markdown":
                cell.source = with_links(cell.source, path, "TEACHER_{}.ipynb")
        name = f"TEACHER_{name_of(path)}.ipynb"
        (folder / name).write_text(as_text(page), encoding="utf-8")
        print(name, flush=True)
    return faults


def printed(name, picture=""):
    """Return teaching/NAME.md as a page to print."""
    text = (SOURCE / f"{name}.md").read_text(encoding="utf-8")
    title = text.splitlines()[0].lstrip("# ")
    return PRINTED.format(title=html.escape(title), body=markdown2html(text).replace("{picture}", picture))


def teach():
    folder = fresh(DIST / "teach")
    png = base64.b64encode(summary_picture().png()).decode("ascii")
    picture = f'<img alt="{html.escape(repr(summary_picture()))}" src="data:image/png;base64,{png}">'
    for name in ("handout", "paper", "key"):
        (folder / f"{name}.html").write_text(printed(name, picture), encoding="utf-8")
    return teacher_edition(folder)


def read_only():
    """Write every page as HTML, and an index."""
    folder = fresh(DIST / "html")
    exporter = HTMLExporter(exclude_input_prompt=True, exclude_output_prompt=True)
    rows = []
    for path in all_pages():
        name, page = name_of(path), nbformat.read(path, as_version=4)
        for cell in page.cells:
            if cell.cell_type == "markdown":
                cell.source = with_links(cell.source, path, "{}.html")
        text, _ = exporter.from_notebook_node(page, resources={"metadata": {"name": name}})
        (folder / f"{name}.html").write_text(text.replace("</head>", f"{READABLE}</head>"), encoding="utf-8")
        question = page.cells[0].source.splitlines()[0].lstrip("# ")
        rows.append(f'<li><a href="{name}.html">{name.replace("_", " ")}</a>: {html.escape(question)}</li>')
    body = f"<h1>Multi-head attention, step by step</h1><ul>{''.join(rows)}</ul>"
    index = PRINTED.format(title="Multi-head attention, step by step", body=body)
    (folder / "index.html").write_text(index, encoding="utf-8")
    print(folder / "index.html")
    return []


def fresh(folder):
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    return folder


def main(arguments=None):
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("what", choices=("teach", "html"))
    options = parser.parse_args(arguments)
    faults = {"teach": teach, "html": read_only}[options.what]()
    return "Not solved:\n" + "\n".join(faults) if faults else 0


if __name__ == "__main__":
    sys.exit(main())

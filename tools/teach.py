"""Make what a teacher prints and shows: the teacher edition, the handout, the paper and its key.

    python -m tools.teach           # into dist/teach

The teacher edition is made from the pages and their exercises and run here: in place of each stub is the
solution, in place of its help the hints and the wrong answers that the check names; answers stand open. The
tool fails where a check does not say "correct". Handout, paper and key are written in ``teaching/``; what to
say at the headings of a page stands there in a file of the page's name.
"""

import argparse
import html
import re
import shutil
import sys

import nbformat
from nbconvert.filters import markdown2html

from mha_course.p09_concat_and_output import machine_explorer
from mha_helpers.svg_marks import STYLE
from tools.notebook import EXERCISES, ROOT, exercises_in, lead_links, name_of, remade
from tools.shipped import own_pages, shipped

FOLDER, SOURCE = ROOT / "dist" / "teach", ROOT / "teaching"
TIMED = re.compile(r"^#+ (.*?) · \d+ min\b", re.MULTILINE)  # the headings to which there is something to say
FOLDED = re.compile(r"<details>\s*<summary>.*?</summary>\s*(.*?)\s*</details>", re.DOTALL)
# A solution may use what its page has not imported.
IMPORTS = (
    "import math\n\nfrom torch import nn\nfrom torch.nn import functional as F\n\nfrom mha_helpers import *"
)
PRINTED = """<!doctype html><html lang="en"><meta charset="utf-8"><title>{title}</title><style>
@page {{ size: A4; margin: 11mm }} .anchor-link {{ display: none }}
body {{ font: 9.5pt/1.25 sans-serif; max-width: 188mm; margin: 0 auto; color: #000 }}
h1 {{ font-size: 14pt; margin: 0 0 1mm }} h2 {{ font-size: 11pt; margin: 2.5mm 0 0 }} p {{ margin: 1mm 0 }}
table {{ border-collapse: collapse; width: 100% }} svg {{ pointer-events: none }} ul {{ margin: 1mm 0 3mm }}
th, td {{ border-bottom: 0.3mm solid #999; padding: 0.4mm 2mm 0.4mm 0; text-align: left }}
{style}</style>{body}</html>
"""


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


def spoken_notes(path):
    """Return a dict from headings of the page at ``path`` to what a teacher says there."""
    file = SOURCE / f"{path.stem}.md"
    text = file.read_text(encoding="utf-8") if file.exists() else ""
    sections = re.split(r"^## ", text, flags=re.MULTILINE)[1:]
    return {heading: note.strip() for heading, _, note in (section.partition("\n") for section in sections)}


def solve(page):
    """Give a page the solutions of its exercises, and open its answers; it is not run yet."""
    replaced = {}
    for exercise, (_, stub, help_cell) in exercises_in(page):
        check = stub.splitlines()[-1]
        replaced[stub] = nbformat.v4.new_code_cell(f"{exercise.solution_code}\n\n\n{check}")
        replaced[help_cell] = nbformat.v4.new_markdown_cell(note_on(exercise))
    for cell in page.cells:
        if EXERCISES.search(cell.source):
            cell.source += f"\n\n{IMPORTS}"
        elif cell.cell_type == "markdown":
            cell.source = FOLDED.sub(lambda answer: quoted(f"**Answer.** {answer.group(1)}"), cell.source)
    page.cells = [replaced.get(cell.source, cell) for cell in page.cells]


def teacher_edition(path):
    """Write TEACHER_….ipynb of the page at ``path``; return what its checks say where it is not "correct"."""
    page, notes, cells = shipped(path), spoken_notes(path), []
    solve(page)
    for cell in page.cells:
        said = [notes[heading] for heading in TIMED.findall(cell.source) if heading in notes]
        cells += [cell, *(nbformat.v4.new_markdown_cell(quoted(f"**Say.** {note}")) for note in said)]
    page.cells = cells
    lead_links(page, path, "TEACHER_{}.ipynb")
    name = f"TEACHER_{name_of(path)}.ipynb"
    (FOLDER / name).write_text(remade(page, path), encoding="utf-8")
    print(name, flush=True)
    return unsolved(page)


def unsolved(page):
    printed = "".join(output.get("text", "") for cell in page.cells for output in cell.get("outputs", []))
    return re.findall(r"^Exercise D?\d+\.\d+: (?!correct\.).*", printed, re.MULTILINE)


def main(arguments=None):
    argparse.ArgumentParser(description=__doc__.splitlines()[0]).parse_args(arguments)
    shutil.rmtree(FOLDER, ignore_errors=True)
    FOLDER.mkdir(parents=True)
    machine = machine_explorer()
    arithmetic = machine.description().splitlines()[1]
    picture = f"{machine.svg()}<br>Framed: {html.escape(arithmetic)}"
    for name in ("handout", "paper", "key"):
        text = (SOURCE / f"{name}.md").read_text(encoding="utf-8")
        title, body = text.splitlines()[0].lstrip("# "), markdown2html(text).replace("{picture}", picture)
        page = PRINTED.format(title=html.escape(title), style=STYLE, body=body)
        (FOLDER / f"{name}.html").write_text(page, encoding="utf-8")
    faults = [fault for path in own_pages() for fault in teacher_edition(path)]
    return "Not solved:\n" + "\n".join(faults) if faults else 0


if __name__ == "__main__":
    sys.exit(main())

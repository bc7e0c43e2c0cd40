"""Make dist/html: the pages of the course as web pages whose Panels move without a kernel.

    python -m tools.play                          # what `python3 course.py html` runs
    python -m tools.play notebooks/03_qk_scores.ipynb

A page opens from a file, without a network: its Panels carry their states (``tools/states.py``), which
``play.js`` shows, and its formulas are MathML. Code is there to be read; what needs a kernel is folded.
"""

import argparse
import ast
import functools
import html
import multiprocessing
import os
import re
import shutil
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

import ipywidgets as widgets
import torch
from latex2mathml.converter import convert as mathml
from nbconvert.filters.markdown_mistune import IPythonRenderer, MarkdownWithMath
from pygments import highlight
from pygments.formatters import HtmlFormatter
from pygments.lexers import PythonLexer

import mha_helpers
from mha_course.p00_start_here.exercises import fish_gets
from mha_course.p00_start_here.explorer import AttentionExplorer, attention_explorer
from mha_course.p05_causal_mask.explorer import MaskExplorer
from mha_helpers.svg_marks import STYLE
from tools.computed import drawn_so, heads_in_numbers
from tools.notebook import ROOT, exercise_cells, is_setup_cell, lead_links, name_of
from tools.packed import deflated, packed
from tools.played_exercise import OPENING as EXERCISE_OPENING
from tools.played_exercise import exercise_html
from tools.set_repository import BADGES
from tools.shipped import own_pages, shipped
from tools.states import States, options_of

TITLE = "Multi-head attention, step by step"
# The routes through the course: title, what it is, and the names of its pages.
ROUTES = (
    ("Twenty minutes", "One whole attention, computed by hand.", r"00"),
    ("One sitting", "From three words to the class, in 75 minutes.", r"(?!deeper)\D"),
    ("The course", "Every step, built so that you could have invented it.", r"0[1-9]"),
    ("After it", "What heads learn, and where printed code went wrong.", r"[1-9]"),
    ("Deeper", "For those who want more.", r"deeper"),
)
OPENING = f"""<h1>{TITLE}</h1><p>You follow three words, “cat eats fish”, through every step of multi-head \
attention. Each picture can be moved and pointed at, and nothing has to be installed. Here is one, with four \
heads made by hand: type a sentence of your own, and click a cell.</p>"""
CHOSEN = "Click or tap a cell to choose it, or choose it under “more”."
CLICKED = "Click or tap a cell to choose it. In JupyterLab several clicks also add up."
ANSWERED = "Click or tap a cell: where that shows something else, the pointer is a hand."
NOT_HERE = "In JupyterLab you can also change {}."
APART = "Not every combination is kept here, so a control may offer less while others are changed."
# What the browser computes: a kind of picture, and how many heads and words it holds.
COMPUTED = {AttentionExplorer: ("sentence", 16, 64), MaskExplorer: ("mask", 4, 24)}
SENTENCE = 'data-picture="(sentence|mask)"'
# The scripts of a page that has this.
SCRIPTS = {"play.js": ""} | dict.fromkeys(("sentence.js", "heatmaps.js", "sentence_explorer.js"), SENTENCE)
SCRIPTS |= {"mask_explorer.js": 'data-picture="mask"', "played_exercise.js": 'class="judged"'}
WAY = '<div class="way" role="group" aria-label="the way here"></div>'
# Each process begins anew, because torch does not like to be copied while it runs.
POOL = functools.partial(ProcessPoolExecutor, mp_context=multiprocessing.get_context("spawn"))
SAY_YOURS = "Open the output of this cell once you have given yours"
HEAD = """<!doctype html>
<html lang="en"><head><meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{title}</title><link rel="icon" href="data:,">
<style>{style}</style></head><body>
"""
NOTE = """<nav><a href="index.html">All pages</a></nav>
<p class="note">{}To run the code, and to have your exercises checked, open the same page in JupyterLab.</p>
"""
MOVES = """Here you can point at the pictures, move their sliders and read the code. The address of the page
names the settings you chose last, so a link to it shows the same picture. """
NO_SCRIPT = """<noscript><p><b>Scripts are switched off in this browser, so the pictures do not
move.</b></p></noscript>"""


class Renderer(IPythonRenderer):
    """Markdown as a notebook shows it, but with its formulas as MathML."""

    def inline_math(self, body, display="inline"):
        # Headings are read as XML and written again: there the name of the namespace would become a prefix.
        return re.sub(' xmlns="[^"]*"', "", mathml(body.strip(), display=display))

    def block_math(self, body):
        return self.inline_math(body, "block")


def markdown_html(text):
    written = MarkdownWithMath(Renderer(escape=False)).render(text)
    return re.sub(r"<table>.*?</table>", r'<div class="scroll">\g<0></div>', written, flags=re.DOTALL)


def folded(summary, content):
    return f"<details><summary>{summary}</summary>{content}</details>"


def panel_of(source):
    """Return the Panel that a cell shows: such a cell needs nothing that stands above it but the imports."""
    *before, last = ast.parse(source).body
    namespace = {name: getattr(mha_helpers, name) for name in mha_helpers.__all__}
    namespace |= {"torch": torch, "nn": torch.nn}
    exec(compile(ast.Module(before, []), "a cell", "exec"), namespace)
    return eval(ast.unparse(last), namespace)


def rehearsed(make):
    """Return a new Panel; one that would have to train first has done so."""
    panel = make()
    getattr(panel.explorer, "rehearse", lambda panel: None)(panel)
    return panel


def control_html(control, options, start):
    """Return a control of the browser itself, switched off until its states are there."""
    label = html.escape(control.description)
    names = [html.escape(str(name)) for name, _ in options]
    common = f'disabled data-name="{label}" data-control="{"|".join(names)}"'
    if isinstance(control, widgets.Checkbox):
        return f'<label><input type="checkbox" {common}{" checked" * start}> {label}</label>'
    if isinstance(control, widgets.Text) and not options:
        value = html.escape(control.value)
        return f'<label class="typed">{label} <input type="text" {common} value="{value}"></label>'
    if isinstance(control, (widgets.Dropdown, widgets.Combobox)):
        numbered = [(f"{i}{' selected' * (i == start)}", name) for i, name in enumerate(names)]
        choices = "".join(f"<option value={i}>{name}</option>" for i, name in numbered)
        return f"<label>{label} <select {common}>{choices}</select></label>"
    return (
        f'<label>{label} <input type="range" min="0" max="{len(names) - 1}" value="{start}" {common}'
        f' aria-valuetext="{names[start]}"><output>{names[start]}</output></label>'
    )


def panel_html(make):
    """Return the Panel that ``make()`` returns as one that plays."""
    make = functools.partial(rehearsed, make)
    panel = make()
    if computed := COMPUTED.get(type(panel.explorer)):
        return computed_html(panel, *computed)
    controls, states = panel.controls.items(), States(make)
    missing = [f"“{control.description}”" for name, control in controls if name not in states.controls]
    is_few = states.plays or any(map(states.is_thinned, states.controls))
    notes = [NOT_HERE.format(", ".join(missing))] * bool(missing) + [APART] * bool(is_few)
    notes += [ANSWERED] * bool(states.clicks) + [CLICKED] * any(" " in name for name in states.shown)
    return figure_html(panel, states.controls, states.start, notes, packed(states), "kept")


def figure_html(panel, controls, start, notes, carried, kind):
    """Return a Panel with these controls, a name -> options; what the browser needs is ``carried``."""
    seen, more = "", ""
    for (name, options), first in zip(controls.items(), start, strict=True):
        written = control_html(panel.controls[name], options, first)
        seen, more = (seen, more + written) if name in panel.more else (seen + written, more)
    seen += '<button type="button" class="reset" disabled>reset</button>' * bool(controls)
    written = f'<div class="controls">{seen}</div>'
    written += folded("more", f'<div class="controls">{more}</div>') if more else ""
    title = repr(panel).splitlines()[0].removeprefix("Panel: ")
    return (
        f'<figure class="play" data-picture="{kind}"><figcaption>{html.escape(title)}</figcaption>{written}'
        f'<div class="scroll picture">{panel.svg()}</div>{WAY * ("trail" in panel.state())}'
        f'<p role="status">{html.escape(panel.description()).replace(chr(10), "<br>")}</p>'
        f'<p class="note">{" ".join(notes)}</p>'
        f'<script type="text/plain">{carried}</script></figure>'
    )


def computed_html(panel, kind, num_heads, num_words):
    """Return an explorer of a sentence as one that the browser computes, with the numbers that it needs."""
    options, start = {name: options_of(control) for name, control in panel.controls.items()}, []
    for name, control in panel.controls.items():
        values = [value for _, value in options[name]]
        start.append(values.index(control.value) if values else control.value)
    given = {"start": start[1:]} | heads_in_numbers(num_heads, num_words)
    given |= drawn_so(panel.explorer.height, num_heads)
    return figure_html(panel, options, start, [CHOSEN], deflated(given), kind)


def shows_panel(cell):
    texts = [output.get("data", {}).get("text/plain", "") for output in cell.get("outputs", [])]
    return "".join(texts).startswith("Panel: ")


def all_played(paths):
    """Return a dict from each cell that shows a Panel to the HTML of one that plays, made on all cores."""
    pages = [shipped(path) for path in reversed(paths)]  # page 11's takes longest: it begins among the first
    sources = dict.fromkeys(cell.source for page in pages for cell in page.cells if shows_panel(cell))
    os.environ.setdefault("OMP_NUM_THREADS", "1")  # each process has a core, and one thread on it
    print(f"Pictures to be made: {len(sources)}. All of them take one core three minutes.", flush=True)
    with POOL() as pool:
        made = pool.map(panel_html, [functools.partial(panel_of, source) for source in sources])
        return dict(zip(sources, made, strict=True))


def output_html(output):
    data = output.get("data", {})
    if "image/png" in data:
        about = output.metadata.get("image/png", {})
        alt = html.escape(about.get("alt") or data.get("text/plain", ""))
        width = f' width="{about["width"]}"' if "width" in about else ""
        return f'<img alt="{alt}"{width} src="data:image/png;base64,{data["image/png"].strip()}">'
    if "text/html" in data:
        return data["text/html"]
    text = "{ename}: {evalue}".format(**output) if output.output_type == "error" else output.get("text")
    return f"<pre>{html.escape(text or data.get('text/plain', ''))}</pre>"


def cell_html(cell, panels):
    """Return a cell; ``panels`` has what ``all_played`` made of those that show a Panel."""
    if cell.cell_type == "markdown":
        return markdown_html(for_all(cell.source))
    if cell.source == exercise_cells(fish_gets, "fish_gets")[1]:
        return exercise_html()
    code = highlight(cell.source, PythonLexer(), HtmlFormatter(cssclass="scroll code"))
    if is_setup_cell(cell.source):
        return folded("The cell that sets this page up in JupyterLab", code)
    if all(line.startswith("#") for line in cell.source.splitlines()):
        return folded("Hints, in JupyterLab", code)
    outputs = "".join(f'<div class="scroll output">{output_html(output)}</div>' for output in cell.outputs)
    is_answer = "answer" in cell.metadata.get("tags", [])
    if not shows_panel(cell):
        return code + (folded(SAY_YOURS, outputs) if is_answer else outputs)
    panel = panels[cell.source]
    return folded("The code of this picture", code) + (folded(SAY_YOURS, panel) if is_answer else panel)


def for_all(text):
    """Return what a page says, but for what it says to somebody who has a kernel."""
    for said, instead in said_otherwise():
        text = re.sub(r"\s".join(map(re.escape, said.split())), instead.replace("\\", r"\\"), text)
    return text


def said_otherwise():
    return [re.split(" =>(?: |$)", line) for line in text_of("said_otherwise.txt").splitlines()]


def scripts(body):
    needed = [name for name, has in SCRIPTS.items() if re.search(has, body)]
    return "".join(f"<script>{text_of(name)}</script>" for name in needed)


def page_html(path, panels):
    page = shipped(path)
    page.cells[0].source = BADGES.sub("", page.cells[0].source)
    lead_links(page, path, "{}.html")
    body = "\n".join(cell_html(cell, panels) for cell in page.cells)
    note = NOTE.format(MOVES) + NO_SCRIPT if '<figure class="play' in body else NOTE.format("")
    return f"{head(question(path))}{note}<main>\n{body}\n</main>\n{scripts(body)}\n</body>\n</html>\n"


def text_of(name):
    return Path(__file__).with_name(name).read_text(encoding="utf-8")


def head(title):
    light, dark = (HtmlFormatter(style=name).get_style_defs(".code") for name in ("default", "github-dark"))
    dark = f"@media screen and (prefers-color-scheme: dark) {{ {dark} }}"
    style = f"{light}\n{dark}\n{text_of('play.css')}{STYLE}"
    return HEAD.format(title=html.escape(title), style=style)


def question(path):
    """Return what a page asks: its title, without the minutes that the sitting's has."""
    return shipped(path).cells[0].source.splitlines()[0].lstrip("# ").split(" · ")[0]


def index_html(paths):
    """Return what opens the course: a picture, an exercise, and all pages by the routes through them."""
    body = f"{OPENING}{panel_html(attention_explorer)}{exercise_html(EXERCISE_OPENING)}"
    for title, sentence, names in ROUTES:
        body += f"<h2>{title}</h2><p>{sentence}</p><ul>"
        for path in paths:
            if re.match(names, name_of(path)):
                link = f'<a href="{name_of(path)}.html">{html.escape(question(path))}</a>'
                body += f"<li>{path.stem[:2] * path.stem[0].isdigit()} {link}</li>"
        body += "</ul>"
    return f"{head(TITLE)}<main>{body}</main>{scripts(body)}</body></html>\n"


def main(arguments=None):
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("pages", type=Path, nargs="*", help="notebooks; without any: all, made anew")
    parser.add_argument("--out", type=Path, default=ROOT / "dist" / "html", help="where the pages go")
    options = parser.parse_args(arguments)
    chosen, folder = [path.resolve() for path in options.pages], options.out
    if not chosen:
        shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True, exist_ok=True)
    every = own_pages()
    panels = all_played(chosen or every)
    for path in chosen or every:
        text = page_html(path, panels)
        (folder / f"{name_of(path)}.html").write_text(text, encoding="utf-8")
        print(f"{name_of(path)}.html: {len(text.encode()) / 1e6:.2f} MB", flush=True)
    (folder / "index.html").write_text(index_html(every), encoding="utf-8")
    print(f"Open {folder / 'index.html'} in a browser.")


if __name__ == "__main__":
    main()

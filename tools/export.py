"""Make the reading copy: the whole course as pages for a browser, in dist/reading/.

    python3 course.py export
    python tools/export.py --out /some/folder

One folder, to be opened at index.html. It needs no server, no network and no script: the formulas are
MathML in a font that lies in the folder, the pictures are in the pages, and each has its words. Nothing is
run to make it, and the same course gives the same bytes.
"""

from __future__ import annotations

import argparse
import html
import re
import shutil
import sys
from pathlib import Path

from course_notebooks import course_notebooks, read_notebook, time_line, with_links_to_html
from html_page import html_page
from in_a_sentence import in_a_sentence
from jinja2 import DictLoader, pass_context
from maths import MathMLRenderer, font_for
from nbconvert import HTMLExporter
from nbconvert.filters.markdown_mistune import MarkdownWithMath
from pygments.formatters import HtmlFormatter

ROOT = Path(__file__).resolve().parent.parent
OUT = ROOT / "dist" / "reading"
COURSE = "Multi-head attention, step by step"
STYLE = Path(__file__).resolve().parent / "reading.css"
COLOURS_OF_CODE = "xcode"  # every colour of it is readable on STYLE's ground, which a test measures
STYLE_LINK = '<link rel="stylesheet" href="style.css">'
# nbconvert leaves out the text alternative that a picture's metadata holds; its own page then says "No
# description has been provided for this image" to a screen reader.
PICTURES_WITH_WORDS = """\
{%- extends 'lab/index.html.j2' -%}
{%- block data_png scoped -%}
{%- set words = output | get_metadata('alt', 'image/png') -%}
{%- if words -%}
{{ super() | replace('<img ', '<img alt="' ~ (words | escape_html) ~ '" ', 1) }}
{%- if (output.data['text/plain'] | default('')).startswith('Panel') -%}
<p aria-hidden="true" class="words">{{ words | escape_html }}</p>
{%- endif -%}
{%- else -%}
{{ super() }}
{%- endif -%}
{%- endblock -%}
"""
CELLS = """\
{%- extends 'pictures_with_words.html.j2' -%}
{%- block header -%}{%- endblock -%}
{%- block body_header -%}{%- endblock -%}
{%- block body_footer -%}{%- endblock -%}
{%- block footer -%}{%- endblock -%}
"""


class ReadingExporter(HTMLExporter):
    """The cells of a notebook as HTML, without a page around them; formulas as MathML."""

    def __init__(self, **options):
        templates = {"pictures_with_words.html.j2": PICTURES_WITH_WORDS, "cells.html.j2": CELLS}
        super().__init__(
            extra_loaders=[DictLoader(templates)],
            template_file="cells.html.j2",
            exclude_input_prompt=True,
            exclude_output_prompt=True,
            **options,
        )

    @pass_context
    def markdown2html(self, context, source):
        renderer = MathMLRenderer(escape=False, exclude_anchor_links=True)
        return MarkdownWithMath(renderer=renderer).render(source)


def page_of(name: str, notebook, before: str, after: str) -> str:
    """One notebook as a page, with links to the page before, the index and the page after."""
    cells, _ = ReadingExporter().from_notebook_node(notebook)
    cells = with_own_scroll_bars(with_links_to_html(cells))
    links = [("index.html", "All pages")]
    if before:
        links.insert(0, (f"{before}.html", f"← Page {before[:2]}"))
    if after:
        links.append((f"{after}.html", f"Page {after[:2]} →"))
    ways = "\n".join(f'<a href="{address}">{words}</a>' for address, words in links)
    body = (
        f'<nav aria-label="Pages">\n{ways}\n</nav>\n'
        f'<main>\n<p class="page">Page {name[:2]}</p>\n{cells}\n</main>\n'
        f'<nav aria-label="Pages, again">\n{ways}\n</nav>'
    )
    return html_page(f"{name[:2]} {title_of(notebook)} – {COURSE}", STYLE_LINK, body)


def with_own_scroll_bars(cells: str) -> str:
    """Tables and displayed formulas in boxes that STYLE lets scroll, as code and outputs do.

    Browsers bring such a box within reach of the Tab key when it has something to scroll.
    """
    cells = re.sub(r"<table>.*?</table>", r'<div class="wide">\g<0></div>', cells, flags=re.DOTALL)
    # A formula stands in a paragraph, in which there may be no div.
    formula = r'<math [^>]*display="block".*?</math>'
    return re.sub(formula, r'<span class="wide">\g<0></span>', cells, flags=re.DOTALL)


def title_of(notebook) -> str:
    return re.match(r"# (.+)", notebook.cells[0].source).group(1)


def index_of(notebooks: dict) -> str:
    rows = "\n".join(
        f'<tr><td>{name[:2]}</td><td><a href="{name}.html">{html.escape(title_of(notebook))}</a></td>'
        f"<td>{time_line(notebook, f'{name}.ipynb').group(1)}</td></tr>"
        for name, notebook in notebooks.items()
    )
    body = with_own_scroll_bars(f"""<main>
<h1>{COURSE}</h1>
<p>This is the course for reading: the text, the code and what it printed. Where a page has sliders you see
one picture of them. To move them, and to have your exercises checked, open the notebooks.</p>
<table>
<thead><tr><th scope="col">page</th><th scope="col">its question</th>
<th scope="col">minutes without exercises and asides</th></tr></thead>
<tbody>
{rows}
</tbody>
</table>
</main>""")
    return html_page(COURSE, STYLE_LINK, body)


def reading_copy(paths: list[Path]) -> dict[str, str]:
    """Every file of the reading copy: its name and its text."""
    notebooks = {path.stem: read_notebook(path) for path in paths}
    names = ["", *notebooks, ""]
    files = {"index.html": index_of(notebooks)}
    for place, (name, notebook) in enumerate(notebooks.items(), start=1):
        files[f"{name}.html"] = page_of(name, notebook, names[place - 1], names[place + 1])
    code = HtmlFormatter(style=COLOURS_OF_CODE).get_style_defs(".highlight")
    font = f'@font-face {{ font-family: "Course maths"; src: url("{font_for(files.values())}"); }}\n'
    files["style.css"] = f"{STYLE.read_text(encoding='utf-8')}\n{code}\n{font}"
    return files


@in_a_sentence
def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", type=Path, default=OUT, help="default: dist/reading")
    out = parser.parse_args(arguments).out
    try:
        files = reading_copy(course_notebooks(ROOT))
    except ValueError as error:
        print(error, file=sys.stderr)
        return 1
    if out == OUT:  # no page of a notebook that is gone; a folder of somebody's choice keeps what it has
        shutil.rmtree(out, ignore_errors=True)
    out.mkdir(parents=True, exist_ok=True)
    for name, text in files.items():
        (out / name).write_text(text, encoding="utf-8", newline="\n")
    print(f"{len(files) - 2} pages. Open {out / 'index.html'} in a browser.")
    return 0


if __name__ == "__main__":
    sys.exit(main())

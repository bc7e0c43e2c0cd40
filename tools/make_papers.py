"""Make the papers before and after ready to print: forms A and B as pages for a browser, in dist/papers.

    python tools/make_papers.py             # dist/papers/paper_A.html and paper_B.html

They are made from teaching/paper_A.md and paper_B.md. Printed from a browser each takes two pages A4, and no
question is torn apart.
"""

from __future__ import annotations

import argparse
import re
import sys
from pathlib import Path

from html_page import html_page
from in_a_sentence import in_a_sentence
from nbconvert.filters.markdown_mistune import markdown2html_mistune

ROOT = Path(__file__).resolve().parent.parent
PAPERS = ROOT / "dist" / "papers"
STYLE = """\
<style>
@page { size: A4; margin: 14mm 16mm; }
body { max-width: 178mm; margin: 0 auto; font: 10.5pt/1.35 sans-serif; color: black; }
@media screen { body { padding: 1rem; } }
h1 { font-size: 16pt; margin: 0 0 3mm; }
p { margin: 2.5mm 0 1mm; }
ul { margin: 0; padding-left: 5mm; list-style: "☐  "; }
section { break-inside: avoid; }
code { font: 9.5pt "DejaVu Sans Mono", monospace; }
.anchor-link { display: none; }
</style>"""


def page_of(markdown: str) -> str:
    """One paper as a page; each question is a section, which a printer keeps together."""
    title = re.match(r"# (.+)", markdown).group(1)
    head, *questions = re.split(r"^(?=\*\*\d+\.\*\* )", markdown, flags=re.MULTILINE)
    parts = [
        markdown2html_mistune(head),
        *(f"<section>\n{markdown2html_mistune(question)}\n</section>" for question in questions),
    ]
    return html_page(title, STYLE, "\n".join(parts))


@in_a_sentence
def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--to", type=Path, default=PAPERS, help="default: dist/papers")
    options = parser.parse_args(arguments)
    options.to.mkdir(parents=True, exist_ok=True)
    for form in ("A", "B"):
        name = f"paper_{form}"
        text = (ROOT / "teaching" / f"{name}.md").read_text(encoding="utf-8")
        (options.to / f"{name}.html").write_text(page_of(text), encoding="utf-8", newline="\n")
        print(f"{options.to / name}.html: open it in a browser and print it, on two pages.")
    return 0


if __name__ == "__main__":
    sys.exit(main())

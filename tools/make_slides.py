"""Make a deck of slides of every notebook: dist/slides/index.html, for a browser without a network.

    python tools/make_slides.py                 # all of them
    python tools/make_slides.py notebooks/03_qk_scores.ipynb

What is on a slide, the notebooks say themselves, with the slide types that JupyterLab's property
inspector sets: "slide" and "subslide" begin a slide, "fragment" appears at the next key press, "-"
belongs to the slide before it, "skip" and no type at all stay in the notebook. A cell after one that was
skipped goes on with the same slide, too. Nothing is run: the
slides show stored outputs, and so a picture wherever the notebook has an explorer.

No walls of code: of a cell with a picture the code is left out; of others it is shown up to
`LONGEST_CODE` lines (`LONGEST_ALONE` where a slide begins with it), without imports and without what draws a
table. The answer of *Predict* waits for a key press.

The decks run on reveal.js and KaTeX. npm fetches both, once, in the versions and with the checksums below.
"""

from __future__ import annotations

import argparse
import base64
import hashlib
import html
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
from pathlib import Path

from course_notebooks import course_notebooks, read_notebook, with_links_to_html
from in_a_sentence import in_a_sentence
from nbconvert.filters import Highlight2HTML
from nbconvert.filters.markdown_mistune import IPythonRenderer, MarkdownWithMath
from nbformat.notebooknode import NotebookNode

ROOT = Path(__file__).resolve().parent.parent
SLIDES = ROOT / "dist" / "slides"
OWN = Path(__file__).resolve().parent / "deck"
LONGEST_CODE, LONGEST_ALONE = 14, 18  # lines: below other things, and at the top of a slide
PACKAGES = {
    # name: (version, SHA-512 of the package, what of it is taken: in the package -> in the deck's folder)
    "reveal.js": (
        "5.2.1",
        "r7//6mIM5p34hFiDMvYfXgyjXqGRta+/psd9YtytsgRlrpRzFv4RbH76TXd2qD+7ZPZEbpBDhdRhJaFgfQ7zNQ==",
        {
            "dist/reveal.js": "lib/",
            "dist/reveal.css": "lib/",
            "dist/reset.css": "lib/",
            "LICENSE": "lib/reveal-",
        },
    ),
    "katex": (
        "0.16.11",
        "RQrI8rlHY92OLf3rho/Ts8i/XvjgguEjOkO1BEXcU3N8BqPpSzBNwV/G0Ukr+P/l3ivvJUE/Fa/CwbS6HesGNQ==",
        {
            "dist/katex.min.js": "lib/",
            "dist/katex.min.css": "lib/",
            "dist/contrib/auto-render.min.js": "lib/",
            "dist/fonts/*.woff2": "lib/fonts/",
            "LICENSE": "lib/katex-",
        },
    ),
}
PAGE = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{title}</title>
<link rel="stylesheet" href="lib/reset.css">
<link rel="stylesheet" href="lib/reveal.css">
<link rel="stylesheet" href="lib/katex.min.css">
<link rel="stylesheet" href="lib/deck.css">
</head>
<body>
<div class="reveal"><div class="slides">
{slides}
</div></div>
<script src="lib/reveal.js"></script>
<script src="lib/katex.min.js"></script>
<script src="lib/auto-render.min.js"></script>
<script src="lib/deck.js"></script>
</body>
</html>
"""
DETAILS = re.compile(r"<details>\s*<summary>.*?</summary>(.*?)</details>", re.DOTALL)
MARKDOWN = MarkdownWithMath(renderer=IPythonRenderer(escape=False, exclude_anchor_links=True))
LIVE = '<p class="live">In the notebook this picture is live, with words and numbers below it.</p>'
PYTHON = Highlight2HTML(pygments_lexer="python")


# --- reveal.js and KaTeX --------------------------------------------------------------------------------


def package(name: str, cache: Path) -> Path:
    """The unpacked npm package, from the cache where it is there. SystemExit says what is in the way."""
    version, checksum, _ = PACKAGES[name]
    folder, archive = cache / f"{name}-{version}", cache / f"{name}-{version}.tgz"
    if folder.is_dir():
        return folder
    npm = shutil.which("npm")
    if npm is None:
        sys.exit(
            f"The slides need {name} {version}, which npm fetches, and there is no npm on this machine:"
            " install Node.js from https://nodejs.org, or teach from the notebooks."
        )
    cache.mkdir(parents=True, exist_ok=True)
    print(f"Fetching {name} {version} with npm ...", flush=True)
    command = [npm, "pack", f"{name}@{version}", "--pack-destination", str(cache), "--silent"]
    made = subprocess.run(command, cwd=cache, capture_output=True, text=True)
    if made.returncode or not archive.is_file():
        said = " ".join((made.stderr or made.stdout).split())[-300:]
        sys.exit(f"npm could not fetch {name} {version}: is the network there? It said: {said}")
    found = base64.b64encode(hashlib.sha512(archive.read_bytes()).digest()).decode()
    if found != checksum:
        archive.unlink()
        sys.exit(
            f"{name} {version} as npm fetched it is not the package that was tested: its checksum differs."
        )
    half = folder.with_suffix(".half")
    shutil.rmtree(half, ignore_errors=True)
    with tarfile.open(archive) as packed:
        if sys.version_info >= (3, 12):
            packed.extractall(half, filter="data")
        else:
            packed.extractall(half)  # the checksum vouches for what is in it
    (half / "package").rename(folder)
    shutil.rmtree(half)
    archive.unlink()
    return folder


def copy_libraries(target: Path, cache: Path) -> None:
    """Put what the decks need beside them, with the licences of the two packages."""
    for name, (_, _, wanted) in PACKAGES.items():
        source = package(name, cache)
        for pattern, place in wanted.items():
            for file in sorted(source.glob(pattern)):
                goal = target / (place + file.name)
                goal.parent.mkdir(parents=True, exist_ok=True)
                shutil.copyfile(file, goal)
    for file in OWN.iterdir():
        shutil.copyfile(file, target / "lib" / file.name)


# --- cells to slides ------------------------------------------------------------------------------------


def slide_type(cell: NotebookNode) -> str:
    return cell.metadata.get("slideshow", {}).get("slide_type", "skip") or "skip"


def prose(text: str) -> str:
    """Markdown as HTML; answers appear at a key press; links to pages lead to their decks."""

    def answer(found: re.Match) -> str:
        return f'\n<div class="fragment answer">{MARKDOWN.render(found.group(1).strip())}</div>\n'

    parts, place = [], 0
    for found in DETAILS.finditer(text):
        parts += [MARKDOWN.render(text[place : found.start()]), answer(found)]
        place = found.end()
    parts.append(MARKDOWN.render(text[place:]))
    linked = with_links_to_html("".join(parts))
    return f'<div class="prose">{linked}</div>'


def code(cell: NotebookNode, name: str, folder: Path) -> str:
    """What a slide shows of a code cell: a picture, or short code and what it printed; else nothing."""
    pictures, tables, printed = [], [], []
    for output in cell.get("outputs", []):
        data = output.get("data", {})
        if output.output_type == "stream":
            printed.append(f'<pre class="out">{html.escape(output.text.rstrip())}</pre>')
        elif "image/png" in data:
            file = folder / "pictures" / f"{name}-{len(pictures) + 1}.png"
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_bytes(base64.b64decode(data["image/png"]))
            words = output.metadata.get("image/png", {}).get("alt") or data.get("text/plain", "")
            pictures.append(f'<img src="pictures/{file.name}" alt="{html.escape(words, quote=True)}">')
        elif "text/html" in data:
            tables.append(f'<div class="out-html">{data["text/html"]}</div>')
        elif "text/plain" in data:
            printed.append(f'<pre class="out">{html.escape(data["text/plain"])}</pre>')
    if pictures:
        return "".join(pictures) + (LIVE if "_explorer(" in cell.source else "")
    lines = worth_showing(cell.source)
    longest = LONGEST_ALONE if slide_type(cell) in ("slide", "subslide") else LONGEST_CODE
    shown = 0 < len(lines) <= longest
    source = f'<div class="highlight">{PYTHON(chr(10).join(lines))}</div>' if shown else ""
    return source + "".join(printed) + "".join(tables)


def worth_showing(source: str) -> list[str]:
    """The lines of a cell that compute something: no imports, no drawing of tables."""
    lines = re.split(r"^(?:matrix_table|product_table|side_by_side)\(", source, flags=re.MULTILINE)[0]
    lines = re.sub(
        r"^from \S+ import (?:\(.*?\)|[^(\n]*)$|^import [^\n]*$", "", lines, flags=re.MULTILINE | re.DOTALL
    )
    return lines.strip().splitlines()


def slides_of(notebook: NotebookNode, stem: str, folder: Path) -> list[str]:
    """The slides of a notebook, each as the HTML inside its section."""
    slides: list[list[str]] = []
    for i, cell in enumerate(notebook.cells):
        kind = slide_type(cell)
        if kind in ("skip", "notes"):
            continue
        name = f"{stem[:2]}-{i:03d}"
        shown = prose(cell.source) if cell.cell_type == "markdown" else code(cell, name, folder)
        if not shown:
            continue
        if kind in ("slide", "subslide") or not slides:
            slides.append([])
        slides[-1].append(f'<div class="fragment">{shown}</div>' if kind == "fragment" else shown)
    return ["\n".join(parts) for parts in slides]


def deck(path: Path, folder: Path) -> str:
    """Write the deck of one notebook and return its title."""
    notebook = read_notebook(path)
    title = notebook.cells[0].source.splitlines()[0].lstrip("# ")
    foot = f'<div class="foot">{path.stem[:2]} · {html.escape(title)}</div>'
    sections = [
        f'<section><div class="fit">{slide}</div>{foot if place else ""}</section>'
        for place, slide in enumerate(slides_of(notebook, path.stem, folder))
    ]
    text = PAGE.format(title=html.escape(f"{path.stem[:2]} {title}"), slides="\n".join(sections))
    (folder / f"{path.stem}.html").write_text(text, encoding="utf-8")
    return title


def make(notebooks: list[Path], target: Path, cache: Path) -> list[str]:
    """Write all decks and the index into `target`. Returns the titles."""
    with tempfile.TemporaryDirectory() as temporary:  # a fault half-way leaves the older decks as they were
        half = Path(temporary) / "slides"
        half.mkdir()  # copytree hands on who may read a folder, and a temporary one is private
        titles = write_decks(notebooks, half, cache)
        if target.resolve() == SLIDES:  # no deck of a notebook that is gone; another folder keeps what it has
            shutil.rmtree(target, ignore_errors=True)
        shutil.copytree(half, target, dirs_exist_ok=True)
    return titles


def write_decks(notebooks: list[Path], folder: Path, cache: Path) -> list[str]:
    copy_libraries(folder, cache)
    titles = [deck(path, folder) for path in notebooks]
    entries = "".join(
        f'<li{_number(path.stem)}><a href="{path.stem}.html">{html.escape(title)}</a></li>'
        for path, title in zip(notebooks, titles, strict=True)
    )
    title = "Multi-head attention, step by step"
    index = f'<section><div class="fit"><h2>{title}</h2><ol>{entries}</ol></div></section>'
    text = PAGE.format(title=title, slides=index)
    (folder / "index.html").write_text(text, encoding="utf-8")
    return titles


def _number(stem: str) -> str:
    return f' value="{int(stem[:2])}"' if re.match(r"[0-9]{2}", stem) else ""


@in_a_sentence
def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("notebooks", nargs="*", type=Path, help="files (default: all in notebooks/)")
    parser.add_argument("--to", type=Path, default=SLIDES, help="default: dist/slides")
    options = parser.parse_args(arguments)
    paths = options.notebooks or course_notebooks()
    titles = make(paths, options.to, ROOT / "dist" / "npm")
    print(f"{len(titles)} decks: open {options.to / 'index.html'} in a browser.")
    return 0


if __name__ == "__main__":
    sys.exit(main())

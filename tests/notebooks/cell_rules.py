"""What holds for every cell of every notebook: stored outputs, code and language.

Each rule takes a `Page` and returns its faults as sentences; no fault, an empty list.
"""

from __future__ import annotations

import ast
import itertools
import re

from notebook_page import NAMES, Page, comments, text_of, without_code
from refresh_notebooks import CELL_TIMEOUT, LARGEST, NOTEBOOK_METADATA, WIDGET_VIEW, cell_ids
from setup_cell import is_setup_cell, repository_of, setup_cell

LONGEST_CODE = 25  # lines
WIDEST_CODE = 100  # characters: what a laptop shows beside the list of files, and a projector
LONGEST_PROSE = 130  # words
SLIDE_TYPES = ("slide", "subslide", "fragment", "-", "skip")
ADDRESS = re.compile(r"\b0x[0-9a-f]{6,}")
MACHINE_PATH = re.compile(r"(?:/(?:home|root|Users|tmp|work|usr|opt|var)/\w)|\b[A-Z]:\\\\?\w|site-packages")
WIDGET_WORDS = re.compile(r"\b(?:VBox|HBox|Image|HTML|\w*Slider|Dropdown|Checkbox|Text)\((?:value|children)=")
PICTURE_IN_HTML = re.compile(r"<img\b[^>]{0,40}data:image/")
BANNED = re.compile(r"\b(simply|just|obviously|clearly)\b", re.IGNORECASE)
AMERICAN = re.compile(
    r"\b(colors?|colored|coloring|grayscale|gray|centers?|centered|behaviors?|neighbors?|neighboring|favorite|"
    r"labeled|labeling|modeling|canceled|"
    r"(?:normal|real|summar|recogn|visual|optim|initial|general|organ|emphas|minim|maxim|special|util|memor|token)"
    r"iz(?:e|es|ed|er|ing|ation)|analyz(?:e|es|ed|ing))\b",
    re.IGNORECASE,
)
UNFINISHED = re.compile(r"\b(TODO|FIXME|XXX|TBD|WIP|lorem ipsum)\b|\?\?\?", re.IGNORECASE)
RETURNS_NONE = {"append", "extend", "update", "sort", "hint", "add_", "manual_seed", "seed"}


def words_of(page: Page) -> list[tuple[str, str]]:
    """Pairs (cell id, text) of all a reader reads as words: prose, comments, printed text."""
    texts = [(cell.id, without_code(cell.source)) for cell in page.markdown]
    texts += [(cell.id, comments(cell.source)) for cell in page.code]
    return texts + [
        (cell.id, output.text) for cell, output in page.outputs() if output.output_type == "stream"
    ]


def first_code_cell_is_the_setup_cell(page: Page) -> list[str]:
    first = page.code[0].source if page.code else ""
    if not is_setup_cell(first):
        return ["the first code cell is not the set-up cell of tools/setup_cell.py"]
    if first != setup_cell(repository_of(first)):
        return ["the set-up cell is not the text of tools/setup_cell.py: run tools/refresh_notebooks.py"]
    again = [cell.id for cell in page.code[1:] if is_setup_cell(cell.source)]
    return [f"a second set-up cell: {again}"] if again else []


def was_run_from_top_to_bottom(page: Page) -> list[str]:
    counts = [cell.execution_count for cell in page.code]
    faults = [f"{cell.id}: an empty code cell" for cell in page.code if not cell.source.strip()]
    if counts != list(range(1, len(counts) + 1)):
        faults.append(f"execution counts are {counts}: run tools/refresh_notebooks.py")
    return faults


def shows_its_outputs(page: Page) -> list[str]:
    """A cell that ends in a value, or prints at its top level, has a stored output."""
    faults = [] if page.outputs() else ["no cell has an output: run tools/refresh_notebooks.py"]
    for cell in page.code[1:]:
        lines = [line for line in ast.parse(cell.source).body if isinstance(line, ast.Expr)]
        last = ast.parse(cell.source).body[-1:]
        called = [line.value.func for line in lines if isinstance(line.value, ast.Call)]
        prints = any(isinstance(function, ast.Name) and function.id == "print" for function in called)
        silent = (
            last
            and isinstance(last[0], ast.Expr)
            and isinstance(last[0].value, ast.Call)
            and getattr(last[0].value.func, "attr", "") in RETURNS_NONE
        )
        ends_in_value = last and isinstance(last[0], ast.Expr) and not silent
        if (prints or ends_in_value) and not cell.outputs:
            faults.append(f"{cell.id}: shows or prints something, but no output is stored")
    return faults


def is_in_the_stored_form(page: Page) -> list[str]:
    faults = []
    if page.notebook.metadata != NOTEBOOK_METADATA:
        faults.append(f"notebook metadata is {dict(page.notebook.metadata)}")
    if [cell.id for cell in page.cells] != cell_ids(page.cells, page.name):
        faults.append("cell ids are not those of tools/refresh_notebooks.py")
    for cell in page.cells:
        if set(cell.metadata) - {"tags", "jupyter", "slideshow"}:
            faults.append(f"{cell.id}: cell metadata {sorted(cell.metadata)}")
        if cell.get("attachments"):
            faults.append(f"{cell.id}: has an attachment, which a diff does not show")
        tags = set(cell.metadata.get("tags", [])) - {"raises-exception"}
        if tags:
            faults.append(f"{cell.id}: tag {sorted(tags)}; only raises-exception is allowed")
    faults += [
        f"{cell.id}: a stored widget view" for cell, output in page.outputs() if WIDGET_VIEW in str(output)
    ]
    size = page.path.stat().st_size
    return [*faults, f"{size} bytes; the limit is {LARGEST}"] if size > LARGEST else faults


def outputs_hold_everywhere(page: Page) -> list[str]:
    """No error that is not meant, nothing on stderr, nothing that differs between machines."""
    faults = []
    for cell, output in page.outputs():
        said, meant = text_of(output), "raises-exception" in cell.metadata.get("tags", [])
        if output.output_type == "error" and not meant:
            faults.append(f"{cell.id}: raised {said}")
        if output.output_type == "stream" and output.name == "stderr":
            faults.append(f"{cell.id}: wrote to stderr: {said[:80]!r}")
        for what, pattern in {
            "an object's address": ADDRESS,
            "a machine's path": MACHINE_PATH,
            "a widget in words": WIDGET_WORDS,
            "a picture inside HTML, whose pixels differ by machine": PICTURE_IN_HTML,
        }.items():
            if pattern.search(said):
                faults.append(f"{cell.id}: its output shows {what}: {pattern.search(said).group()!r}")
    for cell in page.cells:
        if MACHINE_PATH.search(cell.source):
            faults.append(f"{cell.id}: names a machine's path: {MACHINE_PATH.search(cell.source).group()!r}")
        expects = "raises-exception" in cell.metadata.get("tags", [])
        if expects and not any(output.output_type == "error" for output in cell.get("outputs", [])):
            faults.append(f"{cell.id}: is tagged raises-exception and raises nothing")
    return faults


def pictures_have_words(page: Page) -> list[str]:
    faults = []
    for cell, output in page.pictures():
        alt = output.metadata.get("image/png", {}).get("alt", "")
        if len(alt.split()) < 3:
            faults.append(
                f"{cell.id}: picture without a text alternative (alt {alt!r}); end the cell in a Picture"
            )
    for cell in page.markdown:
        if re.search(r"!\[\s*\]\(", cell.source) or re.search(r"<img(?![^>]*\balt=\"[^\"]+\")", cell.source):
            faults.append(f"{cell.id}: image without alt text")
    return faults


def code_is_for_reading(page: Page) -> list[str]:
    faults = []
    for cell in page.code:
        code, length = cell.source, len(cell.source.splitlines())
        if length > LONGEST_CODE:
            faults.append(f"{cell.id}: {length} lines of code; at most {LONGEST_CODE}")
        for line in code.splitlines():
            if len(line) > WIDEST_CODE:
                faults.append(f"{cell.id}: a line of {len(line)} characters, at most {WIDEST_CODE}: {line}")
        if re.search(r";[ \t]*(?:$|\n)", code):
            faults.append(f"{cell.id}: a `;` at the end of a line hides nothing here; assign to `_` instead")
        if re.search(r"\b(interact|interactive|interact_manual|interactive_output|clear_output)\b", code):
            faults.append(f"{cell.id}: interact or clear_output; use an explorer of mha_helpers")
        if re.search(r"\bOutput\(", code):
            faults.append(f"{cell.id}: an Output widget; use an explorer of mha_helpers")
        if re.search(r"^\s*[%!]", code, re.MULTILINE):
            faults.append(f"{cell.id}: a magic or shell line, which runs in IPython alone")
        if re.search(r"\btime\.(time|perf_counter)|\btimeit\b", code) and "MEASURE" not in code:
            faults.append(f"{cell.id}: measures time without a switch named MEASURE that is off as stored")
    return faults


def prose_is_short(page: Page) -> list[str]:
    """At most 130 words a cell; tables, code, formulas and HTML tags do not count."""
    faults = []
    for cell in page.markdown:
        lines = [line for line in without_code(cell.source).splitlines() if not line.lstrip().startswith("|")]
        count = len(re.findall(r"\b[\w’'-]+", re.sub(r"<[^>]+>", "", "\n".join(lines))))
        if count > LONGEST_PROSE:
            faults.append(
                f"{cell.id}: {count} words; at most {LONGEST_PROSE}: cut it, or split it around a cell"
            )
    return faults


def words_are_plain(page: Page) -> list[str]:
    faults = []
    for cell_id, text in words_of(page):
        faults += [f"{cell_id}: “{word}” tells the reader it should be easy" for word in BANNED.findall(text)]
        faults += [f"{cell_id}: American spelling “{word}”" for word in AMERICAN.findall(text)]
    for cell in page.cells:
        faults += [f"{cell.id}: unfinished: {m.group()!r}" for m in UNFINISHED.finditer(cell.source)]
    return faults


def quotation_marks_are_curly(page: Page) -> list[str]:
    """In prose “…”, as the pictures and checks write them; straight ones are left to code."""
    faults = []
    for cell in page.markdown:
        prose = re.sub(r"<[^>\n]*>", "", without_code(cell.source))
        faults += [
            f"{cell.id}: straight quotation marks: {found}" for found in re.findall(r'"[^"\n]*"?', prose)
        ]
    return faults


def links_lead_somewhere(page: Page) -> list[str]:
    """Links to the course's notebooks by name, to other files if they are there; no link off the course."""
    faults = []
    for cell in page.markdown:
        for address in re.findall(r"\]\(([^)\s]+)\)", cell.source):
            target = address.split("#")[0]
            if not target or re.match(r"https?://", target):
                continue
            if target.removesuffix(".ipynb") not in NAMES and not (page.path.parent / target).exists():
                faults.append(f"{cell.id}: the link ({address}) leads nowhere")
    return faults


def says_what_is_on_a_slide(page: Page) -> list[str]:
    """Every cell has a slide type; what a slide announces with a colon is on a slide as well."""
    kinds = [cell.metadata.get("slideshow", {}).get("slide_type") for cell in page.cells]
    faults = [
        f"{cell.id}: slide type {kind!r}; choose one of {', '.join(SLIDE_TYPES)}"
        for cell, kind in zip(page.cells, kinds, strict=True)
        if kind not in SLIDE_TYPES
    ]
    pairs = zip(itertools.pairwise(page.cells), itertools.pairwise(kinds), strict=True)
    return faults + [
        f"{cell.id}: its slide ends in a colon, and the next cell is skipped"
        for (cell, _), (kind, following) in pairs
        if kind != "skip" and following == "skip" and cell.source.rstrip().endswith(":")
    ]


def runs_soon(page: Page) -> list[str]:
    """A cell that waits for the learner or the network would hang a class."""
    pattern = re.compile(r"\binput\(|\bsleep\(|\burllib|\brequests\b")
    return [
        f"{cell.id}: waits for a person or the network ({pattern.search(cell.source).group()}), over {CELL_TIMEOUT} s"
        for cell in page.code[1:]
        if pattern.search(cell.source)
    ]


CELL_RULES = [
    first_code_cell_is_the_setup_cell,
    was_run_from_top_to_bottom,
    shows_its_outputs,
    is_in_the_stored_form,
    outputs_hold_everywhere,
    pictures_have_words,
    code_is_for_reading,
    prose_is_short,
    words_are_plain,
    quotation_marks_are_curly,
    links_lead_somewhere,
    says_what_is_on_a_slide,
    runs_soon,
]

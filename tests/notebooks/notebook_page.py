"""A notebook taken apart for the contract tests: sections, prose, code, outputs."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import nbformat
from nbformat.notebooknode import NotebookNode

ROOT = Path(__file__).resolve().parents[2]
FOLDER = ROOT / "notebooks"
NAMES = [
    "00_start_here",
    "01_inputs_and_shapes",
    "02_qkv_projection",
    "03_qk_scores",
    "04_scaling",
    "05_causal_mask",
    "06_softmax",
    "07_weighted_values",
    "08_splitting_heads",
    "09_concat_and_output",
    "10_trained_heads",
]
WITH_A_MODEL = "real_model/11_a_real_model"  # in a folder of its own: it needs more than the others
CORE = NAMES[:10]  # what follows is for whoever wants more
SECTIONS = [
    "Where we are",
    "Predict",
    "By hand",
    "In PyTorch",
    "See it",
    "Play",
    "What goes wrong",
    "Exercises",
    "Shape ledger",
    "Recap",
]
EXPLORERS = {
    "00": "attention_explorer",
    "01": "shapes_explorer",
    "02": "projection_explorer",
    "03": "scores_explorer",
    "04": "scaling_explorer",
    "05": "mask_explorer",
    "06": "softmax_explorer",
    "07": "values_explorer",
    "08": "splitting_explorer",
    "09": "attention_explorer",
    "10": "trained_explorer",
    "11": "real_model_explorer",
}


def without_code(markdown: str) -> str:
    """Markdown without fenced blocks, code spans and formulas: what is left is read as words."""
    text = re.sub(r"^```.*?^```", "", markdown, flags=re.DOTALL | re.MULTILINE)
    text = re.sub(r"\$\$.*?\$\$", "", text, flags=re.DOTALL)
    text = re.sub(r"``[^`]*``|`[^`\n]*`|\$[^$\n]*\$", "", text)
    return re.sub(r"\]\([^)]*\)", "]", text)  # the words of a link, not its address


def comments(code: str) -> str:
    """The comments of a code cell, one a line."""
    return "\n".join(re.findall(r"(?:^|\s)#\s(.*)", code))


def text_of(output: NotebookNode) -> str:
    """Everything an output says in words."""
    if output.output_type == "stream":
        return output.text
    if output.output_type == "error":
        return f"{output.ename}: {output.evalue}"
    return "\n".join(str(output.data[kind]) for kind in ("text/plain", "text/html") if kind in output.data)


@dataclass(frozen=True)
class Page:
    """One stored notebook. `sections` maps a `##` heading to its cells; "top" is what stands before."""

    path: Path

    @property
    def name(self) -> str:
        return self.path.stem

    @property
    def number(self) -> str:
        return self.name.split("_")[0]

    @cached_property
    def notebook(self) -> NotebookNode:
        return nbformat.read(self.path, as_version=4)

    @property
    def cells(self) -> list[NotebookNode]:
        return self.notebook.cells

    @property
    def code(self) -> list[NotebookNode]:
        return [cell for cell in self.cells if cell.cell_type == "code"]

    @property
    def markdown(self) -> list[NotebookNode]:
        return [cell for cell in self.cells if cell.cell_type == "markdown"]

    @property
    def headings(self) -> list[tuple[int, str]]:
        """All headings as (level, words), in order."""
        return [
            (len(marks), words.strip())
            for cell in self.markdown
            for marks, words in re.findall(
                r"^(#{1,6}) +(.+)$",
                re.sub(r"^```.*?^```", "", cell.source, flags=re.DOTALL | re.MULTILINE),
                flags=re.MULTILINE,
            )
        ]

    @cached_property
    def sections(self) -> dict[str, list[NotebookNode]]:
        parts: dict[str, list[NotebookNode]] = {"top": []}
        current = "top"
        for cell in self.cells:
            heading = re.match(r"## +(.+)", cell.source) if cell.cell_type == "markdown" else None
            if heading:
                current = heading.group(1).strip()
                parts.setdefault(current, [])
            parts[current].append(cell)
        return parts

    def source(self, section: str, kind: str) -> str:
        """The text of a section's "markdown" or "code" cells."""
        cells = self.sections.get(section, [])
        return "\n\n".join(cell.source for cell in cells if cell.cell_type == kind)

    def outputs(self, section: str | None = None) -> list[tuple[NotebookNode, NotebookNode]]:
        """Pairs (cell, output), of one section or of the whole page."""
        cells = self.cells if section is None else self.sections.get(section, [])
        return [(cell, output) for cell in cells if cell.cell_type == "code" for output in cell.outputs]

    def pictures(self, section: str | None = None) -> list[tuple[NotebookNode, NotebookNode]]:
        """Pairs (cell, output) of the outputs that hold a picture."""
        return [pair for pair in self.outputs(section) if "image/png" in pair[1].get("data", {})]


def stored_pages() -> list[Page]:
    return [Page(path) for path in [*sorted(FOLDER.glob("*.ipynb")), FOLDER / f"{WITH_A_MODEL}.ipynb"]]

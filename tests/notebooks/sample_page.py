"""A small notebook that keeps the page contract, for tests that then break it in one place."""

from __future__ import annotations

import base64
import struct
import zlib
from pathlib import Path

import nbformat
from nbformat.notebooknode import NotebookNode
from page_rules import HOW_TO_ANSWER, SUMMARY
from refresh_notebooks import as_text, normalise
from setup_cell import SETUP_CELL

NAME = "03_qk_scores"


def tiny_png(colour: int = 0, text: bytes = b"") -> bytes:
    """A picture of one grey pixel, with a text chunk if `text` is given."""

    def chunk(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    head = struct.pack(">IIBBBBB", 1, 1, 8, 0, 0, 0, 0)
    remark = chunk(b"tEXt", b"Software\0" + text) if text else b""
    pixel = chunk(b"IDAT", zlib.compress(bytes([0, colour])))
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + remark + pixel + chunk(b"IEND", b"")


def prose(text: str, slide_type: str = "skip") -> NotebookNode:
    return nbformat.v4.new_markdown_cell(text, metadata=_slideshow(slide_type))


def code(text: str, *outputs: NotebookNode, slide_type: str = "skip") -> NotebookNode:
    return nbformat.v4.new_code_cell(text, outputs=list(outputs), metadata=_slideshow(slide_type))


def _slideshow(slide_type: str) -> NotebookNode:
    return NotebookNode(slideshow=NotebookNode(slide_type=slide_type))


def printed(text: str, name: str = "stdout") -> NotebookNode:
    return nbformat.v4.new_output("stream", name=name, text=text)


def picture(alt: str = "A heatmap of three scores") -> NotebookNode:
    data = {"image/png": base64.b64encode(tiny_png()).decode(), "text/plain": alt}
    return nbformat.v4.new_output("execute_result", data=data, metadata={"image/png": {"alt": alt}})


def shown_as_html(html: str) -> NotebookNode:
    return nbformat.v4.new_output("display_data", data={"text/html": html, "text/plain": "a table"})


def exercise(k: int) -> list[NotebookNode]:
    return [
        prose(f"### Exercise 3.{k} {'★' * k} · {k + 1} min · Score number {k}\n\nCompute it."),
        code(f"answer = ...\nexercises.score_{k}.check(answer)", printed("Not attempted yet.\n")),
        code(f"# exercises.score_{k}.hint()\n# exercises.score_{k}.solution()"),
    ]


def sample_page() -> NotebookNode:
    """The cells of a whole page, in the stored form."""
    notebook = nbformat.v4.new_notebook()
    opening = "**You will be able to** score.\n**You need** notebook 02.\n**Time**: 15–20 minutes, and 9 for the exercises."
    ask = f"How large is it?\n\n<details>\n<summary>{SUMMARY}</summary>\n\nFour.\n\n</details>"
    notebook.cells = [
        prose(f"# Who asks whom?\n\n{opening}"),
        code(SETUP_CELL),
        prose("## Where we are\n\nThe third step."),
        code("pipeline_map(3)", picture()),
        prose(f"## Predict\n\n{ask}"),
        prose("## By hand\n\nOne number at a time."),
        code("print(1 * 3 + 2 * 0)", printed("3\n")),
        prose("## In PyTorch\n\nThe same at once."),
        code('print("both agree:", torch.allclose(one, two))', printed("both agree: True\n")),
        prose("## See it"),
        code("heatmap(scores, tokens)", picture()),
        prose("## Play"),
        code("scores_explorer()", picture()),
        prose("**Try this** Move d_k.\n\n**Try this** Choose two heads."),
        prose("## What goes wrong\n\nThe transposed picture.\n\n**How to catch it:** look."),
        code("print(scores.T)", printed("tensor([1])\n")),
        prose(f"## Exercises\n\n{HOW_TO_ANSWER}\n\nThe coloured rows are yours."),
        *exercise(1),
        *exercise(2),
        *exercise(3),
        prose("## Shape ledger\n\n| symbol | shape |\n|---|---|\n| scores | (n, n) |"),
        prose("## Recap\n\n**Where this comes from:** Vaswani et al. (2017), section 3.2.1."),
        prose("**Next:** [scaling](04_scaling.ipynb)."),
    ]
    normalise(notebook, NAME)
    return notebook


def write_page(notebook: NotebookNode, folder: Path, name: str = NAME) -> Path:
    path = folder / f"{name}.ipynb"
    path.write_bytes(as_text(notebook).encode("utf-8"))
    return path

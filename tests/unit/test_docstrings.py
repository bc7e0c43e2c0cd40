"""Where a docstring says "Used in notebook …", those pages call the function, and no others.

Where it says "Taught in", nothing can be compared: a page can teach a step in words and loops alone.
"""

import ast
import json
import re
from importlib import import_module
from pathlib import Path

import pytest

NOTEBOOKS = Path(__file__).resolve().parents[2] / "notebooks"
SAID = re.compile(r"Used (?:in|from) (?:every notebook|notebooks? ((?:\d\d|, | and | to | on\b)+))")


def pages():
    """Return, for each function of the package that a page calls, the pages: (module, name) -> ["00", …]."""
    found = {}
    for path in sorted([*NOTEBOOKS.glob("*.ipynb"), *NOTEBOOKS.glob("real_model/*.ipynb")]):
        cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
        sources = ["".join(cell["source"]) for cell in cells if cell["cell_type"] == "code"]
        nodes = [node for source in sources for node in ast.walk(ast.parse(source))]
        called = {
            node.func.id for node in nodes if isinstance(node, ast.Call) and isinstance(node.func, ast.Name)
        }
        imported = {
            (node.module, alias.name)
            for node in nodes
            if isinstance(node, ast.ImportFrom) and node.module.split(".")[0] == "mha_helpers"
            for alias in node.names
            if alias.name in called
        }
        for function in imported:
            found.setdefault(function, []).append(path.name[:2])
    return found


def fault(docstring, called_in):
    """Return what is wrong with "Used in", or "".

    >>> fault("Used in notebooks 01, 03 and 08.", ["01", "03"])
    "says ['01', '03', '08'], is called in ['01', '03']"
    """
    said = SAID.search(" ".join(docstring.split()))
    if said is None:
        return ""
    numbers = re.findall(r"\d\d", said[1] or "")
    if not numbers:
        return "says every notebook: name the pages"
    if said[0].endswith(" on"):  # from the first of them on, though perhaps not in each
        called_in = called_in[:1]
    if " to " in said[0]:
        numbers = [f"{page:02}" for page in range(int(numbers[0]), int(numbers[-1]) + 1)]
    return "" if numbers == called_in else f"says {numbers}, is called in {called_in}"


def test_each_function_names_the_pages_that_use_it():
    faults = {
        name: wrong
        for (module, name), called_in in pages().items()
        if (wrong := fault(getattr(import_module(module), name).__doc__ or "", called_in))
    }
    assert not faults


def test_the_pages_are_read():
    found = {name: called_in for (_, name), called_in in pages().items()}
    assert len(found) > 40 and found["scaling_explorer"] == ["04"] and found["real_model_explorer"] == ["11"]


@pytest.mark.parametrize(
    ("docstring", "called_in", "wrong"),
    [
        ("Used in notebook 01, and by the explorers of 00 and 03.", ["01"], False),
        ("Used in notebooks 01,\n    03 and 08.", ["01", "03", "08"], False),
        ("Used in notebooks 00 to 02.", ["00", "01", "02"], False),
        ("Used from notebook 01 on.", ["01", "04"], False),
        ("Taught in notebook 03.", ["04"], False),
        ("Used in notebooks 00 and 09.", ["00", "05", "09"], True),
        ("Used in notebooks 00 and 09.", ["00"], True),
        ("Used in notebooks 00 to 02.", ["00", "02"], True),
        ("Used from notebook 01 on.", ["00", "01"], True),
        ("Used in every notebook.", ["00"], True),
    ],
)
def test_a_false_line_is_noticed(docstring, called_in, wrong):
    assert bool(fault(docstring, called_in)) == wrong

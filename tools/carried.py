"""The part of the helper package that one notebook needs, written as tightly as it can be carried.

A one-file copy of a notebook may be 50 kB larger than the notebook, and the package is several times that.
So the files that the page cannot reach stay behind, and so do docstrings, comments, line breaks in brackets,
and what a file defines and nobody names. What is left runs the same.
"""

from __future__ import annotations

import ast
import functools
import io
import re
import tokenize
from collections import Counter
from pathlib import Path

PACKAGE = "mha_helpers"
AS_WRITTEN = ("mha_helpers/attention.py", "mha_helpers/masks.py")  # the pages send learners to read these


def package_files(root: Path) -> dict[str, str]:
    """Every module of the package: path with forward slashes -> source with plain newlines."""
    return {
        path.relative_to(root).as_posix(): path.read_text(encoding="utf-8")
        for path in sorted((root / PACKAGE).rglob("*.py"))
        if "__pycache__" not in path.parts
    }


def package_data(root: Path) -> dict[str, bytes]:
    """Every other file of the package, such as the weights of a trained model."""
    return {
        path.relative_to(root).as_posix(): path.read_bytes()
        for path in sorted((root / PACKAGE).rglob("*"))
        if path.is_file() and path.suffix != ".py" and "__pycache__" not in path.parts
    }


def _file_of(module: str, files: dict[str, str]) -> str | None:
    path = module.replace(".", "/")
    return next((name for name in (f"{path}.py", f"{path}/__init__.py") if name in files), None)


@functools.cache
def _blocks(source: str) -> frozenset[str]:
    """The functions and classes that a file defines at its top."""
    blocks = (ast.FunctionDef, ast.ClassDef)
    return frozenset(node.name for node in ast.parse(source).body if isinstance(node, blocks))


def _reached(source: str, files: dict[str, str]) -> set[str]:
    """The files that `source` imports, and those that define what it takes from a package.

    The second is for names that an `__init__` looks up only when they are asked for, which no import
    statement shows: `from mha_helpers import heatmap`, or `mha.heatmap(…)` after `import mha_helpers as mha`.
    """
    modules, names, bound = set(), set(), set()
    nodes = list(ast.walk(ast.parse(source)))
    for node in nodes:
        if isinstance(node, ast.Import):
            modules |= {alias.name for alias in node.names}
            bound |= {alias.asname or PACKAGE for alias in node.names if alias.name.split(".")[0] == PACKAGE}
        elif isinstance(node, ast.ImportFrom):
            if node.level:
                raise ValueError(f"cannot follow the relative import in line {node.lineno}; write it in full")
            modules |= {node.module, *(f"{node.module}.{alias.name}" for alias in node.names)}
            if (_file_of(node.module, files) or "").endswith("__init__.py"):
                names |= {alias.name for alias in node.names}
                bound |= {alias.asname or alias.name for alias in node.names}
    for node in nodes:
        if isinstance(node, ast.Attribute) and bound & {
            n.id for n in ast.walk(node) if isinstance(n, ast.Name)
        }:
            names.add(node.attr)
    defining = {name for name, text in files.items() if names & _blocks(text)}
    return defining | ({_file_of(module, files) for module in modules} - {None})


def needed_files(code: str, files: dict[str, str]) -> dict[str, str]:
    """The part of the package that a notebook with this code can reach."""
    wanted = _reached(code, files) | {name for name in files if name.endswith("__init__.py")}
    todo = list(wanted)
    while todo:
        found = _reached(files[todo.pop()], files) - wanted
        wanted |= found
        todo += found
    return {name: files[name] for name in sorted(wanted)}


@functools.cache
def without_remarks(source: str) -> str:
    """The same program without docstrings, comments and blank lines, which are a third of its bytes."""
    lines: list[str | None] = source.split("\n")
    for node in ast.walk(ast.parse(source)):
        has_docstring = isinstance(node, (ast.Module, ast.ClassDef, ast.FunctionDef)) and ast.get_docstring(
            node
        )
        if has_docstring:
            first = node.body[0]
            indent = " " * first.col_offset
            lines[first.lineno - 1 : first.end_lineno] = [None] * (first.end_lineno - first.lineno + 1)
            if len(node.body) == 1 and not isinstance(node, ast.Module):
                lines[first.lineno - 1] = f"{indent}pass"
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        row, column = token.start
        if token.type == tokenize.COMMENT and lines[row - 1] is not None:
            lines[row - 1] = lines[row - 1][:column].rstrip() or None
        elif token.type == tokenize.NL and not token.line.strip() and lines[row - 1] == "":
            lines[row - 1] = None
    kept = [line for line in lines if line is not None]
    return "\n".join(kept).rstrip("\n") + "\n"


@functools.cache
def without_breaks(source: str) -> str:
    """The same program with all that stands in one pair of brackets on one line, which packs better."""
    inside, depth, row = set(), 0, 1  # the lines that begin in brackets, and in no string
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if depth and token.start[0] != row:
            inside.add(token.start[0])
        if token.type == tokenize.OP:
            depth += (token.string in "([{") - (token.string in ")]}")
        row = token.end[0]
    joined: list[str] = []
    for number, line in enumerate(source.split("\n"), 1):
        if number not in inside:
            joined.append(line)
        elif text := line.strip():
            before = joined[-1].removesuffix(",") if text[0] in "]}" else joined[-1]
            space = "" if before[-1] in "([{" or text[0] in ")]}" else " "
            joined[-1] = f"{before}{space}{text}"
    return "\n".join(joined)


def _named(name: str, tree: ast.Module) -> Counter[str]:
    """Every name that a file uses. A list of public names offers what it names and does not use it."""
    lists = name.endswith("__init__.py")  # all that it assigns: `__all__` and the names to import on demand
    used = [n for n in tree.body if not (isinstance(n, ast.Assign) if lists else _defines(n) == "__all__")]
    return sum(map(_mentioned, used), Counter())


def _mentioned(node: ast.AST) -> Counter[str]:
    """Every name that occurs in a piece of code, also in its strings, and how often."""
    names: Counter[str] = Counter()
    for part in ast.walk(node):
        if isinstance(part, ast.Name):
            names[part.id] += 1
        elif isinstance(part, ast.Attribute):
            names[part.attr] += 1
        elif isinstance(part, ast.alias):
            names[part.name.rpartition(".")[2]] += 1
        elif isinstance(part, ast.Constant) and isinstance(part.value, str):
            names.update(_words(part.value))
    return names


def _words(text: str) -> list[str]:
    return re.findall(r"[^\W\d]\w*", text)


def _defines(node: ast.stmt) -> str | None:
    """The one name that a statement at the top of a file defines."""
    if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
        return node.name
    if isinstance(node, ast.Assign) and len(node.targets) == 1 and isinstance(node.targets[0], ast.Name):
        return node.targets[0].id
    return None


def without_unnamed(files: dict[str, str], page: str) -> dict[str, str]:
    """The same files without what they define and neither they nor the page, code and prose, name."""
    trees = {name: ast.parse(text) for name, text in files.items()}
    named = sum((_named(*item) for item in trees.items()), Counter(_words(page)))
    left = {}
    for name, text in files.items():
        lines = text.splitlines(keepends=True)
        for node in trees[name].body:
            defined = _defines(node)
            kept = name in AS_WRITTEN or defined is None or defined.startswith("__")
            if not kept and named[defined] == _mentioned(node)[defined]:
                first = min([node.lineno, *(d.lineno for d in getattr(node, "decorator_list", []))])
                lines[first - 1 : node.end_lineno] = [""] * (node.end_lineno - first + 1)
        left[name] = "".join(lines)
    # What only the dropped named is dropped in the next round.
    return left if left == files else without_unnamed(left, page)


def carried_files(code: str, files: dict[str, str], prose: str = "") -> dict[str, str]:
    """What a notebook with this code and prose carries of the package: path -> source."""
    needed = {
        name: text if name in AS_WRITTEN else without_breaks(without_remarks(text))
        for name, text in needed_files(code, files).items()
    }
    return without_unnamed(needed, f"{code}\n{prose}")


def carried_data(carried: dict[str, str], data: dict[str, bytes]) -> dict[str, bytes]:
    """The data files that carried modules read: those in a folder whose name stands in one as a string."""
    strings = {
        node.value
        for source in carried.values()
        for node in ast.walk(ast.parse(source))
        if isinstance(node, ast.Constant) and isinstance(node.value, str)
    }
    return {name: content for name, content in data.items() if name.split("/")[-2] in strings}

"""A stored page taken apart and measured: for test_contract.py, and for whoever writes a page.

python -m tools.page                              # the sizes of every page
python -m tools.page notebooks/03_qk_scores.ipynb
"""

import re
import sys
from functools import cache, cached_property
from pathlib import Path

import nbformat

from tools.notebook import all_pages, sections

EXERCISE = re.compile(r"^### Exercise (D?\d+\.\d+) (★{1,3}) · (\d+) min · .+$", re.MULTILINE)
# The museum and the page to project are as long as what they hold; their cells are short all the same.
LONG = {"words in the longest cell": 90, "lines in the longest cell": 14}
AT_MOST = LONG | {"cells": 50, "words": 1200, "lines of code": 150, "exercises": 3}
OTHER_SIZES = {"12_bugs_in_print": LONG | {"cells": 70, "exercises": 3}, "one_sitting": LONG | {"cells": 46}}
EXPLORER = re.compile(r"^(?:\w+ = )?\w+_explorer\(", re.MULTILINE)


def word_count(markdown):
    """Words a reader reads: no tables, blocks of code, displayed formulas, tags and addresses of links."""
    text = re.sub(r"^```.*?^```|\$\$.*?\$\$", "", markdown, flags=re.DOTALL | re.MULTILINE)
    text = re.sub(r"^\|.*$|<[^>\n]+>|\]\([^)]*\)", "", text, flags=re.MULTILINE)
    text = re.sub(r"`[^`\n]*`|\$[^$\n]*\$", "one", text)  # a name or a formula in a line is read as a word
    return len(re.findall(r"[^\W_][\w’'.,-]*", text))


def line_count(code):
    return sum(bool(line.strip()) for line in code.splitlines())


class Page:
    def __init__(self, path):
        self.path, self.name = path, path.stem
        self.notebook = nbformat.read(path, as_version=4)
        self.number = self.name.split("_")[0]  # "03"; "one"
        # 01 … 09 keep one order of sections; those of the folder deeper/ have numbers, too.
        self.is_step = path.parent.name == "notebooks" and "01" <= self.number <= "09"
        self.cells = self.notebook.cells
        self.code = [cell for cell in self.cells if cell.cell_type == "code"]
        self.markdown = [cell for cell in self.cells if cell.cell_type == "markdown"]
        self.sections = dict(sections(self.cells))
        self.text = "\n\n".join(cell.source for cell in self.markdown)

    @cached_property
    def minutes(self):
        """Minutes of reading below each heading, up to the next of any level; the set-up cell left out."""
        heading, minutes = "", {}
        for cell in [self.cells[0], *self.cells[2:]]:
            if cell.cell_type == "code":
                minutes[heading] += line_count(cell.source) / 8 + 6 * len(EXPLORER.findall(cell.source))
                continue
            for part in re.split(r"^(?=#+ )", cell.source, flags=re.MULTILINE):
                new = re.match(r"#+ +(.+)", part)
                heading = new.group(1).strip() if new else heading
                minutes[heading] = minutes.get(heading, 0) + word_count(part) / 110
        return minutes

    def source(self, section, kind):
        return "\n\n".join(cell.source for cell in self.sections.get(section, []) if cell.cell_type == kind)

    def outputs(self):
        """Pairs (cell, output)."""
        return [(cell, output) for cell in self.code for output in cell.outputs]

    def stated_minutes(self):
        """What the Time line says: minutes of reading, and of the exercises."""
        stated = re.search(r"\*\*Time\*\* (\d+) minutes(?:, and (\d+) for the exercises?)?", self.text)
        return (int(stated.group(1)), int(stated.group(2) or 0)) if stated else (0, 0)

    def exercises(self):
        return [(number, stars, int(minutes)) for number, stars, minutes in EXERCISE.findall(self.text)]

    @cached_property
    def sizes(self):
        """What is measured, the set-up cell left out. Exercises have minutes of their own."""
        words = [word_count(cell.source) for cell in self.markdown]
        lines = [line_count(cell.source) for cell in self.code[1:]]
        apart = re.findall(r"^#+ +(.+)$", self.source("Exercises", "markdown"), re.MULTILINE)
        minutes = sum(time for heading, time in self.minutes.items() if heading not in apart)
        return {
            "cells": len(self.cells) - 1,
            "words": sum(words),
            "lines of code": sum(lines),
            "words in the longest cell": max(words),
            "lines in the longest cell": max(lines, default=0),
            "exercises": len(self.exercises()),
            "minutes of reading": round(minutes),
            "minutes of exercises": sum(minutes for _, _, minutes in self.exercises()),
        }


@cache
def stored_pages():
    return [Page(path) for path in all_pages()]


if __name__ == "__main__":
    for page in [Page(Path(name)) for name in sys.argv[1:]] or stored_pages():
        of = {what: f" of {most}" for what, most in OTHER_SIZES.get(page.name, AT_MOST).items()}
        sizes = ", ".join(f"{value}{of.get(what, '')} {what}" for what, value in page.sizes.items())
        print(f"{page.name}: {sizes}, {{}} + {{}} stated".format(*page.stated_minutes()))

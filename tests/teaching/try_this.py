"""The answers to the prompts **Try this** of a page, as TEACHING.md gives them, taken apart for tests.

A test does what a prompt says and claims, phrase by phrase, what the answer says of it. Phrases are made of
what the explorer shows: a number in TEACHING.md that is wrong, or that nobody measures, fails.
"""

import json
import re
from pathlib import Path

import mha_helpers
from mha_helpers.style import number

ROOT = Path(__file__).resolve().parents[2]
GUIDE = (ROOT / "TEACHING.md").read_text(encoding="utf-8")
PAGES = {path.name[:2]: path for path in sorted((ROOT / "notebooks").rglob("[0-9][0-9]_*.ipynb"))}
PROMPT = re.compile(r"\*\*Try this (\d)\.\*\* (.+?)(?=\n\n|\Z)", re.DOTALL)
EXPLORER = re.compile(r"^(?:explorer = )?(\w+_explorer)\(\)$", re.MULTILINE)


def notes(page):
    """Name of a speaker note -> its text, in the order of TEACHING.md."""
    section = re.search(rf"^### Page {page}\n(.*?)(?=^##)", GUIDE, re.MULTILINE | re.DOTALL).group(1)
    return dict(re.findall(r"^- \*\*(.+?)\*\*:? ?(.+)$", section, re.MULTILINE))


def sources(page, kind):
    """All cells of a kind, as one text."""
    cells = json.loads(PAGES[page].read_text(encoding="utf-8"))["cells"]
    return "\n\n".join("".join(cell["source"]) for cell in cells if cell["cell_type"] == kind)


def prompts(page):
    """Number of a prompt -> what it asks, as the notebook has it."""
    return {int(prompt): asks for prompt, asks in PROMPT.findall(sources(page, "markdown"))}


def two(value):
    """Write a number as the explorers do, with both decimals."""
    return number(value, trim=False)


def masked(state):
    """Count the masked cells of a state."""
    return f"{int((~state['mask']).sum())} of {state['mask'].numel()}"


class Answers:
    """The explorer of a page as the page opens it, and of the answers what is not yet claimed."""

    def __init__(self, page):
        self.page, self.prompts, self.prompt = page, prompts(page), None
        # "1: by 24 … 2, with 8 heads: …" -> {1: "by 24 …", 2: "with 8 heads: …"}
        parts = re.split(r"(?:^|(?<=[.)] ))(\d)[:,] ", notes(page)["Try this"])[1:]
        self.left = dict(zip(map(int, parts[::2]), parts[1::2], strict=True))
        assert set(self.left) <= set(self.prompts), f"page {page} answers a prompt that is not there"
        (explorer,) = EXPLORER.findall(sources(page, "code"))
        self.panel = getattr(mha_helpers, explorer)()

    def do(self, prompt, asked, **controls):
        """Move controls, one after the other, as a prompt asks, which must still say so; return the state."""
        assert asked in self.prompts[prompt], f"page {self.page}, prompt {prompt} does not ask: {asked}"
        self.prompt = prompt
        return self.now(**controls)

    def now(self, **controls):
        """Move more controls for the same prompt."""
        for name, value in controls.items():
            self.panel.controls[name].value = value
        assert self.panel.message() == ""
        return self.panel.state()

    def say(self, *phrases):
        """Claim phrases of the answer to this prompt."""
        for phrase in phrases:
            left = self.left[self.prompt]
            assert phrase in left, f"page {self.page}, {self.prompt}: measured “{phrase}”, not in “{left}”"
            self.left[self.prompt] = left.replace(phrase, "…", 1)

    def nothing_left(self):
        """Fail for a number that no phrase has claimed."""
        for prompt, left in self.left.items():
            assert not re.search(r"\d", left), f"page {self.page}, {prompt}: not measured: “{left}”"

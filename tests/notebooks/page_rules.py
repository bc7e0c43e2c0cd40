"""What a page of the course promises its reader: sections, pictures, exercises, links.

Each rule takes a `Page` and returns its faults as sentences; no fault, an empty list.
"""

from __future__ import annotations

import re

from notebook_page import CORE, EXPLORERS, SECTIONS, Page

EXERCISE = re.compile(r"^### Exercise (\d+)\.(\d+) (★{1,3}) · (\d+) min · \S.*$", re.MULTILINE)
SUMMARY = "Open the answer after you have said yours"
HOW_TO_ANSWER = (
    "Replace the three dots, run the cell, and read what the check says. Stuck? In the cell below it,"
    " remove the `#` in front of `hint`: each call goes one step further."
)


def opens_with_a_question(page: Page) -> list[str]:
    """First cell: `# …?`, then three lines: able to, need, minutes (a badge line does not count)."""
    first = page.cells[0]
    lines = [line.strip() for line in first.source.splitlines() if line.strip()]
    lines = [line for line in lines if not line.startswith("[![")]
    if first.cell_type != "markdown" or not lines or not re.match(r"# .+\?$", lines[0]):
        return ["the first cell must begin with `# ` and a title that is a question, ending in `?`"]
    faults = []
    if [level for level, _ in page.headings].count(1) != 1:
        faults.append("there must be exactly one `# ` heading, the title")
    if len(lines) != 4:
        faults.append(f"below the title stand {len(lines) - 1} lines; it must be three: able to, need, time")
    for place, pattern in enumerate((r"able to", r"\bneed", r"\d+ ?(–|-|to)? ?\d* minutes"), start=1):
        if place < len(lines) and not re.search(pattern, lines[place], re.IGNORECASE):
            faults.append(f"line {place} below the title must match {pattern!r}: {lines[place][:60]!r}")
    return faults


def has_the_sections_in_order(page: Page) -> list[str]:
    found = [words for level, words in page.headings if level == 2]
    if found == SECTIONS:
        return []
    missing = [words for words in SECTIONS if words not in found]
    extra = [words for words in found if words not in SECTIONS]
    return [f"the `## ` headings are not the ten in order; missing {missing}, unknown {extra}, found {found}"]


def sections_are_at_the_start_of_a_cell(page: Page) -> list[str]:
    """So that a person jumping by headings lands on the section, and ids follow sections."""
    return [
        f"`## {words}` must open its own cell"
        for words in SECTIONS
        if (2, words) in page.headings and words not in page.sections
    ]


def predict_asks_before_it_tells(page: Page) -> list[str]:
    text = page.source("Predict", "markdown")
    faults = []
    if "<details>" not in text:
        faults.append("Predict needs its answer behind <details>")
    if "?" not in text.split("<details>")[0]:
        faults.append("Predict needs a question, with its `?`, before the answer")
    return faults


def details_render(page: Page) -> list[str]:
    """Markdown inside <details> renders only after a blank line, and only if the block is closed."""
    faults = []
    for cell in page.markdown:
        opened = cell.source.count("<details>")
        if opened != cell.source.count("</details>"):
            faults.append(f"{cell.id}: <details> and </details> do not pair up in one cell")
        if len(re.findall(r"<summary>[^\n]*</summary>[ \t]*\n[ \t]*\n", cell.source)) != opened:
            faults.append(
                f"{cell.id}: each <details> needs <summary>…</summary> on one line, then a blank line"
            )
    return faults


def sections_run_code(page: Page) -> list[str]:
    runs = ("Where we are", "By hand", "In PyTorch", "See it", "Play", "What goes wrong", "Exercises")
    return [f"{section} has no stored output" for section in runs if not page.outputs(section)]


def shows_pictures(page: Page) -> list[str]:
    return [
        f"{section} shows no picture"
        for section in ("Where we are", "See it", "Play")
        if not page.pictures(section)
    ]


def says_that_both_ways_agree(page: Page) -> list[str]:
    said = "\n".join(output.get("text", "") for _, output in page.outputs("In PyTorch"))
    agrees = re.search(r"\bTrue\b|\bagree|\bsame\b", said)
    return [] if agrees else ["In PyTorch must print that the loops and the expression agree (`True`)"]


def plays_with_its_explorer(page: Page) -> list[str]:
    name = EXPLORERS.get(page.number, "…_explorer")
    faults = []
    if not re.search(rf"\b{name}\(", page.source("Play", "code")):
        faults.append(f"Play must call {name}(…)")
    cells = page.sections.get("Play", [])
    shown = [i for i, cell in enumerate(cells) if cell.cell_type == "code" and f"{name}(" in cell.source]
    after = "\n".join(c.source for c in cells[min(shown, default=0) :] if c.cell_type == "markdown")
    prompts = len(re.findall(r"try this", after, re.IGNORECASE))
    if prompts < 2:
        faults.append(f"after the explorer, Play has {prompts} “Try this” prompts; it needs two or three")
    return faults


def has_three_exercises(page: Page) -> list[str]:
    """Each `### Exercise N.k ★ · M min · title` has a check, a hint and a solution of one name."""
    cells = page.sections.get("Exercises", [])
    faults, found, names = [], [], []
    for i, cell in enumerate(cells):
        heads = re.findall(r"^### .*$", cell.source, re.MULTILINE) if cell.cell_type == "markdown" else []
        for head in heads:
            match = EXERCISE.match(head)
            if not match:
                faults.append(f"not of the form `### Exercise N.k ★ · M min · title`: {head!r}")
                continue
            found.append((int(match.group(1)), int(match.group(2))))
            rest = cells[i + 1 :]
            ends = [k for k, c in enumerate(rest) if c.cell_type == "markdown" and "### " in c.source]
            code = "\n".join(c.source for c in rest[: min(ends, default=len(rest))] if c.cell_type == "code")
            checked = re.search(r"^exercises\.(\w+)\.check\(", code, re.MULTILINE)
            if not checked:
                faults.append(f"{head!r}: no line `exercises.….check(…)`")
                continue
            names.append(checked.group(1))
            for offer in ("hint", "solution"):
                if not re.search(rf"^# ?exercises\.{checked.group(1)}\.{offer}\(", code, re.MULTILINE):
                    faults.append(f"{head!r}: no commented line `# exercises.{checked.group(1)}.{offer}()`")
    expected = [(int(page.number), k) for k in range(1, len(found) + 1)]
    if found != expected:
        faults.append(f"the exercises are numbered {found}, expected {expected}")
    if len(found) < 3:
        faults.append(f"{len(found)} exercises; at least three")
    if len(set(names)) != len(names):
        faults.append(f"two exercises call the same check: {names}")
    return faults


def its_minutes_add_up(page: Page) -> list[str]:
    """What the Time line gives to the exercises, after the minutes for reading, is the sum of their headings."""
    text = "\n".join(cell.source for cell in page.markdown)
    time = re.search(r"^\*\*Time.*? minutes(.*)$", text, re.MULTILINE)
    stated = sum(int(number) for number in re.findall(r"\d+", time.group(1))) if time else 0
    minutes = sum(int(match.group(4)) for match in EXERCISE.finditer(text))
    if stated == minutes:
        return []
    return [f"the Time line gives {stated} minutes to the exercises; their headings say {minutes}"]


def has_a_ledger(page: Page) -> list[str]:
    rows = [line for line in page.source("Shape ledger", "markdown").splitlines() if line.startswith("|")]
    return [] if len(rows) >= 3 else ["the shape ledger needs a Markdown table with a heading and rows"]


def recap_names_its_source(page: Page) -> list[str]:
    text = page.source("Recap", "markdown")
    faults = []
    if not re.search(r"(section|§) ?\d", text, re.IGNORECASE) or not re.search(r"\b(19|20)\d\d\b", text):
        faults.append("Recap must name the paper with its year and the section (`section 3.2.1`)")
    if page.name in CORE[:-1]:
        following = CORE[CORE.index(page.name) + 1]
        if f"]({following}.ipynb)" not in text:
            faults.append(f"Recap must link the next notebook: [..]({following}.ipynb)")
    return faults


def its_signposts_read_alike(page: Page) -> list[str]:
    """What stands on every page says the same on every page: who knows one finds the way on all."""
    faults = []
    if set(re.findall(r"<summary>(.*?)</summary>", page.source("Predict", "markdown"))) != {SUMMARY}:
        faults.append(f"Predict: the summary of its answer must be “{SUMMARY}”")
    if HOW_TO_ANSWER not in page.source("Exercises", "markdown"):
        faults.append(f"Exercises must open with “{HOW_TO_ANSWER}”")
    for found in re.findall(
        r"\*\*[^*\n]*catch it.*", page.source("What goes wrong", "markdown"), re.IGNORECASE
    ):
        if not re.match(r"\*\*How to catch it:\*\* [^A-Z]", found):
            faults.append(f"write **How to catch it:** and go on in lower case: {found[:40]!r}")
    if "\n**Where this comes from:** " not in page.source("Recap", "markdown"):
        faults.append("Recap must give its sources after **Where this comes from:**")
    if page.name in CORE and not page.markdown[-1].source.startswith("**Next:** "):
        faults.append("the last cell must begin with **Next:**")
    return faults


def start_page_leads_on(page: Page) -> list[str]:
    """Notebook 00: it shows the whole thing and links each of the nine."""
    faults = []
    if not re.search(r"\battention_explorer\(", "\n".join(cell.source for cell in page.code)):
        faults.append("the start page must show attention_explorer()")
    if not page.pictures():
        faults.append("the start page shows no picture")
    text = "\n".join(cell.source for cell in page.markdown)
    faults += [f"no link to {name}.ipynb" for name in CORE[1:] if f"]({name}.ipynb)" not in text]
    if len(re.findall(r"try this", text, re.IGNORECASE)) < 2:
        faults.append("the start page needs at least two “Try this” prompts")
    return faults


START_RULES = [opens_with_a_question, details_render, start_page_leads_on]
STEP_RULES = [
    opens_with_a_question,
    has_the_sections_in_order,
    sections_are_at_the_start_of_a_cell,
    predict_asks_before_it_tells,
    details_render,
    sections_run_code,
    shows_pictures,
    says_that_both_ways_agree,
    plays_with_its_explorer,
    has_three_exercises,
    its_minutes_add_up,
    has_a_ledger,
    recap_names_its_source,
    its_signposts_read_alike,
]

"""What the checks told a class: read the learners' saved notebooks and write one page, dist/collect.html.

    python3 teaching/collect.py FOLDER  # a folder or a ZIP, as a learning platform or a hub's homes give them

A learner is a folder in FOLDER, or a notebook that lies in it by itself; their names are all that is known of
them. What a check said is read from the outputs that the notebooks store, so no code of a learner runs here.
Needs nothing but Python. Nothing leaves the machine.
"""

import html
import io
import json
import re
import sys
import zipfile
from collections import Counter, defaultdict, namedtuple
from pathlib import Path

PAGE = Path(__file__).resolve().parent.parent / "dist" / "collect.html"
# "### Exercise 3.1 ★ · 3 min · Title"; the pages of the folder deeper/ have D4.1
HEADING = re.compile(r"^#+ Exercise (D?\d+\.\d+)\b.*?([^·\n]+)$", re.MULTILINE)
SAID = re.compile(r"^Exercise (D?\d+\.\d+): (correct|not yet)\. (.*)$", re.MULTILINE)  # what `check` prints
NUMBER = re.compile(r"\d+(?:\.\d+)?")
# What a check says of the other parts of an answer.
OTHER_PARTS = re.compile(r"^[“…][^:]*[”…]: right\. | Not yet right either: [^:]*\.$")
Answer = namedtuple("Answer", "correct sentence")  # what a check said last of a learner's exercise
MARKS = {True: ("✓", "correct"), False: ("✗", "not yet"), None: ("–", "not tried")}
HTML = """<!doctype html><html lang="en"><meta charset="utf-8">
<meta name="viewport" content="width=device-width"><title>What the checks said</title><style>
body {{ font: 15px/1.45 sans-serif; margin: 2em auto; max-width: 70em; padding: 0 1em; color: #111 }}
.wide {{ overflow-x: auto }} table {{ border-collapse: collapse }} h3 {{ margin-bottom: 0 }}
th, td {{ border: 1px solid #ccc; padding: 2px 7px; text-align: left; font-weight: normal }}
thead th {{ vertical-align: bottom }} thead .learner {{ writing-mode: vertical-rl; rotate: 180deg }}
td {{ text-align: center }} .correct {{ background: #d7efda }} .not-yet {{ background: #fbdcc4 }}
li b {{ display: inline-block; min-width: 2.5em }} .who {{ color: #555 }}
</style><h1>What the checks said</h1>
<p>{summary} ✓ correct · ✗ not yet · – not tried. Point at a ✗ to read what the check said.</p>
<div class="wide"><table><thead><tr><th>exercise</th>{learners}<th>✓</th><th>✗</th><th>–</th></tr></thead>
<tbody>{rows}</tbody></table></div>{untried}
<h2>What they were told</h2>{sentences}{passed_over}</html>
"""


class Class:
    """What a class was told: ``answers[learner][number]`` and ``titles[number]``; what is no notebook."""

    def __init__(self, path):
        """``path`` is a folder or a ZIP with a folder or a file for each learner."""
        self.answers, self.titles, self.passed_over = defaultdict(dict), {}, []
        for part in (path if path.is_dir() else unpacked(path)).iterdir():
            self._add(part, part.name, part.name if part.is_dir() else part.stem)
        self.answers = dict(sorted(self.answers.items(), key=lambda pair: pair[0].casefold()))
        self.passed_over.sort()

    def _add(self, part, name, learner, zipped=False):
        """Read a file of a learner, or all that a folder or a ZIP holds."""
        if part.name.startswith((".", "__")) or (isinstance(part, Path) and part.is_symlink()):
            return  # checkpoints, caches, and what lies elsewhere
        try:
            if part.is_file() and part.suffix == ".zip" and not zipped:  # of a folder 3.11.2 knows no suffix
                part, zipped = unpacked(io.BytesIO(part.read_bytes())), True
            if part.is_dir():
                for inside in sorted(part.iterdir(), key=lambda inside: inside.name):
                    self._add(inside, f"{name}/{inside.name}", learner, zipped)
            elif part.suffix == ".ipynb":
                self._read(json.loads(part.read_bytes()), learner)
            else:
                self.passed_over.append(name)
        except Exception:  # locked, broken, or of another form: whatever it is, the others are read
            self.passed_over.append(name)

    def _read(self, notebook, learner):
        """Read the exercises of a notebook, and the answers to those that were tried."""
        answers, above = [], None
        for cell in notebook["cells"]:
            source = "".join(cell["source"])  # stored whole or in lines
            if cell["cell_type"] == "markdown":
                for above, title in HEADING.findall(source):
                    self.titles[above] = title.strip()
                continue
            printed = ""
            for output in cell.get("outputs", []):
                if output["output_type"] == "stream":
                    printed += "".join(output["text"])
                elif output["output_type"] == "error" and above and ".check(" in source:
                    stopped = f"The cell stops with a {output['ename']} before the check."
                    answers.append((above, Answer(False, stopped)))
            said = SAID.findall(printed)
            answers += [(number, Answer(status == "correct", sentence)) for number, status, sentence in said]
        known = self.answers[learner]
        for number, answer in answers:  # solved once, on whichever page, is solved
            if number not in known or not known[number].correct:
                known[number] = answer

    def numbers(self):
        """The numbers of all exercises, in the order of the course."""
        numbers = set(self.titles).union(*self.answers.values())
        return sorted(numbers, key=lambda number: ("D" in number, *map(int, number.lstrip("D").split("."))))

    def title(self, number):
        return f"{number} {html.escape(self.titles.get(number, ''))}"


def unpacked(file):
    """Return a ZIP as a folder; where all of it is one folder that was packed, that."""
    folder = zipfile.Path(zipfile.ZipFile(file))
    parts = [part for part in folder.iterdir() if part.name != "__MACOSX"]
    return parts[0] if len(parts) == 1 and parts[0].is_dir() else folder


# --- writing ------------------------------------------------------------------------------------------------


def count_of(learners):
    return f"{len(learners)} learner{'s' * (len(learners) != 1)}"


def row_of(number, the_class):
    """One exercise in the table: a mark for each learner, and how many of each."""
    cells, counts = [], Counter()
    for answers in the_class.answers.values():
        correct, sentence = answers.get(number, (None, ""))
        mark, label = MARKS[correct]
        title = f' title="{html.escape(sentence)}"' if correct is False else ""
        cells.append(f'<td class="{label.replace(" ", "-")}" aria-label="{label}"{title}>{mark}</td>')
        counts[correct] += 1
    cells += [f"<td>{counts[status]}</td>" for status in MARKS]
    return f"<tr><th>{the_class.title(number)}</th>{''.join(cells)}</tr>"


def sentences_of(number, the_class):
    """The sentences that wrong answers to an exercise got, the most frequent first, and who got them.

    Two that differ in numbers only, or in what they say of other parts, name the same wrong idea.
    """
    ideas = defaultdict(list)
    for learner, answers in the_class.answers.items():
        correct, sentence = answers.get(number, (None, ""))
        if correct is False:
            sentence = OTHER_PARTS.sub("", sentence)
            ideas[NUMBER.sub("…", sentence)].append((learner, sentence))
    items = ""
    for idea in sorted(ideas.values(), key=len, reverse=True):
        learners, sentences = zip(*idea, strict=True)
        sentence = html.escape(Counter(sentences).most_common(1)[0][0])
        who = f'<span class="who">({html.escape(", ".join(learners))})</span>'
        items += f"<li><b>{len(idea)} ×</b>{sentence} {who}</li>"
    return f"<h3>{the_class.title(number)}</h3><ul>{items}</ul>" if items else ""


def page(the_class):
    """Return the page as HTML."""
    answered = set().union(*the_class.answers.values())
    tried = [number for number in the_class.numbers() if number in answered]
    untried = ", ".join(number for number in the_class.numbers() if number not in answered)
    files = "".join(f"<li>{html.escape(name)}</li>" for name in the_class.passed_over)
    return HTML.format(
        summary=f"{count_of(the_class.answers)}. Exercises that somebody tried: {len(tried)}.",
        learners="".join(f'<th class="learner">{html.escape(name)}</th>' for name in the_class.answers),
        rows="".join(row_of(number, the_class) for number in tried),
        untried=f"<p>Nobody tried {untried}.</p>" if untried else "",
        sentences="".join(sentences_of(number, the_class) for number in tried) or "<p>Nothing was wrong.</p>",
        passed_over=f"<h2>Passed over, being no notebooks</h2><ul>{files}</ul>" if files else "",
    )


def main(arguments):
    if len(arguments) != 1:
        print("Say where the notebooks are: python3 course.py collect FOLDER, a folder or a ZIP.")
        return 2
    path = Path(arguments[0])
    if not (path.is_dir() or zipfile.is_zipfile(path)):
        print(f"{path} is neither a folder nor a ZIP.")
        return 2
    the_class = Class(path)
    for name in the_class.passed_over:
        print(f"Passed over, being no notebook: {name}")
    if not the_class.answers:
        print(f"There is no notebook in {path}, or none that you may read.")
        return 1
    PAGE.parent.mkdir(exist_ok=True)
    PAGE.write_text(page(the_class), encoding="utf-8")
    print(f"{count_of(the_class.answers)}: open {PAGE} in a browser.")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

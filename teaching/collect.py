"""What the checks told a class: read the learners' saved notebooks and write one page, dist/collect.html.

    python3 teaching/collect.py FOLDER  # a folder or a ZIP, as a learning platform or a hub's homes give them
    python3 teaching/collect.py --solved FOLDER  # of one learner: print which exercises are solved

A learner is a folder in FOLDER, or a notebook that lies in it by itself; their names are all that is known of
them. What a check said is read from the outputs that the notebooks store, so no code of a learner runs here.
It is believed, too: whoever edits a file can store "correct". Needs nothing but Python. Nothing leaves the
machine.
"""

import csv
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
HEADING = re.compile(r"^#+ Exercise (D?\d{1,2}\.\d{1,2})\b(.*)$", re.MULTILINE)
# What `check` prints, also behind what the learner's own code has printed on the line.
SAID = re.compile(r"Exercise (D?\d{1,2}\.\d{1,2}): (correct|not yet)\. (.*)$", re.MULTILINE)
# What Canvas ("doejane_LATE_7_81_03.ipynb", "anon_x9_81_03.ipynb") and Moodle put in front of a file's name.
UPLOADED = re.compile(r"(?:LATE_)?(anon_[^_]+|.+?_(?:LATE_)?\d+)_(?:\d+|assignsubmission_file)_")
MOST = 100_000_000  # bytes of a file: a small ZIP can hold far more
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
<h2>What they were told</h2>{sentences}{skipped}</html>
"""
SKIPPED = "<h2>Skipped, because they are not notebooks or are too large</h2><ul>{}</ul>"


class Class:
    """What a class was told: ``answers[learner][number]`` and ``titles[number]``; what is no notebook."""

    def __init__(self, path, learner=None):
        """``path`` is a folder or a ZIP with a folder or a file for each learner, or all of one learner."""
        self.answers, self.titles, self.skipped = defaultdict(dict), {}, []
        for part in (path if path.is_dir() else unpacked(path)).iterdir():
            self._add(part, part.name, learner or learner_of(part))
        self.answers = dict(sorted(self.answers.items(), key=lambda pair: pair[0].casefold()))
        self.skipped.sort()

    def _add(self, part, name, learner, zipped=False):
        """Read a file of a learner, or all that a folder or a ZIP holds."""
        if part.name.startswith((".", "__")) or (isinstance(part, Path) and part.is_symlink()):
            return  # checkpoints, caches, and what lies elsewhere
        try:
            kind = part.is_file() and part.suffix.lower()  # of a folder in a ZIP 3.11.2 knows no suffix
            if kind == ".zip" and not zipped:
                part, zipped = unpacked(io.BytesIO(content_of(part))), True
            if part.is_dir():
                for inside in sorted(part.iterdir(), key=lambda inside: inside.name):
                    self._add(inside, f"{name}/{inside.name}", learner, zipped)
            elif kind == ".ipynb":
                self._read(json.loads(content_of(part)), learner)
            else:
                self.skipped.append(name)
        except Exception:  # locked, broken, or of another form: whatever it is, the others are read
            self.skipped.append(name)

    def _read(self, notebook, learner):
        """Read the exercises of a notebook, and the answers to those that were tried."""
        answers, above = [], None
        for cell in notebook["cells"]:
            source = "".join(cell["source"])  # stored whole or in lines
            if cell["cell_type"] == "markdown":
                for above, rest in HEADING.findall(source):
                    self.titles[above] = rest.split("·")[-1].strip()
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


def content_of(part):
    with part.open("rb") as file:
        content = file.read(MOST + 1)
    if len(content) > MOST:
        raise ValueError(f"more than {MOST} bytes")
    return content


def unpacked(file):
    """Return a ZIP as a folder; where all of it is one folder that was packed, that."""
    folder = zipfile.Path(zipfile.ZipFile(file))
    parts = [part for part in folder.iterdir() if part.name != "__MACOSX"]
    return parts[0] if len(parts) == 1 and parts[0].is_dir() else folder


def learner_of(part):
    """Return who handed in a folder or a file; of one that a platform renamed, what it put in front."""
    uploaded = UPLOADED.match(part.name)
    own = part.name if part.is_dir() else part.stem
    return uploaded[1].replace("_LATE_", "_") if uploaded else own


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
    answered = set().union(*the_class.answers.values())
    tried = [number for number in the_class.numbers() if number in answered]
    untried = ", ".join(number for number in the_class.numbers() if number not in answered)
    files = "".join(f"<li>{html.escape(name)}</li>" for name in the_class.skipped)
    return HTML.format(
        summary=f"{count_of(the_class.answers)}. Exercises that somebody tried: {len(tried)}.",
        learners="".join(f'<th class="learner">{html.escape(name)}</th>' for name in the_class.answers),
        rows="".join(row_of(number, the_class) for number in tried),
        untried=f"<p>Nobody tried {untried}.</p>" if untried else "",
        sentences="".join(sentences_of(number, the_class) for number in tried) or "<p>Nothing was wrong.</p>",
        skipped=SKIPPED.format(files) if files else "",
    )


def rows_of(the_class):
    """Return the same as rows for a spreadsheet: a learner each, below the numbers of the exercises."""
    yield ["learner", *the_class.numbers()]
    for learner, answers in the_class.answers.items():
        said = [MARKS[answers.get(number, (None,))[0]][1] for number in the_class.numbers()]
        yield ["'" * learner.startswith(("=", "+", "-", "@")) + learner, *said]  # no formula


def print_solved(path):
    mine = Class(path, learner="mine")
    correct = {number: answer.correct for number, answer in mine.answers["mine"].items()}
    for number in mine.numbers():
        print(f"{MARKS[correct.get(number)][0]} {number:5} {mine.titles.get(number, '')}")
    print(f"Solved: {sum(correct.values())} of {len(mine.numbers())}. Only what is saved is counted.")


def main(arguments):
    solved = arguments[:1] == ["--solved"]
    if len(arguments) != 1 + solved:
        print("Say where the notebooks are: python3 course.py collect FOLDER, a folder or a ZIP.")
        return 2
    path = Path(arguments[-1])
    if not (path.is_dir() or (path.is_file() and zipfile.is_zipfile(path))):
        print(f"{path} is neither a folder nor a ZIP.")
        return 2
    if solved:
        return print_solved(path)
    the_class = Class(path)
    for name in the_class.skipped:
        print(f"Skipped, because it is not a notebook or is too large: {name}")
    if not the_class.answers:
        print(f"There is no notebook in {path}, or none that you may read.")
        return 1
    try:
        PAGE.parent.mkdir(exist_ok=True)
        PAGE.write_text(page(the_class), encoding="utf-8")
        with PAGE.with_suffix(".csv").open("w", encoding="utf-8-sig", newline="") as table:
            csv.writer(table).writerows(rows_of(the_class))
    except OSError as error:
        print(f"{error.filename} cannot be written: {error.strerror}. Is it open elsewhere, or not yours?")
        return 1
    print(f"{count_of(the_class.answers)}: open {PAGE} in a browser; collect.csv is the same table.")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

"""What the checks told a class: read the learners' saved notebooks and write one page, dist/collect.html.

    python -m tools.collect FOLDER      # a folder or a ZIP, as a learning platform or a hub's homes give them

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
from collections import Counter, defaultdict
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

PAGE = Path(__file__).resolve().parent.parent / "dist" / "collect.html"
# "### Exercise 3.1 ★ · 3 min · Title"; the pages of the folder deeper/ have D4.1
HEADING = re.compile(r"^#+ Exercise (D?\d+\.\d+)\b.*?([^·\n]+)$", re.MULTILINE)
SAID = re.compile(r"^Exercise (D?\d+\.\d+): (correct|not yet)\. (.*)$", re.MULTILINE)  # what `check` prints
NUMBER = re.compile(r"\d+(?:\.\d+)?")
# What a check says of the other parts of an answer.
OTHER_PARTS = re.compile(r"^[“…][^:]*[”…]: right\. | Not yet right either: [^:]*\.$")
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


@dataclass(frozen=True)
class Answer:
    """What a check said last of one learner's exercise: whether it is correct, and the sentence."""

    correct: bool
    sentence: str


class Class:
    """What a class was told: ``answers[learner][number]``; and what was met on the way."""

    def __init__(self):
        self.answers = defaultdict(dict)
        self.titles = {}  # number of an exercise -> its title
        self.passed_over = []  # files that are no notebooks

    def add(self, learner, name, content):
        """Read one file of a learner."""
        try:
            titles, answers = read(json.loads(content))
        except (ValueError, KeyError, TypeError, AttributeError):
            self.passed_over.append(name)
            return
        self.titles.update(titles)
        by_number = self.answers[learner]
        for number, answer in answers:  # solved once, on whichever page, is solved
            if number not in by_number or not by_number[number].correct:
                by_number[number] = answer

    def numbers(self):
        """The numbers of all exercises, in the order of the course."""
        numbers = set(self.titles).union(*self.answers.values())
        return sorted(numbers, key=lambda number: ("D" in number, *map(int, number.lstrip("D").split("."))))

    def title(self, number):
        return f"{number} {html.escape(self.titles.get(number, ''))}"

    def tried(self, number):
        """Return learner -> answer, of those who tried an exercise."""
        return {learner: answers[number] for learner, answers in self.answers.items() if number in answers}


# --- reading ------------------------------------------------------------------------------------------------


def read(notebook):
    """Return number -> title of a notebook's exercises, and (number, ``Answer``) of each that was tried."""
    titles, answers, above = {}, [], None
    for cell in notebook["cells"]:
        source = joined(cell["source"])
        if cell["cell_type"] == "markdown":
            for heading, title in HEADING.findall(source):
                titles[heading], above = title.strip(), heading
            continue
        outputs = cell.get("outputs", [])
        printed = "".join(joined(output["text"]) for output in outputs if output["output_type"] == "stream")
        said = SAID.findall(printed)
        answers += [(number, Answer(status == "correct", sentence)) for number, status, sentence in said]
        errors = [output["ename"] for output in outputs if output["output_type"] == "error"]
        if errors and above and ".check(" in source:
            answers.append((above, Answer(False, f"The cell stops with a {errors[0]} before the check.")))
    return titles, answers


def joined(text):
    """A text of a notebook, which stores it whole or in lines."""
    return text if isinstance(text, str) else "".join(text)


def files_of(folder):
    """Yield the name of every file, relative to the folder, and a function that reads it."""
    for file in sorted(folder.rglob("*")):
        if file.is_file():
            yield PurePosixPath(file.relative_to(folder).as_posix()), file.read_bytes


def files_of_zip(content):
    """The same of a ZIP; where all of it is one folder that was packed, relative to that."""
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        entries = [entry for entry in archive.infolist() if not entry.is_dir()]
        names = [PurePosixPath(entry.filename) for entry in entries]
        tops = {name.parts[0] for name in names if name.parts[0] != "__MACOSX"}
        packed = len(tops) == 1 and all(len(name.parts) > 1 for name in names)
        for entry, name in zip(entries, names, strict=True):
            yield PurePosixPath(*name.parts[packed:]), lambda entry=entry: archive.read(entry)


def add_files(the_class, files, learner=None, zip_name=""):
    """Read what a folder or a ZIP holds, all of it of one learner or each folder in it of another."""
    for name, read_file in files:
        if any(part.startswith((".", "__")) for part in name.parts):  # checkpoints, caches
            continue
        whose = learner or (name.parts[0] if len(name.parts) > 1 else name.stem)
        full_name = f"{zip_name}{name}"
        try:
            if name.suffix == ".ipynb":
                the_class.add(whose, full_name, read_file())
            elif name.suffix == ".zip" and not zip_name:
                add_files(the_class, files_of_zip(read_file()), whose, f"{name}/")
            else:
                the_class.passed_over.append(full_name)
        except (OSError, zipfile.BadZipFile, RuntimeError, NotImplementedError):  # not to be read, or locked
            the_class.passed_over.append(full_name)


def collect(path):
    """Return the ``Class`` of a folder or a ZIP."""
    the_class = Class()
    add_files(the_class, files_of(path) if path.is_dir() else files_of_zip(path.read_bytes()))
    the_class.answers = dict(sorted(the_class.answers.items(), key=lambda pair: pair[0].casefold()))
    the_class.passed_over.sort()
    return the_class


# --- writing ------------------------------------------------------------------------------------------------


def count_of(learners):
    return f"{len(learners)} learner{'s' * (len(learners) != 1)}"


def row_of(number, the_class):
    """One exercise in the table: a mark for each learner, and how many of each."""
    tried = the_class.tried(number)
    cells = []
    for learner in the_class.answers:
        answer = tried.get(learner)
        if answer is None:
            cells.append('<td aria-label="not tried">–</td>')
        elif answer.correct:
            cells.append('<td class="correct" aria-label="correct">✓</td>')
        else:
            sentence = html.escape(answer.sentence)
            cells.append(f'<td class="not-yet" aria-label="not yet" title="{sentence}">✗</td>')
    correct = sum(answer.correct for answer in tried.values())
    counts = (correct, len(tried) - correct, len(the_class.answers) - len(tried))
    cells += [f"<td>{count}</td>" for count in counts]
    return f"<tr><th>{the_class.title(number)}</th>{''.join(cells)}</tr>"


def sentences_of(number, the_class):
    """The sentences that wrong answers to an exercise got, the most frequent first, and who got them.

    Two that differ in numbers only, or in what they say of other parts, name the same wrong idea.
    """
    who, examples = defaultdict(list), defaultdict(Counter)
    for learner, answer in the_class.tried(number).items():
        if not answer.correct:
            sentence = OTHER_PARTS.sub("", answer.sentence)
            idea = NUMBER.sub("…", sentence)
            who[idea].append(learner)
            examples[idea][sentence] += 1
    if not who:
        return ""
    items = []
    for idea, learners in sorted(who.items(), key=lambda pair: -len(pair[1])):
        sentence = html.escape(examples[idea].most_common(1)[0][0])
        names = html.escape(", ".join(learners))
        items.append(f'<li><b>{len(learners)} ×</b>{sentence} <span class="who">({names})</span></li>')
    return f"<h3>{the_class.title(number)}</h3><ul>{''.join(items)}</ul>"


def page(the_class):
    """Return the page as HTML."""
    tried = [number for number in the_class.numbers() if the_class.tried(number)]
    untried = ", ".join(number for number in the_class.numbers() if number not in tried)
    files = "".join(f"<li>{html.escape(name)}</li>" for name in the_class.passed_over)
    learners = "".join(f'<th class="learner">{html.escape(name)}</th>' for name in the_class.answers)
    return HTML.format(
        summary=f"{count_of(the_class.answers)}. Exercises that somebody tried: {len(tried)}.",
        learners=learners,
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
    the_class = collect(path)
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

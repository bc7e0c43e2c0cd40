"""What people read, so that no passage changes unread: pages, what an exercise says, README, TEACHING, the papers.

Nothing computes prose, so a changed passage is read aloud before it is kept. `read.txt` holds a digest of each;
git shows what it was before.
"""

import functools
import hashlib
from pathlib import Path

import nbformat

from tests.exercises.verdicts import all_exercises
from tools.notebook import ROOT, all_pages, is_setup_cell
from tools.set_repository import BADGES


@functools.cache
def passages():
    """Return the passages of each file, by its name: of a notebook its cells, of a text its paragraphs; of an
    exercise what it says by itself.

    What `tools/set_repository.py` writes into them is left out.
    """
    texts = [ROOT / "README.md", ROOT / "TEACHING.md", *sorted((ROOT / "teaching").glob("*.md"))]
    read = {path.name: BADGES.sub("", path.read_text(encoding="utf-8")).split("\n\n") for path in texts}
    for path in all_pages():
        sources = [cell.source for cell in nbformat.read(path, as_version=4).cells]
        own = [BADGES.sub("", source) for source in sources if not is_setup_cell(source)]
        read[path.relative_to(ROOT / "notebooks").as_posix()] = own
    for name, exercise in all_exercises().items():
        comments = [line.partition("# ")[2] for line in exercise.solution_code.splitlines() if "# " in line]
        read[name] = [exercise.task, *exercise.hints, exercise.praise, *comments]
    return read


def files():
    return [Path(__file__).with_name("read.txt")]


def today(file):
    return {name: "\n".join(map(digest, parts)) for name, parts in passages().items()}


def digest(passage):
    return hashlib.sha256(passage.encode()).hexdigest()[:8]


def difference(name, before, now):
    new = [part for part in passages().get(name, []) if digest(part) not in before.split()]
    return "\n\n".join(new) or ("passages are gone, or stand in another order" if before != now else "")

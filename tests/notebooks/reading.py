"""What people read, so that no passage changes unread: the cells of all pages, README, TEACHING and the papers.

Nothing computes prose, so a changed passage is read aloud before it is kept:

    python -m tests.notebooks.reading    # prints what is new since it was read last, and keeps it

`read.json` holds a digest of each passage; git shows what it was before.
"""

import hashlib
import json
from pathlib import Path

import nbformat

from tools.notebook import ROOT, all_pages, is_setup_cell
from tools.set_repository import BADGES

KEPT = Path(__file__).with_name("read.json")


def passages():
    """Return the passages of each file, by its name: of a notebook its cells, of a text its paragraphs.

    What `tools/set_repository.py` writes into them is left out.
    """
    texts = [ROOT / "README.md", ROOT / "TEACHING.md", *sorted((ROOT / "teaching").glob("*.md"))]
    read = {path.name: BADGES.sub("", path.read_text(encoding="utf-8")).split("\n\n") for path in texts}
    for path in all_pages():
        sources = [cell.source for cell in nbformat.read(path, as_version=4).cells]
        own = [BADGES.sub("", source) for source in sources if not is_setup_cell(source)]
        read[path.relative_to(ROOT / "notebooks").as_posix()] = own
    return read


def digest(passage):
    return hashlib.sha256(passage.encode()).hexdigest()[:8]


def unread():
    """Return (file, passage) of all that was not kept as it is now; a passage that is gone is named, too."""
    kept, new = json.loads(KEPT.read_text(encoding="utf-8")), []
    for name, parts in passages().items():
        known = kept.get(name, [])
        changed = [(name, part) for part in parts if digest(part) not in known]
        if not changed and list(map(digest, parts)) != known:
            changed = [(name, "passages are gone, or stand in another order")]
        new += changed
    return new


if __name__ == "__main__":
    for name, passage in unread() if KEPT.exists() else []:
        print(f"{name}\n{passage}\n")
    digests = {name: list(map(digest, parts)) for name, parts in passages().items()}
    KEPT.write_text(json.dumps(digests, indent=0), encoding="utf-8")

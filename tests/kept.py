"""Look at what is drawn, said and written otherwise than it was, then keep it: nothing unseen is kept.

python -m tests.kept                  # names each difference and shows it: drawings in dist/kept, before | after
python -m tests.kept drawings/p05     # the same of those files that have this in their path
python -m tests.kept --keep           # once you have looked: keeps what was shown, and nothing else
"""

import shutil
import sys

from tests.core import judged
from tests.entries import entries, written
from tests.exercises import verdicts
from tests.notebooks import reading
from tests.pages import drawings
from tools.notebook import ROOT

# Each has ``files()``; ``today(file)``, its entries as they are now; ``difference(name, before, now)``, in words.
KINDS = (drawings, verdicts, reading, judged)
SHOWN = ROOT / "dist" / "kept"


def differences(kind, file):
    """Return what is said of each entry that is new, gone or changed, and the text that would be kept.

    That differs from what is kept in nothing but these: the others stay as they were, to the byte.
    """
    kept, today = entries(file), kind.today(file)
    said = {name: kind.difference(name, kept.get(name, ""), today.get(name, "")) for name in kept | today}
    said = {name: words for name, words in said.items() if words}
    return said, written({name: now if name in said else kept[name] for name, now in today.items()})


def show(kind, file):
    """Name each difference of a file, picture it where it is one of a drawing, and write what would be kept."""
    said, text = differences(kind, file)
    to_keep = SHOWN / file.relative_to(ROOT)
    if said:
        to_keep.parent.mkdir(parents=True, exist_ok=True)
        to_keep.write_text(text, encoding="utf-8")
    for name, words in said.items():
        print(f"{name}: {words}")
        if kind is drawings:
            before, now = (entries(each).get(name, "") for each in (file, to_keep))
            drawings.side_by_side(before, now).save(to_keep.with_name(f"{name}.png"))


def keep():
    for shown in SHOWN.rglob("*.txt"):
        file = ROOT / shown.relative_to(SHOWN)
        if file.exists() and file.stat().st_mtime > shown.stat().st_mtime:
            sys.exit(f"{file} has changed since this was shown: look again.")
        file.parent.mkdir(exist_ok=True)
        shown.replace(file)
        if not entries(file):
            file.unlink()


def main(arguments):
    if arguments == ["--keep"]:
        return keep()
    shutil.rmtree(SHOWN, ignore_errors=True)
    for kind in KINDS:
        for file in kind.files():
            if any(part in file.relative_to(ROOT).as_posix() for part in arguments or [""]):
                show(kind, file)


if __name__ == "__main__":
    main(sys.argv[1:])

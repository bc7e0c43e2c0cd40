"""Look at what is drawn differently, then keep it: nothing is kept that was not pictured before.

python -m tests.pages.review_drawings          # names each difference, pictures it in dist/drawings
python -m tests.pages.review_drawings --keep   # once you have looked: keeps what was pictured
"""

import argparse
import shutil
import zipfile

from PIL import Image

from tests.pages import drawings
from tools.notebook import ROOT
from tools.stored_pictures import pixels

LOOKED_AT = ROOT / "dist" / "drawings"
GAP = 16  # pixels between before and after


def todays_drawings():
    """Everything that the course draws today, by its name."""
    today = dict(drawings.static_drawings())
    for name in drawings.explorers().keys() - {drawings.NEEDS_A_MODEL}:
        today |= drawings.panel_drawings(name)
    return today


def differences(kept, today):
    """Say of each drawing that is new, gone or changed, what differs."""
    said = {name: "is drawn no more" for name in kept.keys() - today.keys()}
    said |= {name: "is new" for name in today.keys() - kept.keys()}
    for name in kept.keys() & today.keys():
        difference = drawings.difference(kept[name], today[name])
        if difference:
            said[name] = difference
    return dict(sorted(said.items()))


def side_by_side(before, after):
    """Picture two drawings, the kept one on the left; grey where there is none."""
    # matplotlib writes a doctype, and points
    drawn = [svg and svg[svg.index("<svg") :].replace('pt"', '"') for svg in (before, after)]
    pictures = [pixels(svg) if svg else Image.new("RGB", (GAP, GAP), "#999999") for svg in drawn]
    width = sum(picture.width for picture in pictures) + GAP
    whole = Image.new("RGB", (width, max(picture.height for picture in pictures)), "#999999")
    whole.paste(pictures[0], (0, 0))
    whole.paste(pictures[1], (pictures[0].width + GAP, 0))
    return whole


def picture_them(said, kept, today, folder=LOOKED_AT):
    """Write before | after of each difference, and beside it what is drawn today, which ``--keep`` asks for."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    for name in said:
        side_by_side(kept.get(name), today.get(name)).save(folder / f"{name}.png")
        (folder / f"{name}.svg").write_text(today.get(name, ""), encoding="utf-8", newline="")


def not_looked_at(said, today, folder=LOOKED_AT):
    """Names of differences that were not pictured as they are drawn now."""
    pictured = {file.stem: file.read_bytes() for file in folder.glob("*.svg")}
    return [name for name in said if pictured.get(name) != today.get(name, "").encode()]


def keep(said, kept, today, file=drawings.KEPT):
    """Write the differing drawings; the others stay as they were kept, to the byte."""
    whole = kept | {name: today.get(name) for name in said}
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as archive:
        for name, svg in sorted(whole.items()):
            if svg is not None:
                archive.writestr(zipfile.ZipInfo(name), svg, zipfile.ZIP_DEFLATED)  # dated 1980, always


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--keep", action="store_true", help="keep what was pictured by a run without it")
    wants_to_keep = parser.parse_args().keep
    kept, today = drawings.kept_drawings(), todays_drawings()
    said = differences(kept, today)
    for name, difference in said.items():
        print(f"{name}: {difference}")
    if not said:
        print(f"{len(today)} drawings, as they were kept")
    elif not wants_to_keep:
        picture_them(said, kept, today)
        print(f"{len(said)} differ: look at {LOOKED_AT.relative_to(ROOT)}, then run this with --keep")
    elif unseen := not_looked_at(said, today):
        raise SystemExit(f"Nothing is kept: run this without --keep and look at {', '.join(unseen)}")
    else:
        keep(said, kept, today)
        print(f"{len(said)} kept")


if __name__ == "__main__":
    main()

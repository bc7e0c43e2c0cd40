"""Look at what is drawn differently, then keep it: nothing is kept that was not pictured before.

python -m tests.pages.review_drawings          # names each difference, pictures it in dist/drawings
python -m tests.pages.review_drawings --keep   # once you have looked: keeps what was pictured
"""

import shutil
import sys
import zipfile

from PIL import Image

from tests.pages import drawings
from tools.notebook import ROOT
from tools.stored_pictures import pixels

PICTURED = ROOT / "dist" / "drawings"
GAP = 16  # pixels between before and after
NOTHING = f'<svg xmlns="http://www.w3.org/2000/svg" width="{GAP}" height="{GAP}"/>'


def picture_differences(kept, today, folder=PICTURED):
    """Name each drawing that is new, gone or changed; write its before | after, and what ``--keep`` takes.

    That differs from what is kept in nothing but these: the others stay as they were, to the byte.
    """
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    with zipfile.ZipFile(folder / drawings.KEPT.name, "w") as archive:
        for name in sorted(kept.keys() | today.keys()):
            before, after = kept.get(name, NOTHING), today.get(name, NOTHING)
            difference = drawings.difference(before, after)
            if difference:
                print(f"{name}: {difference}")
                side_by_side(before, after).save(folder / f"{name}.png")
            if after != NOTHING:
                drawing = zipfile.ZipInfo(name)  # dated 1980, always
                archive.writestr(drawing, after if difference else before, zipfile.ZIP_DEFLATED)


def side_by_side(*drawn):
    # matplotlib writes a doctype, and points
    pictures = [pixels(svg[svg.index("<svg") :].replace('pt"', '"')) for svg in drawn]
    left = pictures[0].width + GAP
    size = left + pictures[1].width, max(picture.height for picture in pictures)
    whole = Image.new("RGB", size, "#999999")
    whole.paste(pictures[0], (0, 0))
    whole.paste(pictures[1], (left, 0))
    return whole


if __name__ == "__main__":
    if sys.argv[1:] == ["--keep"]:
        shutil.move(PICTURED / drawings.KEPT.name, drawings.KEPT)
    else:
        drawn = dict(drawings.static_drawings())
        for name in drawings.explorers().keys() - {drawings.NEEDS_A_MODEL}:
            drawn |= drawings.panel_drawings(name)
        picture_differences(drawings.kept_drawings(), drawn)

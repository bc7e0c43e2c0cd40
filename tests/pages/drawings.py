"""Everything that the course draws, as SVG: each Panel at nine settings, each static picture.

The tests compare it with what is kept, so that no drawing changes unseen: a file a page, an entry a drawing.
"""

import base64
import html
import importlib
import io
import itertools
import random
import re
import zlib
from unittest import mock

import ipywidgets as widgets
import matplotlib
import torch
from PIL import Image

from mha_course.p10_can_your_class_learn import explorer as learning
from mha_helpers import golden_example, head_heatmaps, heatmap, pipeline_map
from tests.entries import alike
from tools.notebook import ROOT, page_folders
from tools.states import options_of
from tools.stored_pictures import pixels

FOLDER = ROOT / "tests" / "pages" / "drawings"
STILL = FOLDER / "still.txt"
GAP = 16  # pixels between before and after
NOTHING = f'<svg xmlns="http://www.w3.org/2000/svg" width="{GAP}" height="{GAP}"/>'
NEEDS_A_MODEL = "language_explorer"  # page 11


def explorers():
    """Every function of a page that returns a Panel, by its name."""
    modules = [importlib.import_module(f"mha_course.{page}") for page in page_folders()]
    named = {name: made for module in modules for name, made in vars(module).items() if callable(made)}
    return {name: made for name, made in named.items() if name.endswith(("_explorer", "_heads"))}


def other_values(control):
    """Two values of a control beside today's: near its end, and near its beginning."""
    if isinstance(control, widgets.Text):
        return ["the cat saw the dog", "cat eats"]
    if isinstance(control, widgets.Checkbox | widgets.ToggleButton):
        return [not control.value, control.value]
    values = [value for _, value in options_of(control)]
    return [values[-1], values[0]]


def panel_drawings(name):
    """Yield the name and SVG, with its words, of a Panel at its start, its ends and six mixed settings."""
    # Page 10 trains so many steps for a drawing; after more, it would show the last digits of this machine.
    with mock.patch.object(learning, "KEPT_EVERY", 5):
        panel = explorers()[name]()
        yield f"{name} start", with_words(panel)
        for index, setting in enumerate(("ends", "beginnings")):
            for control in panel.controls.values():  # in turn: the options of one follow from another
                control.value = other_values(control)[index]
            yield f"{name} {setting}", with_words(panel)
        for index in range(6):
            draw = random.Random(f"{name} {index}")  # the same in every version of Python
            for control in panel.controls.values():
                values = [value for _, value in options_of(control)] or other_values(control)
                control.value = draw.choice(values)
            yield f"{name} mixed {index}", with_words(panel)


def with_words(panel):
    return panel.svg().replace("</svg>", f"<desc>{html.escape(panel.description())}</desc></svg>")


@torch.no_grad()
def static_pictures():
    example = golden_example()
    trace = example.attention().trace(example.x)
    mask = torch.ones(3, 3, dtype=torch.bool).tril()
    return {
        "pipeline_map": pipeline_map(4),
        "heatmap": heatmap(trace.scores[0], example.tokens, kind="scores", title="scores", mask=mask),
        "head_heatmaps": head_heatmaps(trace.weights, example.tokens, example.head_names, chosen=1),
    }


def static_drawings():
    with matplotlib.rc_context({"svg.fonttype": "none", "svg.hashsalt": "course"}):
        for name, picture in static_pictures().items():
            file = io.StringIO()
            picture.figure.savefig(file, format="svg", metadata={"Date": None, "Creator": None})
            yield name, file.getvalue()


def page_of(explorer):
    return explorer.__module__.split(".")[1]


def files():
    drawn = {page_of(explorer) for name, explorer in explorers().items() if name != NEEDS_A_MODEL}
    return sorted({STILL, *(FOLDER / f"{page}.txt" for page in drawn), *FOLDER.glob("*.txt")})


def today(file):
    named = [name for name, explorer in explorers().items() if page_of(explorer) == file.stem]
    drawn = static_drawings() if file == STILL else itertools.chain(*map(panel_drawings, named))
    return {name: packed(svg) for name, svg in drawn}


def packed(svg):
    return base64.b64encode(zlib.compress(svg.encode(), 9)).decode()


def unpacked(kept):
    return zlib.decompress(base64.b64decode(kept)).decode() if kept else NOTHING


def difference(name, before, now):
    """Say what differs first, or ""; numbers may differ by what another machine rounds."""
    svgs = [re.sub('href="[^"]*"', "", unpacked(kept)) for kept in (before, now)]
    marks = [re.findall("<[^>]*>|[^<>]+", svg) for svg in svgs]
    marks = [[*others, whole] for whole, *others in marks]  # whose label repeats all words: last
    for i, (was, mark) in enumerate(itertools.zip_longest(*marks, fillvalue="nothing")):
        if was != mark and not (mark.startswith("<") and alike(was, mark, abs_tol=0.11)):
            words = next((words.strip() for words in marks[1][i:] if words.strip()[:1] not in ("", "<")), "")
            return f"{_in_words(was, mark)}, by “{words[:80]}”"
    return ""


def _in_words(was, mark):
    """Say which attributes of a mark differ, as in "rect, fill-opacity 0.31 → 0.13", or which mark is another."""
    tags = [each.split()[0].lstrip("<") for each in (was, mark)]
    if not was.startswith("<") or tags[0] != tags[1]:
        return f"{was} was drawn, now {mark}"
    before, now = (dict(re.findall('([-:\\w]+)(?:="|: ?)([^";]*)', each)) for each in (was, mark))
    changed = [name for name in before | now if before.get(name) != now.get(name)]
    return ", ".join([tags[0], *(f"{name} {before.get(name)} → {now.get(name)}" for name in changed)])


def side_by_side(before, now):
    # matplotlib writes a doctype, and points
    svgs = [unpacked(kept) for kept in (before, now)]
    pictures = [pixels(svg[svg.index("<svg") :].replace('pt"', '"')) for svg in svgs]
    left = pictures[0].width + GAP
    size = left + pictures[1].width, max(picture.height for picture in pictures)
    whole = Image.new("RGB", size, "#999999")
    whole.paste(pictures[0], (0, 0))
    whole.paste(pictures[1], (left, 0))
    return whole

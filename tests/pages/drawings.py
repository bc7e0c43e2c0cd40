"""Everything that the course draws, as SVG: each Panel at nine settings, each static picture.

The tests compare it with what is kept, so that no drawing changes unseen; review_drawings.py keeps it.
"""

import html
import importlib
import io
import itertools
import math
import random
import re
import zipfile
from pathlib import Path

import ipywidgets as widgets
import matplotlib
import torch

from mha_course import p07_weighted_values as p07
from mha_course import p08_splitting_heads as p08
from mha_course import p10_trained_heads as p10
from mha_helpers import golden_example, head_heatmaps, heatmap, pipeline_map
from tools.notebook import page_folders
from tools.states import options_of

KEPT = Path(__file__).with_name("drawings.zip")
NEEDS_A_MODEL = "language_explorer"  # page 11
NUMBER = re.compile(r"(?<![#\w])-?\d+\.?\d*")


def explorers():
    """Every function of a page that returns a Panel, by its name."""
    modules = [importlib.import_module(f"mha_course.{page}") for page in page_folders()]
    named = [(name, module) for module in modules for name in getattr(module, "__all__", ())]
    return {name: getattr(module, name) for name, module in named if name.endswith(("_explorer", "_heads"))}


def other_values(control):
    """Two values of a control beside today's: near its end, and near its beginning."""
    if isinstance(control, widgets.Text):
        return ["the cat saw the dog", "cat eats"]
    if isinstance(control, widgets.Checkbox):
        return [not control.value, control.value]
    values = [value for _, value in options_of(control)]
    return [values[-1], values[0]]


def panel_drawings(name):
    """Yield the name and SVG, with its words, of a Panel at its start, its ends and six mixed settings."""
    panel = explorers()[name]()
    yield f"{name} start", with_words(panel)
    for index, setting in enumerate(("ends", "beginnings")):
        for control in panel.controls.values():  # one after the other: the options of one follow from another
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
    """Every static picture, by its name."""
    example = golden_example()
    trace = example.attention().trace(example.x)
    mask = torch.ones(3, 3, dtype=torch.bool).tril()
    even, framed = mask / mask.sum(dim=-1, keepdim=True), torch.eye(3, dtype=torch.bool)
    outside = torch.tensor([[3.0, 3.0]])
    hull = (trace.v[0], trace.weights[0] @ trace.v[0], trace.heads[0], example.tokens, outside, ("a", "b"))
    return {
        "pipeline_map": pipeline_map(4),
        "heatmap": heatmap(trace.scores[0], example.tokens, kind="scores", title="scores", mask=mask),
        "head_heatmaps": head_heatmaps(trace.weights, example.tokens, example.head_names, chosen=1),
        "value_hull": p07.value_hull(*hull),
        "heads_cut": p08.heads_cut(example.x @ example.w_q, example.tokens, num_heads=3),
        "model_map": p10.model_map(),
        "circuit_maps": p10.circuit_maps(even, even, "KQW", [framed, framed]),
    }


def static_drawings():
    """Yield the name and SVG of every static picture."""
    with matplotlib.rc_context({"svg.fonttype": "none", "svg.hashsalt": "course"}):
        for name, picture in static_pictures().items():
            file = io.StringIO()
            picture.figure.savefig(file, format="svg", metadata={"Date": None, "Creator": None})
            yield name, file.getvalue()


def difference(kept, today):
    """Name the first mark that differs, or ""; numbers may differ by what another machine rounds."""
    marks = [re.findall("<[^>]*>|[^<>]+", re.sub('href="[^"]*"', "", svg)) for svg in (kept, today)]
    for before, now in itertools.zip_longest(*marks, fillvalue="nothing"):
        if before != now and not (now.startswith("<") and alike(before, now, abs_tol=0.11)):
            return f"{before} was drawn, now {now}"
    return ""


def alike(before, now, **closeness):
    """Tell whether two texts differ at most in numbers, which are as close as ``math.isclose`` is told."""
    if NUMBER.sub("0", before) != NUMBER.sub("0", now):
        return False
    pairs = zip(NUMBER.findall(before), NUMBER.findall(now), strict=True)
    return all(math.isclose(float(a), float(b), **closeness) for a, b in pairs)


def kept_drawings(file=KEPT):
    with zipfile.ZipFile(file) as archive:
        return {name: archive.read(name).decode() for name in archive.namelist()}

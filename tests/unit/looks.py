"""What the course draws, as small pictures and words: kept in `looks/`, to see that nothing changes unnoticed.

    python tests/unit/looks.py --write     # after a change that is meant; look at the pictures then

A thumbnail keeps the place and the colour of everything, and forgets how a letter was rounded.
"""

from __future__ import annotations

import io
import sys
from pathlib import Path

import numpy
import torch
from PIL import Image

if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).resolve().parent.parent.parent))

import mha_helpers
from mha_helpers import causal_mask, golden_example, head_heatmaps, heatmap, pipeline_map
from mha_helpers.exercises.running import numbers
from mha_helpers.figures.f04_scaling import rows_picture, spread_picture
from mha_helpers.figures.f05_causal_mask import mask_maps
from mha_helpers.figures.f07_weighted_values import value_hull, value_stack
from mha_helpers.figures.f08_splitting_heads import number_labels, tracking_picture
from mha_helpers.figures.f09_concat_and_output import contribution_bars
from mha_helpers.figures.f09_summary import summary_picture
from mha_helpers.figures.f10_trained_heads import model_map, pairs_picture
from mha_helpers.figures.picture import Picture
from mha_helpers.training_view import TrainingView

FOLDER = Path(__file__).with_name("looks")
WIDTH = 96  # pixels of a thumbnail
LARGEST, AVERAGE = 10, 0.5  # how far a pixel may be off, and all of them on average, of 255

EXAMPLE = golden_example()
TRACE = EXAMPLE.attention().trace(EXAMPLE.x)
WEIGHTS, VALUES = TRACE.weights.detach(), TRACE.v.detach()


def _masks():
    padding = (torch.arange(4) < 3).expand(4, 4)
    return mask_maps({"causal": causal_mask(4), "padding": padding, "none": padding | True}, "abcd")


def _tracking():
    tags = number_labels(3, num_heads=3, d_k=2)
    cut = tags.view(3, 3, 2)
    stages = [("q", tags, "", "token"), ("cut", cut, "token", "head")]
    return tracking_picture([*stages, ("wrong", tags.view(3, 3, 2), "head", "token")], 1, EXAMPLE.tokens)


def _bars(heads_on=None):
    blocks = EXAMPLE.w_o.view(3, 2, 6)
    return contribution_bars(
        (TRACE.heads.detach() @ blocks), EXAMPLE.tokens, EXAMPLE.features, EXAMPLE.head_names, heads_on
    )


def _accuracies():
    table = numbers(4, 4, name="accuracies").sigmoid()
    return pairs_picture((table + table.T) / 2, ["1.1", "1.2", "2.1", "2.2"])


def _training():
    view = TrainingView(1000)
    for step, on_batch, held_out in ((0, 0.05, 0.04), (400, 0.3, 0.2), (700, 0.9, 0.6), (900, 0.95, 1.0)):
        view.show(step, on_batch, held_out)
    return Picture(view._figure, "a training up to step 900 of 1000")


PICTURES = {
    "heatmap_scores": lambda: heatmap(TRACE.scores.detach()[0], EXAMPLE.tokens, kind="scores", limit=4),
    "heatmap_vectors": lambda: heatmap(
        EXAMPLE.x, EXAMPLE.tokens, EXAMPLE.features, kind="vectors", title="x", highlight=(1, None)
    ),
    "heatmap_many": lambda: heatmap(numbers(40, 40).softmax(-1), title="40 tokens"),
    "heads": lambda: head_heatmaps(WEIGHTS, EXAMPLE.tokens, EXAMPLE.head_names, highlight=(1, None)),
    "heads_masked": lambda: head_heatmaps(
        numbers(5, 6, 6).softmax(-1), "abcdef", mask=causal_mask(6), title="five heads"
    ),
    "pipeline": lambda: pipeline_map(5),
    "spread": lambda: spread_picture({d: numbers(2000, name=f"{d}") * d**0.5 for d in (1, 16, 64, 512)}),
    "rows": lambda: rows_picture(numbers(2, 2, 8).softmax(-1), ["no scale", "÷ √d_k"], ["d_k = 4", "64"]),
    "masks": _masks,
    "stack": lambda: value_stack(WEIGHTS[0, 2], VALUES[0], EXAMPLE.tokens, "fish"),
    "hull": lambda: value_hull(VALUES[0], EXAMPLE.tokens, TRACE.heads.detach()[0], EXAMPLE.tokens),
    "tracking": _tracking,
    "bars": _bars,
    "bars_one_head_off": lambda: _bars([True, False, True]),
    "summary": summary_picture,
    "model": model_map,
    "pairs": _accuracies,
    "training": _training,
}
# What a learner changes; the picture before it is kept as well.
EXPLORERS = {
    "attention_explorer": {"heads": 8, "mask": "causal", "head": 2, "query": 3, "key": 1, "head_4": False},
    "mask_explorer": {"causal": False, "padding": True, "length": 4, "query": 5},
    "projection_explorer": {"kind": "value", "columns": 4, "token": 2, "feature": 1},
    "scaling_explorer": {"d_k": 256, "scale": "÷√d_k", "alignment": 0.5},
    "scores_explorer": {"heads": 4, "d_k": 2, "mask": "causal", "query": 4, "key": 1},
    "shapes_explorer": {"batch": 3, "n": 2, "sentence": 1, "feature": 3, "dtype": "float16"},
    "softmax_explorer": {"score_3": 3.0, "temperature": 0.5, "minus_maximum": False},
    "splitting_explorer": {"heads": 2, "transpose": False},
    "trained_explorer": {"step": 200, "layer": 1, "head": 3},
    "values_explorer": {"query": "fish", "values": "K in place of V"},
}


NAMES = [*PICTURES, *EXPLORERS]


def pictures(drawn):
    """Return (name, PNG bytes, words) of a figure; of an explorer also those after a change."""
    if drawn in PICTURES:
        picture = PICTURES[drawn]()
        return [(drawn, picture.png(), _one_line(picture.alt))]
    panel = getattr(mha_helpers, drawn)()
    before = (drawn, panel.png(), _words(panel))
    panel.set(**EXPLORERS[drawn])
    assert panel.message() == "", panel.message()
    after = (f"{drawn}_moved", panel.png(), _words(panel))
    panel.close()
    return [before, after]


def _words(panel):
    controls = [f"{control.description} {control.tooltip or ''}" for control in panel.controls.values()]
    said = [panel._title, *controls, panel._legend_box.value, panel.description(), panel._details_box.value]
    return _one_line(" ".join(said))


def _one_line(text):
    return " ".join(text.split())


def thumbnail(png):
    image = Image.open(io.BytesIO(png)).convert("RGB")
    height = max(1, round(image.height * WIDTH / image.width))
    return image.resize((WIDTH, height), Image.Resampling.BOX)


def fault(png, name):
    """Return how a picture differs from the one that is kept, or None."""
    path = FOLDER / f"{name}.png"
    if not path.exists():
        return f"{name} is new"
    now, before = thumbnail(png), Image.open(path).convert("RGB")
    if now.size != before.size:
        return f"{name} has the shape {now.size}, before {before.size}"
    distance = numpy.abs(numpy.asarray(now, dtype=float) - numpy.asarray(before, dtype=float))
    if distance.max() <= LARGEST and distance.mean() <= AVERAGE:
        return None
    row, column = numpy.unravel_index(distance.max(axis=2).argmax(), distance.shape[:2])
    return (
        f"{name} looks different: by {distance.max():.0f} of 255 at {column / now.width:.0%} from the left"
        f" and {row / now.height:.0%} from the top, by {distance.mean():.2f} on average"
    )


def kept_words():
    lines = (FOLDER / "words.txt").read_text(encoding="utf-8").splitlines()
    return dict(line.split(": ", 1) for line in lines)


def write():
    FOLDER.mkdir(exist_ok=True)
    for path in FOLDER.glob("*.png"):
        path.unlink()
    words = []
    for drawn in NAMES:
        for name, png, said in pictures(drawn):
            thumbnail(png).save(FOLDER / f"{name}.png", optimize=True)
            words.append(f"{name}: {said}")
    (FOLDER / "words.txt").write_text("\n".join(words) + "\n", encoding="utf-8")


if __name__ == "__main__" and "--write" in sys.argv:
    write()

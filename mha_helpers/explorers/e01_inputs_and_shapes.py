"""Notebook 01: a batch of sentences as a block of numbers, each with its three coordinates."""

import math

import ipywidgets as widgets
import torch

from mha_helpers import style
from mha_helpers.checks import check_count
from mha_helpers.examples import fixed_matrix
from mha_helpers.figures.cells import add_cells, add_outlines, corners, place_cells
from mha_helpers.figures.picture import new_figure
from mha_helpers.figures.words import count
from mha_helpers.panel import Panel

MOST_SENTENCES, MOST_TOKENS, MOST_FEATURES = 4, 6, 8
BYTES = {"float32": 4, "float16": 2, "float64": 8}
REAL = (32, 100, 512)  # a batch of the size that models are trained on
CELL_WIDTH, CELL_HEIGHT = 44, 27  # pixels
WIDTH, NAMES, TITLE, GAP = 890, 78, 32, 16


def shapes_explorer(batch=2, n=3, d_model=6):
    """Return a ``Panel`` that draws x of shape ``(b, n, d_model)`` and names the coordinates of a number.

    Controls: batch, n, d_model (the shape); sentence b, token t, feature d (the number that is lit); dtype
    (the bytes of each number). Used in notebook 01.

    ``state()`` holds x ``(b, n, d_model)``, selected ``(b, t, d)``, place (where the number stands in
    memory), numbers and bytes (of the whole tensor).

    Raises ``TypeError`` or ``ValueError`` for a number that its slider does not have.

    >>> panel = shapes_explorer(batch=2, n=3, d_model=6)
    >>> panel.state()["bytes"]
    144
    """
    check_count("batch", batch, largest=MOST_SENTENCES)
    check_count("n", n, largest=MOST_TOKENS)
    check_count("d_model", d_model, largest=MOST_FEATURES)
    controls = {
        "batch": widgets.IntSlider(batch, 1, MOST_SENTENCES, description="batch b"),
        "n": widgets.IntSlider(n, 1, MOST_TOKENS, description="tokens n"),
        "d_model": widgets.IntSlider(d_model, 1, MOST_FEATURES, description="d_model"),
        "sentence": widgets.IntSlider(0, 0, batch - 1, description="sentence b"),
        "token": widgets.IntSlider(0, 0, n - 1, description="token t"),
        "feature": widgets.IntSlider(0, 0, d_model - 1, description="feature d"),
        "dtype": widgets.Dropdown(options=list(BYTES), value="float32", description="dtype"),
    }
    return Panel(
        controls,
        compute,
        BlockPicture(),
        describe,
        details,
        title="A batch of sentences. A label says where a number stands: token and feature.",
        rows=[["batch", "n", "d_model"], ["sentence", "token", "feature"], ["dtype"]],
        adjust=adjust,
    )


def adjust(controls, values):
    """Offer only the coordinates there are."""
    for name, size in (("sentence", "batch"), ("token", "n"), ("feature", "d_model")):
        controls[name].max = values[size] - 1


def compute(batch, n, d_model, sentence, token, feature, dtype):
    """Make x, and count: its numbers, its bytes, and the place of the chosen number in memory."""
    # A larger block keeps the numbers of a smaller one.
    block = fixed_matrix("shapes", MOST_FEATURES, MOST_SENTENCES * MOST_TOKENS).T
    block = block.view(MOST_SENTENCES, MOST_TOKENS, MOST_FEATURES)
    x = block[:batch, :n, :d_model].contiguous()
    b, t, d = min(sentence, batch - 1), min(token, n - 1), min(feature, d_model - 1)
    return {
        "x": x.to(getattr(torch, dtype)),
        "selected": (b, t, d),
        "place": b * n * d_model + t * d_model + d,
        "numbers": x.numel(),
        "bytes": x.numel() * BYTES[dtype],
        "dtype": dtype,
    }


class BlockPicture:
    """Each sentence a table: a row for each token, a column for each feature."""

    def layout(self, state):
        b, n, _ = state["x"].shape
        return math.ceil(b / 2), n  # the height of the picture; everything in it moves

    def draw(self, state):
        down, n = self.layout(state)
        width, height = WIDTH, down * (TITLE + n * CELL_HEIGHT + GAP)
        with style.drawing():
            figure = new_figure(width, height)
            ax = figure.add_axes((0, 0, 1, 1))
            ax.set(xlim=(0, width), ylim=(height, 0))
            ax.axis("off")
            boxes, words = add_cells(ax)
            outlines = add_outlines(ax, line_width=1.5)
        # The words come last, so that no outline covers them.
        return figure, [boxes, *outlines, words]

    def update(self, artists, state):
        b, n, d_model = state["x"].shape
        places, names = [], []
        for sentence in range(b):
            left, top = _corner(sentence, n)
            names.append((f"sentence b{sentence}", left + 92, top - 16))
            names += [(f"token t{token}", left - 8, top + (token + 0.5) * CELL_HEIGHT) for token in range(n)]
            places += [
                (f"t{t} d{d}", style.COLOURS["masked"], left + d * CELL_WIDTH, top + t * CELL_HEIGHT)
                for t in range(n)
                for d in range(d_model)
            ]
        boxes, row, dark, light, words = artists
        place_cells(boxes, words, places, CELL_WIDTH, CELL_HEIGHT, names)
        sentence, token, feature = state["selected"]
        left, top = _corner(sentence, n)
        top += token * CELL_HEIGHT
        cell = [corners(left + feature * CELL_WIDTH, top, CELL_WIDTH, CELL_HEIGHT)]
        row.set_verts([corners(left, top, d_model * CELL_WIDTH, CELL_HEIGHT)])
        dark.set_verts(cell)
        light.set_verts(cell)


def _corner(sentence, n):
    """Return where the numbers of a sentence begin: two sentences side by side, then the next two."""
    left = NAMES + (sentence % 2) * (WIDTH // 2)
    return left, TITLE + (sentence // 2) * (TITLE + n * CELL_HEIGHT + GAP)


def describe(state):
    """Say what a person would say of the picture."""
    b, n, d_model = state["x"].shape
    sentence, token, feature = state["selected"]
    return (
        f"{count(b, 'sentence')} of {count(n, 'token')}, {count(d_model, 'number')} for each token."
        f" Lit: x[{sentence}, {token}, {feature}], feature {feature} of token {token} in sentence {sentence}."
        f" {state['place']} of the {count(state['numbers'], 'number')}"
        f" come{'s' if state['place'] == 1 else ''} before it in memory."
    )


def details(state):
    """Count numbers and bytes, here and at a real size."""
    each = BYTES[state["dtype"]]
    rows = [("here", tuple(state["x"].shape)), ("a real batch", REAL)]
    cells = "".join(
        f'<tr><th scope="row" style="text-align: left; padding: 0 12px 0 0">{name}</th>'
        f'<td style="text-align: left; padding: 0 12px">{shape}</td>'
        f'<td style="text-align: right; padding: 0 12px">{" · ".join(map(str, shape))}'
        f" = {math.prod(shape):,} number{'' if math.prod(shape) == 1 else 's'}</td>"
        f'<td style="text-align: right; padding: 0 12px">'
        f"· {each} bytes = {math.prod(shape) * each:,}</td></tr>"
        for name, shape in rows
    )
    return f"<table>{cells}</table>"

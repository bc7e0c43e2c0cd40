"""Heatmaps read back out of the picture: a cell of it is the number of ``state()`` that belongs there.

Kept drawings say that something has changed; these tests say what is wrong, also where it has always been wrong.
"""

import re
from dataclasses import dataclass, replace

import pytest
import torch

from mha_helpers import attention_view
from mha_helpers.golden import golden_example
from mha_helpers.masks import causal_mask
from mha_helpers.style import COLOURS, HEAD_COLOURS, number
from mha_helpers.svg import Drawing
from tests.pages.svg_reader import SeenDrawing, drawn, px

WEIGHTS = torch.softmax(torch.randn(3, 4, 6, generator=torch.Generator().manual_seed(0)), dim=-1)
TOKENS = golden_example().tokens
QUERIES, KEYS = ["I", "like", "green", "tea"], ["ich", "mag", "den", "grünen", "Tee", "."]


@dataclass
class Expected:
    """What a heatmap has to show."""

    matrix: torch.Tensor
    rows: list
    columns: list = None  # those of the rows
    colour: str = COLOURS["positive"]
    deepest: float = 1.0  # the number that has the deepest colour
    frame: tuple = None  # (row, column)
    mask: torch.Tensor = None  # True = may attend


def of_head(weights, tokens, head, **rest):
    return Expected(weights, tokens, colour=HEAD_COLOURS[head], **rest)


def of_heads(state):
    """All heads: the chosen one large where there are small ones beside it."""
    (head, *cell), tokens = state["chosen"], state.get("tokens", TOKENS)
    heads = [of_head(weights, tokens, i) for i, weights in enumerate(state["weights"])]
    return [replace(heads[head], frame=cell), *heads]


def of_example(state):
    chosen, *heads = of_heads(state)
    heads[state["chosen"][0]] = chosen
    return heads


def of_steps(state):
    head, *cell = state["chosen"]
    each = {"rows": state["tokens"], "frame": cell}
    scores, scaled, weights = (state[name][head] for name in ("scores", "scaled", "weights"))
    of_scores = Expected(scores, deepest=float(state["scores"][0].abs().max()), **each)
    each["mask"] = state["mask"]
    of_scaled = Expected(scaled, deepest=of_scores.deepest, **each)
    return [of_scores, of_scaled, Expected(weights, colour=HEAD_COLOURS[head], **each)]


def of_x(state):
    tokens, features = ([f"{axis} {i}" for i in range(8)] for axis in ("token", "feature"))
    maps = [Expected(x, tokens, features, deepest=1.8) for x in state["x"]]
    maps[state["chosen"][0]].frame = state["chosen"][1:]
    return maps


def of_projection(state):
    token, feature, column, role = (state[name] for name in ("token", "feature", "column", "matrix"))
    features, columns = golden_example().features, ["no. 1", "no. 2"]
    of_role = {"deepest": 2.5, "colour": COLOURS[role]}
    return [
        Expected(state["x"], TOKENS, features, deepest=2.5, frame=(token, feature)),
        Expected(state["w"], features, columns, frame=(feature, column), **of_role),
        Expected(state["result"], TOKENS, columns, frame=(token, column), **of_role),
    ]


def of_mask(state):
    shared = {"frame": (state["query"], state["key"]), "mask": state["mask"]}
    allowed = Expected(state["mask"].float(), state["tokens"], colour=COLOURS["may attend"], **shared)
    return [allowed, of_head(state["weights"], state["tokens"], state["head"], **shared)]


def of_language(state):
    chosen, writes, layers = state["chosen"], state["writes"], [str(i) for i in range(30)]
    of_writes = Expected(writes, layers, layers, deepest=float(writes.abs().max()), frame=chosen)
    return [of_head(state["weights"][chosen], state["tokens"], 0), of_writes]


SMALL = {"sentence": "a cat saw a dog", "heads": 3, "d_k": 5, "head": 1, "query": 3}
STEPS = {"sentence": "cat eats the fish", "show": "one head, step by step", "mask": "causal", "query": 2}
PADDED = {"mask": "padding", "sentence": "cat eats [pad]", "head": 1, "query": 2, "key": 0}
PANELS = [  # an explorer, what is set, and what its heatmaps have to show
    ("cat_eats_fish_heads", {"head": 1, "query": 2}, of_example),
    ("attention_explorer", SMALL, of_heads),
    ("attention_explorer", STEPS, of_steps),
    ("own", {}, lambda state: [replace(each, rows=QUERIES, columns=KEYS) for each in of_heads(state)]),
    ("shapes_explorer", {"b": 3, "sentence": 1, "token": 2}, of_x),
    ("projection_explorer", {"matrix": "key", "head": 2, "token": 0, "feature": 3, "column": 1}, of_projection),
    ("scores_explorer", {"query": 3, "key": 0}, lambda state: [Expected(
        state["scores"], state["tokens"], deepest=float(state["scores"].abs().max()), frame=state["chosen"])]),
    ("scaling_explorer", {"query": 4, "key": 9}, lambda state: [of_head(
        state["weights"][0], [*"abcdefghijklmnop"], 0, frame=state["chosen"])]),
    ("mask_explorer", PADDED, of_mask),
    ("values_explorer", {"head": 1, "query": 2, "key": 0}, lambda state: [of_head(
        state["weights"], TOKENS, 1, frame=(2, 0))]),
    ("trained_explorer", {"head": 5, "step": 225}, lambda state: [of_head(
        state["weights"][5], state["tokens"], 5, mask=causal_mask(24))]),
    ("language_explorer", {"layer": 12, "head": 7, "sentence": "The cat eats"}, of_language),
]  # fmt: skip


@pytest.fixture(params=PANELS, ids=[name for name, *_ in PANELS])
def pairs(request):
    """Each drawn heatmap with what it has to show."""
    name, values, maps_of = request.param
    own = attention_view(WEIGHTS, QUERIES, KEYS)
    picture, state = (SeenDrawing(own.svg()), own.state()) if name == "own" else drawn(name, **values)
    expected = [replace(each, columns=each.columns or each.rows) for each in maps_of(state)]
    return list(zip(picture.heatmaps, expected, strict=True))


def every_cell(pairs):
    """Yield each cell: heatmap, what this has to show, place, the cell, its number, whether it is hidden."""
    for heatmap, expected in pairs:
        assert len(heatmap.cells) == expected.matrix.numel()
        for (row, column), cell in heatmap.cells.items():
            hidden = expected.mask is not None and not expected.mask[row, column]
            yield heatmap, expected, row, column, cell, float(expected.matrix[row, column]), hidden


def test_a_cell_says_its_number_and_whose_it_is(pairs):
    for _, expected, row, column, cell, value, hidden in every_cell(pairs):
        query, key, said = re.fullmatch(r"(.*) → (.*?): (.*)", cell.said).groups()
        assert (query, key) == (expected.rows[row], expected.columns[column])
        assert (said == "masked") == hidden and (said != "may attend" or value == 1)
        if said not in ("masked", "may attend"):
            number_said = float(re.match(r"−?\d+(\.\d+)?", said)[0].replace("−", "-"))
            assert number_said == pytest.approx(value, abs=0.051)


def test_cells_stand_in_rows_and_columns_and_their_colour_is_in_proportion_to_the_number(pairs):
    for heatmap, expected, row, column, cell, value, hidden in every_cell(pairs):
        first_x, first_y = heatmap.cells[row, 0].x, heatmap.cells[0, column].y
        assert cell.x == pytest.approx(first_x + column * cell.width, abs=1.5)
        assert cell.y == pytest.approx(first_y + row * cell.height, abs=1.5)
        opacity = 0 if hidden else min(abs(value) / expected.deepest, 1)
        assert px(cell.rect, "fill-opacity") == [pytest.approx(opacity, abs=0.011)]
        if opacity:
            assert (cell.rect.get("fill", heatmap.colour) == expected.colour) == (value > 0)


def test_what_is_written_in_a_cell_is_its_number_and_words_stand_at_their_rows(pairs):
    for heatmap, expected, row, column, (x, y, width, height, *_), value, _ in every_cell(pairs):
        left, top = heatmap.cells[0, 0][:2]
        for text in heatmap.words_in(x, y, x + width, y + height):
            assert text in ("−∞", number(value, len(text.partition(".")[2]), trim=False))
        beside = {*heatmap.words_in(left - 90, y, left - 1, y + height)} & {*expected.rows}
        assert column or not beside or expected.rows[row] in beside
        above = {*heatmap.words_in(x, top - 40, x + width, top - 1)} & {*expected.columns}
        assert row or not above or expected.columns[column] in above


def test_the_frame_is_round_the_chosen_cell_and_hatching_lies_on_hidden_ones(pairs):
    for heatmap, expected in pairs:
        framed = [heatmap.cells[tuple(cell)] for cell in [expected.frame] if cell]
        assert [px(frame, "x", "y") for frame in heatmap.frames] == [[cell.x, cell.y] for cell in framed]
        hidden = [cell for cell in heatmap.cells.values() if cell.said.endswith("masked")]
        corners = {(round(cell.x), round(cell.y + cell.height)) for cell in hidden}
        assert {(round(x), round(y)) for x, y in heatmap.hatched} == corners


def luminance(red, green, blue):
    parts = [
        part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in (red, green, blue)
    ]
    return 0.2126 * parts[0] + 0.7152 * parts[1] + 0.0722 * parts[2]


def contrast(ink, hue, opacity, page):
    """Of a black or white ink on a hue that lies so opaque on a page so light: WCAG 2.2."""
    cell = [opacity * part / 255 + (1 - opacity) * page for part in bytes.fromhex(hue[1:])]
    dark, light = sorted(luminance(*colour) for colour in (cell, [ink] * 3))
    return (light + 0.05) / (dark + 0.05)


INKS = {"#000000": 0, "#ffffff": 1}
RAMPS = [("weights", f"head {i + 1}", 1) for i in range(8)]
RAMPS += [("scores", None, sign) for sign in (1, -1)]
RAMPS += [("vectors", role, sign) for role in ("query", "key", "value") for sign in (1, -1)]


@pytest.mark.parametrize(("kind", "colour", "sign"), RAMPS)
def test_numbers_are_read_in_cells_of_every_colour_on_a_white_page_and_on_a_black_one(kind, colour, sign):
    drawing, shades = Drawing(2000, 100), sign * torch.linspace(0, 1, 41)
    style = {"kind": kind, "colour": colour, "limit": 1.0}
    drawing.heatmap((0, 0, 2000, 100), shades[None], ["row"], ["x"] * 41, **style)
    [heatmap] = SeenDrawing(drawing.svg()).heatmaps
    numbers = [text for text in heatmap.texts if text.get("fill") in INKS]
    for cell, text in zip(heatmap.cells.values(), numbers, strict=True):
        hue, (opacity,) = cell.rect.get("fill", heatmap.colour), px(cell.rect, "fill-opacity")
        ink = INKS[text.get("fill")]
        assert contrast(ink, hue, opacity, page=1) >= 4.5
        assert (text.get("class") == "number") == (ink == 0)  # which CSS makes the page's own
        assert contrast(1, hue, opacity, page=0.07) >= 4.2

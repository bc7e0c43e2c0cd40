"""Heatmaps read back out of the picture: a cell of it is the number of ``state()`` that belongs there.

Kept drawings say that something has changed; these tests say what is wrong, also where it has always been wrong.
"""

import re
from dataclasses import dataclass, replace

import pytest
import torch

from mha_helpers import attention_view
from mha_helpers.golden import golden_example
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


def of_own(state):
    """All heads: the chosen one large, and small ones beside it."""
    head, *cell = state["chosen"]
    heads = [of_head(weights, QUERIES, i, columns=KEYS) for i, weights in enumerate(state["weights"])]
    return [replace(heads[head], frame=cell), *heads]


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


PADDED = {"mask": "padding", "sentence": "cat eats [pad]", "head": 1, "query": 2, "key": 0}
PANELS = [  # an explorer for each kind of heatmap, what is set, and what its heatmaps have to show
    ("own", {}, of_own),
    (
        "projection_explorer",
        {"matrix": "key", "head": 2, "token": 0, "feature": 3, "column": 1},
        of_projection,
    ),
    ("mask_explorer", PADDED, of_mask),
    ("language_explorer", {"layer": 12, "head": 7, "sentence": "The cat eats"}, of_language),
]


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


def luminance(colours):
    """Of colours, (…, 3) from 0 to 1, by WCAG 2.2."""
    parts = torch.where(colours <= 0.04045, colours / 12.92, ((colours + 0.055) / 1.055) ** 2.4)
    return parts @ torch.tensor([0.2126, 0.7152, 0.0722])


RAMPS = [("weights", f"head {i + 1}", 1) for i in range(8)]
RAMPS += [("scores", None, sign) for sign in (1, -1)]
RAMPS += [("vectors", role, sign) for role in ("query", "key", "value") for sign in (1, -1)]


@pytest.mark.parametrize(("kind", "colour", "sign"), RAMPS)
def test_numbers_are_read_in_cells_of_every_colour_on_a_white_page_and_on_a_black_one(kind, colour, sign):
    drawing, shades = Drawing(2000, 100), sign * torch.linspace(0, 1, 41)
    style = {"kind": kind, "colour": colour, "limit": 1.0}
    drawing.heatmap((0, 0, 2000, 100), shades[None], ["row"], ["x"] * 41, **style)
    [heatmap] = SeenDrawing(drawing.svg()).heatmaps
    hues = [cell.rect.get("fill", heatmap.colour) for cell in heatmap.cells.values()]
    hues = torch.tensor([[*bytes.fromhex(hue[1:])] for hue in hues]) / 255  # (41, 3)
    opacity = torch.tensor([px(cell.rect, "fill-opacity") for cell in heatmap.cells.values()])  # (41, 1)
    on_white, on_black = (luminance(opacity * hues + (1 - opacity) * page) for page in (1, 0.07))
    numbers = [text for text in heatmap.texts if text.get("fill") in ("#000000", "#ffffff")]
    black = torch.tensor([text.get("fill") == "#000000" for text in numbers])
    assert [text.get("class") == "number" for text in numbers] == black.tolist()
    assert (torch.where(black, (on_white + 0.05) / 0.05, 1.05 / (on_white + 0.05)) >= 4.5).all()
    assert (1.05 / (on_black + 0.05) >= 4.2).all()  # CSS gives black numbers the page's own ink

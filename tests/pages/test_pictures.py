"""What is drawn, read back out of the picture: heatmaps, and the marks beside them, show what ``state()`` holds.

Kept drawings say that something has changed; these tests say what is wrong, also where it has always been wrong.
"""

import itertools
import re

import pytest
import torch

from mha_helpers.masks import causal_mask
from mha_helpers.style import COLOURS, HEAD_COLOURS, number
from mha_helpers.svg import Drawing
from tests.pages.drawings import NEEDS_A_MODEL
from tests.pages.svg_reader import SeenDrawing, drawn, px

ABOUT = {"abs": 1.01}  # pixels: each end of a mark is rounded to a tenth, and a bar of 0 is 1 wide
QUERIES, KEYS = ["I", "like", "green", "tea"], ["ich", "mag", "den", "grünen", "Tee", "."]
SCORES = torch.randn(4, 6, generator=torch.Generator().manual_seed(0))
HEATMAPS = {  # what is drawn, the colour above 0, and the number that has the deepest colour
    "weights": ({"values": SCORES.softmax(dim=-1), "index": 4, "chosen": (2, 3)}, HEAD_COLOURS[4], 1),
    "scores": ({"values": SCORES, "mask": causal_mask(4, 6)}, COLOURS["positive"], float(SCORES.abs().max())),
    "vectors": ({"values": SCORES, "colour": "key", "limit": 2.5, "chosen": (0, 5)}, COLOURS["key"], 2.5),
    "mask": ({"values": causal_mask(4, 6), "mask": causal_mask(4, 6)}, COLOURS["may attend"], 1),
}


@pytest.fixture(params=HEATMAPS)
def heatmap(request):
    """A heatmap as it is seen, with what was to be drawn: options, colour, deepest number."""
    options, *style = HEATMAPS[request.param]
    drawing = Drawing(500, 400)
    drawing.heatmap((0, 0, 500, 400), rows=QUERIES, columns=KEYS, kind=request.param, **options)
    [seen] = SeenDrawing(drawing.svg()).heatmaps
    return seen, options, *style


def every_cell(seen, options):
    """Yield the place of each cell, the cell, its number, and whether it is hidden."""
    assert len(seen.cells) == options["values"].numel()
    for place, cell in seen.cells.items():
        yield *place, cell, float(options["values"][place]), "mask" in options and not options["mask"][place]


def test_a_cell_says_its_number_and_whose_it_is(heatmap):
    for row, column, cell, value, hidden in every_cell(*heatmap[:2]):
        whose, said = cell.said.split(": ")
        assert whose == f"{QUERIES[row]} → {KEYS[column]}"
        assert (said == "masked") == hidden and (said != "may attend" or value == 1)
        assert said in ("masked", "may attend", number(value), number(value, trim=False))


def test_cells_stand_in_rows_and_columns_and_their_colour_is_in_proportion_to_the_number(heatmap):
    seen, options, colour, deepest = heatmap
    for row, column, cell, value, hidden in every_cell(seen, options):
        first_x, first_y = seen.cells[row, 0].x, seen.cells[0, column].y
        assert cell.x == pytest.approx(first_x + column * cell.width, abs=1.5)
        assert cell.y == pytest.approx(first_y + row * cell.height, abs=1.5)
        opacity = 0 if hidden else min(abs(value) / deepest, 1)
        assert px(cell.rect, "fill-opacity") == [pytest.approx(opacity, abs=0.011)]
        if opacity:
            assert (cell.rect.get("fill", seen.colour) == colour) == (value > 0)


def test_what_is_written_in_a_cell_is_its_number_and_words_stand_at_their_rows(heatmap):
    seen, options, *_ = heatmap
    left, top = seen.cells[0, 0][:2]
    for row, column, (x, y, width, height, *_), value, hidden in every_cell(seen, options):
        [text] = seen.words_in(x, y, x + width, y + height) or [""]
        assert text in ("", number(value, len(text.partition(".")[2]), trim=False))
        assert bool(text) == (not hidden and options["values"].dtype == torch.float32)
        if column == 0:
            assert QUERIES[row] in seen.words_in(left - 90, y, left - 1, y + height)
        if row == 0:
            assert KEYS[column] in seen.words_in(x, top - 40, x + width, top - 1)


def test_the_frame_is_round_the_chosen_cell_and_hatching_lies_on_hidden_ones(heatmap):
    seen, options, *_ = heatmap
    framed = [seen.cells[cell] for cell in [options.get("chosen")] if cell]
    assert [px(frame, "x", "y") for frame in seen.frames] == [[cell.x, cell.y] for cell in framed]
    hidden = [cell for *_, cell, _, hidden in every_cell(seen, options) if hidden]
    corners = {(round(cell.x), round(cell.y + cell.height)) for cell in hidden}
    assert {(round(x), round(y)) for x, y in seen.hatched} == corners


STEPS = {"sentence": "cat eats the fish", "show": "one head, step by step", "mask": "causal", "query": 2}
PANELS = [  # a Panel, its settings, and the matrix that each of its heatmaps shows
    ("cat_eats_fish_heads", {"head": 1}, lambda state: state["weights"]),
    ("attention_explorer", {"heads": 3, "head": 1}, lambda state: [state["weights"][1], *state["weights"]]),
    ("attention_explorer", STEPS, lambda state: [state[step][0] for step in ("scores", "scaled", "weights")]),
    ("shapes_explorer", {"b": 3, "sentence": 1}, lambda state: state["x"]),
    ("projection_explorer", {"matrix": "key"}, lambda state: [state["x"], state["w"], state["result"]]),
    ("scores_explorer", {"head": 2}, lambda state: [state["scores"]]),
    ("scaling_explorer", {"query": 4, "key": 9}, lambda state: [state["weights"][0]]),
    ("mask_explorer", {"mask": "padding", "head": 1}, lambda state: [state["mask"], state["weights"]]),
    ("values_explorer", {"head": 1}, lambda state: [state["weights"]]),
    ("trained_explorer", {"head": 5, "step": 225}, lambda state: [state["weights"][5]]),
    ("language_explorer", {"layer": 12}, lambda state: [state["weights"][state["chosen"]], state["writes"]]),
]


@pytest.mark.parametrize(("name", "settings", "matrices"), PANELS, ids=[name for name, *_ in PANELS])
def test_heatmaps_of_a_panel_hold_the_numbers_of_its_state_and_frame_what_is_chosen(name, settings, matrices):
    (picture, state), framed = drawn(name, **settings), set()
    for seen, matrix in zip(picture.heatmaps, matrices(state), strict=True):
        corners = [px(frame, "x", "y") for frame in seen.frames]
        framed |= {place for place, cell in seen.cells.items() if [cell.x, cell.y] in corners}
        assert len(seen.cells) == matrix.numel()
        for place, cell in seen.cells.items():
            for said in re.findall(r": (−?[\d.]+)", cell.said):
                assert float(said.replace("−", "-")) == pytest.approx(float(matrix[place]), abs=0.051)
    assert "chosen" not in state or framed == {tuple(state["chosen"][-2:])}


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


def sizes(words, side="width"):
    """Of the rectangles that say these words: how wide, or high, each is, and all that it says."""
    return lambda picture: [(px(mark, side)[0], said) for mark, said in picture.hits("rect", words)]


def bars_of_softmax(step):
    """The three bars of one step; their numbers stand at their ends."""

    def of(picture):
        for bar in picture.shapes("rect", height="40")[3 * step : 3 * step + 3]:
            x, y, wide, tall = px(bar, "x", "y", "width", "height")
            yield wide, " ".join(picture.words_in(x + wide, y, x + wide + 12, y + tall))

    return of


def depths_of_small_weights(picture):
    """Of the weights below the heads: how far each colour is from the palest, and what is said."""
    return [(float(cell.get("fill-opacity")) - 0.06, said) for cell, said in picture.hits("rect", " → ")]


def counted(state):
    """The share of the scores in each bar of 2; its height follows the root."""
    shares = torch.histc(state["scaled"], 60, -60, 60) / state["scaled"].numel()
    return shares[shares > 0].sqrt()


LENGTHS = [  # a Panel, its settings; how long some of its marks are, and what they say; of which numbers
    ("scores_explorer", {"query": 2, "key": 0, "d_k": 9}, sizes("times"), lambda state: state["products"]),
    ("scaling_explorer", {"query": 5}, sizes("key "), lambda state: state["weights"][0][5]),
    ("scaling_explorer", {"d_k": 16, "scale": "÷ √d_k"}, sizes("of the scores", "height"), counted),
    ("softmax_explorer", {"cat": -3, "query": 2}, bars_of_softmax(0), lambda state: state["scores"]),
    ("softmax_explorer", {"cat": 3}, bars_of_softmax(1), lambda state: state["exponentials"]),
    ("softmax_explorer", {"cat": 0}, bars_of_softmax(2), lambda state: state["weights"]),
    ("splitting_explorer", {"tokens": 2, "heads": 4}, depths_of_small_weights, lambda state: torch.stack([
        state["wrong weights"], state["right weights"]])),
    ("trained_explorer", {"step": 225, "head": 3}, sizes("."), lambda state: torch.cat([
        state["previous letter"], state["after a copy"]])),
    ("bugs_explorer", {"suspect": "F", "experiment": "increase d_k"}, sizes(": "), lambda state: torch.tensor([
        *state["healthy"], *state["measured"]])),
    ("language_explorer", {"break": "no mask"}, sizes(": "), lambda state: torch.cat([
        state[side].topk(5).values for side in ("before", "after")])),
]  # fmt: skip


@pytest.mark.parametrize(("name", "settings", "marks", "numbers"), LENGTHS)
def test_marks_are_as_long_as_the_numbers_that_they_say_on_one_scale(name, settings, marks, numbers):
    picture, state = drawn(name, **settings)
    lengths, said = zip(*marks(picture), strict=True)
    values = numbers(state).flatten().tolist()
    unit = max(lengths) / max(map(abs, values))
    if name == NEEDS_A_MODEL:  # whose drawings are not kept: a probability of 1 would be so long
        assert unit == pytest.approx(133.3, rel=0.02)
    assert list(lengths) == pytest.approx([abs(value) * unit for value in values], rel=0.02, **ABOUT)
    for words, value in zip(said, values, strict=True):
        assert (f"{value**2:.2%}" if words.endswith("scores") else number(value)) in words


@pytest.mark.parametrize("settings", [{"query": 0, "key": 2, "head": 1}, {"values": "cat and fish swapped"}])
def test_pieces_lie_end_to_end_from_zero_to_the_output_among_the_values(settings):
    picture, state = drawn("values_explorer", **settings)
    ones = [px(text, "x", "y") for text in picture.texts if text.text == "1"]
    unit = 86  # pixels of a step of 1, as the lines of the plane are apart
    zero = torch.tensor([max(x for x, _ in ones) + 4 - unit, max(y for _, y in ones) - 14])
    points = torch.cat([state["v"], state["output"][None]])
    ends = torch.stack([torch.zeros(2), *state["pieces"].cumsum(dim=0)])
    points, ends = ((zero + unit * places * torch.tensor([1, -1])).tolist() for places in (points, ends))
    places = [px(mark, "cx", "cy") for mark, _ in picture.hits("circle")]
    assert places == [pytest.approx(point, **ABOUT) for point in points]
    pieces = picture.shapes("line", stroke=COLOURS["lit"])
    for piece, (start, end) in zip(pieces, itertools.pairwise(ends), strict=True):
        assert px(piece, "x1", "y1", "x2", "y2") == pytest.approx([*start, *end], **ABOUT)
    thickest = max(pieces, key=lambda piece: px(piece, "stroke-width"))
    assert pieces.index(thickest) == state["chosen"][2]


@pytest.mark.parametrize(("n", "h", "d_k"), [(3, 2, 2), (2, 4, 3)])
def test_blocks_hold_the_numbers_where_view_and_transpose_put_them(n, h, d_k):
    picture, state = drawn("splitting_explorer", tokens=n, heads=h, d_k=d_k)
    numbers = sorted(picture.hits("rect", "it belongs to head"), key=lambda hit: px(hit[0], "y", "x"))
    for name, left, top in (("q", 0, 0), ("viewed", 430, 0), ("right", 430, 150), ("wrong", 0, 150)):
        places = [px(rect, "x", "y") for rect, _ in numbers]
        said = [words for (x, y), (_, words) in zip(places, numbers, strict=True)
                if 0 < x - left < 430 and 0 < y - top < 150]  # fmt: skip
        positions = state[name].movedim(-2, 0).flatten().tolist()  # a row goes through all blocks
        for words, (token, feature) in zip(said, (divmod(i, h * d_k) for i in positions), strict=True):
            whose = f"it belongs to head {feature // d_k + 1}"
            assert words == f"token {token + 1}, feature {feature + 1}: {whose}"

"""Heatmaps read back out of what is drawn: numbers, words, colours and places of cells are those of the state.

It knows nothing of kept drawings, so a picture that has always been wrong is seen, too.
"""

import itertools
import re
from xml.etree import ElementTree

import pytest
import torch

from mha_helpers import attention_view
from mha_helpers.style import COLOURS, number
from tests.pages.drawings import explorers

SVG = "{http://www.w3.org/2000/svg}"
WEIGHTS = torch.softmax(torch.randn(3, 4, 6, generator=torch.Generator().manual_seed(0)), dim=-1)
QUERIES, KEYS = ["I", "like", "green", "tea"], ["ich", "mag", "den", "grünen", "Tee", "."]


def heads(state):
    return [(weights, state.get("tokens", ["cat", "eats", "fish"])) for weights in state["weights"]]


def steps(state):
    return [(state[name][0], state["tokens"]) for name in ("scores", "scaled", "weights")]


SMALL = {"sentence": "a cat saw a dog", "heads": 3, "d_k": 5, "head": 1, "query": 3}
STEPS = {"sentence": "cat eats the fish", "show": "one head, step by step", "mask": "causal", "query": 2}
# An explorer, what is set, and of each of its maps the matrix, the words of its rows and of its columns.
PANELS = [
    ("cat_eats_fish_heads", {}, heads),
    ("attention_explorer", SMALL, heads),
    ("attention_explorer", STEPS, steps),
    ("scores_explorer", {}, lambda state: [(state["scores"], state["tokens"])]),
    ("own", {}, lambda state: [(weights, QUERIES, KEYS) for weights in WEIGHTS]),
]


def px(mark, *names):
    return [float(mark.get(name)) for name in names]


class Map:
    """One heatmap as it is drawn: its cells, and the words beside and above them."""

    def __init__(self, group):
        self.cells, self.texts = {}, list(group.iter(f"{SVG}text"))
        self.frames = [rect for rect in group.iter(f"{SVG}rect") if rect.get("stroke") == COLOURS["lit"]]
        paths = "".join(path.get("d") for path in group.iter(f"{SVG}path"))
        self.hatched = re.findall(r"M([\d.]+) ([\d.]+)l", paths)
        for hit in group.iter(f"{SVG}g"):
            tip, rect = hit.find(f"{SVG}text[@class='tip']"), hit.find(f"{SVG}rect")
            if tip is not None and rect is not None and " → " in (tip.text or ""):
                _, row, column = map(int, hit.get("data-cell", "0,0,0").split(","))
                self.cells[row, column] = (*px(rect, "x", "y", "width", "height"), rect, tip.text)

    def words_at(self, left, top, right, bottom):
        """The texts whose middle lies in a box; a text that is turned begins where it is turned about."""
        inside = []
        for text in self.texts:
            if text.get("class") != "tip" and text.get("x"):
                x, y = px(text, "x", "y")
                if left <= x <= right and top <= y - 4 <= bottom:
                    inside.append(text.text)
        return inside


@pytest.fixture(params=PANELS, ids=["example", "small", "steps", "scores", "own"])
def pairs(request):
    """Each drawn heatmap with its matrix and words; a large one comes first, then all heads small."""
    name, values, maps_of = request.param
    panel = attention_view(WEIGHTS, QUERIES, KEYS) if name == "own" else explorers()[name]()
    panel.set(**values)
    state = panel.state()
    expected = [(matrix, rows, *(columns or [rows])) for matrix, rows, *columns in maps_of(state)]
    root = ElementTree.fromstring(panel.svg())
    drawn = [Map(group) for group in root.iter(f"{SVG}g") if group.get("class") == "map"]
    drawn = [each for each in drawn if each.cells]
    if len(drawn) == len(expected) + 1:  # the chosen head once more, large
        expected.insert(0, expected[state["chosen"][-3]])
    assert len(drawn) == len(expected) > 0
    return list(zip(drawn, expected, strict=True))


def test_a_cell_says_its_number_and_whose_it_is(pairs):
    for drawn, (matrix, rows, columns) in pairs:
        assert len(drawn.cells) == matrix.numel()
        for (row, column), (*_, tip) in drawn.cells.items():
            query, key, said = re.fullmatch(r"(.*) → (.*?): (.*)", tip).groups()
            assert (query, key) == (rows[row], columns[column])
            if "mask" not in said:
                value = float(re.match(r"−?\d+(\.\d+)?", said)[0].replace("−", "-"))
                assert value == pytest.approx(float(matrix[row, column]), abs=0.051)


def test_cells_stand_in_rows_and_columns_and_their_colour_grows_with_the_number(pairs):
    for drawn, (matrix, *_) in pairs:
        for (row, column), (x, y, width, height, *_) in drawn.cells.items():
            first_x, first_y = drawn.cells[row, 0][0], drawn.cells[0, column][1]
            assert x == pytest.approx(first_x + column * width, abs=1.5)
            assert y == pytest.approx(first_y + row * height, abs=1.5)
        seen = [(cell, rect) for cell, (*_, rect, tip) in drawn.cells.items() if "mask" not in tip]
        shades = sorted((abs(float(matrix[cell])), float(rect.get("fill-opacity"))) for cell, rect in seen)
        for (small, pale), (large, deep) in itertools.pairwise(shades):
            assert deep >= pale - 0.011, (small, large)
        assert shades[-1][1] > shades[0][1]


def test_what_is_written_in_a_cell_is_its_number_and_words_stand_at_their_rows(pairs):
    written = 0
    for drawn, (matrix, rows, columns) in pairs:
        left, top = drawn.cells[0, 0][:2]
        for (row, column), (x, y, width, height, *_) in drawn.cells.items():
            for text in drawn.words_at(x, y, x + width, y + height):
                decimals = len(text.partition(".")[2])
                assert text in ("−∞", number(matrix[row, column], decimals, trim=False))
                written += 1
            beside = {*drawn.words_at(left - 90, y, left - 1, y + height)} & {*rows}
            assert column or not beside or rows[row] in beside
            above = {*drawn.words_at(x, top - 40, x + width, top - 1)} & {*columns}
            assert row or not above or columns[column] in above
    assert written or len(pairs[0][1][1]) > 4


def test_the_frame_is_round_the_chosen_cell_and_hatching_lies_on_hidden_ones(pairs):
    for drawn, _ in pairs:
        for frame in drawn.frames:
            assert px(frame, "x", "y") in [list(cell[:2]) for cell in drawn.cells.values()]
        hidden = [cell[:4] for cell in drawn.cells.values() if cell[5].endswith("masked")]
        corners = {(round(x), round(y + height)) for x, y, _, height in hidden}
        assert {(round(float(x)), round(float(y))) for x, y in drawn.hatched} == corners

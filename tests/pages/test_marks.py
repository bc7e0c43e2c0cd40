"""What pages draw beside heatmaps, read back out of the picture: as long, or in the place, that ``state()`` says."""

import itertools

import pytest
import torch

from mha_helpers.style import COLOURS, number
from tests.pages.svg_reader import drawn, px

ABOUT = {"abs": 1.01}  # pixels: each end of a mark is rounded to a tenth, and a bar of 0 is 1 wide


def widths(words):
    """Of the rectangles that say these words: how wide each is, and all that it says."""
    return lambda picture: [(px(mark, "width")[0], said) for mark, said in picture.hits("rect", words)]


def bars_of_softmax(step):
    """The three bars of one step; their numbers stand at their ends."""

    def of(picture):
        for bar in picture.shapes("rect", height="40")[3 * step : 3 * step + 3]:
            x, y, wide, tall = px(bar, "x", "y", "width", "height")
            yield wide, " ".join(picture.words_in(x + wide, y, x + wide + 12, y + tall))

    return of


def heights_of_the_histogram(picture):
    return [(px(bar, "height")[0], said) for bar, said in picture.hits("rect", "of the scores")]


def depths_of_small_weights(picture):
    """Of the weights below the heads: how far each colour is from the palest, and what is said."""
    return [(float(cell.get("fill-opacity")) - 0.06, said) for cell, said in picture.hits("rect", " → ")]


def counted(state):
    """The share of the scores in each bar of 2; its height follows the root."""
    shares = torch.histc(state["scaled"], 60, -60, 60) / state["scaled"].numel()
    return shares[shares > 0].sqrt()


LENGTHS = [  # a Panel, its settings; how long some of its marks are, and what they say; of which numbers
    ("scores_explorer", {"query": 2, "key": 0, "d_k": 9}, widths("times"), lambda state: state["products"]),
    ("scaling_explorer", {"query": 5}, widths("key "), lambda state: state["weights"][0][5]),
    ("scaling_explorer", {"d_k": 16, "scale": "÷ √d_k"}, heights_of_the_histogram, counted),
    ("softmax_explorer", {"cat": -3, "query": 2}, bars_of_softmax(0), lambda state: state["scores"]),
    ("softmax_explorer", {"cat": 3}, bars_of_softmax(1), lambda state: state["exponentials"]),
    ("softmax_explorer", {"cat": 0}, bars_of_softmax(2), lambda state: state["weights"]),
    ("splitting_explorer", {"tokens": 2, "heads": 4}, depths_of_small_weights, lambda state: torch.stack([
        state["wrong weights"], state["right weights"]])),
    ("trained_explorer", {"step": 225, "head": 3}, widths("."), lambda state: torch.cat([
        state["previous letter"], state["after a copy"]])),
    ("bugs_explorer", {"suspect": "F", "experiment": "increase d_k"}, widths(": "), lambda state: torch.tensor([
        *state["healthy"], *state["measured"]])),
    ("language_explorer", {"break": "no mask"}, widths(": "), lambda state: torch.cat([
        state[side].topk(5).values for side in ("before", "after")])),
]  # fmt: skip


@pytest.mark.parametrize(("name", "settings", "marks", "numbers"), LENGTHS)
def test_marks_are_as_long_as_the_numbers_that_they_say_on_one_scale(name, settings, marks, numbers):
    picture, state = drawn(name, **settings)
    lengths, said = zip(*marks(picture), strict=True)
    values = numbers(state).flatten().tolist()
    unit = max(lengths) / max(map(abs, values))
    assert list(lengths) == pytest.approx([abs(value) * unit for value in values], rel=0.02, **ABOUT)
    for words, value in zip(said, values, strict=True):
        assert (f"{value**2:.1%}" if words.endswith("scores") else number(value)) in words


@pytest.mark.parametrize("settings", [{"query": 0, "key": 2, "head": 1}, {"values": "cat and fish swapped"}])
def test_pieces_lie_end_to_end_from_zero_to_the_output_among_the_values(settings):
    picture, state = drawn("values_explorer", **settings)
    ones = [px(text, "x", "y") for text in picture.texts if text.text == "1"]
    unit = 86  # pixels of a step of 1, as the lines of the plane are apart
    zero = torch.tensor([max(x for x, _ in ones) + 4 - unit, max(y for _, y in ones) - 14])
    points = torch.cat([state["v"], state["output"][None]])
    ends = torch.stack([torch.zeros(2), *state["pieces"].cumsum(dim=0)])
    points, ends = ((zero + unit * places * torch.tensor([1, -1])).tolist() for places in (points, ends))
    assert [px(mark, "cx", "cy") for mark, _ in picture.hits("circle")] == [
        pytest.approx(point, **ABOUT) for point in points
    ]
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

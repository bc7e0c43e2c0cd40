"""What pages draw beside heatmaps, read back out of the picture and held against ``state()``.

Bars, points, pieces and blocks: their words, places, lengths and colours. Like test_cells.py it knows nothing
of kept drawings, so a picture that has always been wrong is seen, too.
"""

import itertools
import math
from xml.etree import ElementTree

import pytest
import torch

from mha_course.models import load_language_model
from mha_helpers.golden import golden_example
from mha_helpers.style import COLOURS, HEAD_COLOURS, head_label, number, vector
from tests.pages.drawings import explorers

SVG = "{http://www.w3.org/2000/svg}"
TOKENS = golden_example().tokens
LIT = {"stroke": COLOURS["lit"], "stroke-width": "3"}
HEADS = {f"head {i + 1}": colour for i, colour in enumerate(HEAD_COLOURS)}
ABOUT = {"abs": 1.01}  # pixels: each end of a mark is rounded to a tenth, and a bar of 0 is 1 wide


class Picture:
    """The marks of a Panel outside its heatmaps, in the order in which they are drawn."""

    def __init__(self, name, **settings):
        self.panel = explorers()[name]()
        self.panel.set(**settings)
        self.state = self.panel.state()
        marks = ElementTree.fromstring(self.panel.svg())
        self.plain = [mark for mark in marks if not mark.get("class", "").startswith(("map", "hit"))]
        self.answering = [mark for mark in marks if mark.get("class") == "hit"]
        groups = reversed([*marks.iter(f"{SVG}g")])  # the word of a row, which comes later, has a cell, too
        self.cells = {mark.get("data-cell"): mark.find(f"{SVG}rect") for mark in groups}
        self.texts = [mark for mark in self.plain if mark.tag == f"{SVG}text"]

    def hits(self, shape, words=""):
        """Return those marks that answer the mouse with these words."""
        found = [(mark.find(f"{SVG}{shape}"), mark.findtext(f"{SVG}text", "")) for mark in self.answering]
        return [(mark, said) for mark, said in found if mark is not None and words in said]

    def shapes(self, tag, **attributes):
        """Return plain marks of one kind that have these attributes."""
        wanted = attributes.items()
        return [
            mark for mark in self.plain if mark.tag == f"{SVG}{tag}" and wanted <= dict(mark.items()).items()
        ]

    def words_in(self, left, top, right, bottom):
        """Return the words that begin, end or have their middle in a box."""
        return [
            text.text
            for text in self.texts
            if left <= float(text.get("x")) <= right and top <= float(text.get("y")) - 4 <= bottom
        ]

    def title_over(self, mark):
        """Return the nearest bold words above a mark."""
        x, y = px(mark, "x", "y")
        above = [
            (y - float(text.get("y")) + abs(x - float(text.get("x"))) / 4, text.text)
            for text in self.texts
            if text.get("font-weight") == "700" and float(text.get("y")) < y
        ]
        return min(above)[1]


def px(mark, *names):
    return [float(mark.get(name)) for name in names]


def width(mark):
    return float(mark.get("width"))


def products(state):
    (row, column), values = state["chosen"], state["products"].tolist()
    pairs = zip(state["q"][row], state["k"][column], values, strict=True)
    said = [f"{number(q)} times {number(k)} is {number(product)}" for q, k, product in pairs]
    colours = [COLOURS["negative" if value < 0 else "positive"] for value in values]
    yield "product of each pair", said, values, colours, None


def weights_of_f(state):
    labels, colours = [f"key {name}" for name in "abcdefghijklmnop"], HEAD_COLOURS[:1] * 16
    yield "weights of f", labels, state["weights"][0][5].tolist(), colours, 2


def measures_of_heads(state):
    labels = [f"{layer}.{head}" for layer in (1, 2) for head in range(1, 5)]
    for job in ("previous letter", "after a copy"):
        yield f"weight: {job}", labels, state[job].tolist(), HEAD_COLOURS, 3


def suspects(state):
    sides = (("healthy heads", "healthy", COLOURS["output"]), ("suspect F", "measured", HEAD_COLOURS[1]))
    for title, side, colour in sides:
        yield title, state["labels"], [float(value) for value in state[side]], [colour] * 3, None


def next_words(state):
    for title, side, colour in (("as trained", "before", 0), ("changed", "after", 1)):
        values, ids = state[side].topk(5)
        words = [load_language_model().decode([token]).strip() for token in ids]
        yield f"next word, {title}", words, values.tolist(), HEAD_COLOURS[colour : colour + 1] * 5, None


BARS = [  # a Panel, its settings; of each group of bars title, labels or hovers, numbers, colours, the framed
    ("scores_explorer", {"query": 2, "key": 1, "d_k": 9}, products),
    ("scaling_explorer", {"d_k": 64, "query": 5, "key": 2}, weights_of_f),
    ("trained_explorer", {"step": 225, "head": 3}, measures_of_heads),
    ("bugs_explorer", {"suspect": "F", "experiment": "increase d_k"}, suspects),
    ("language_explorer", {"break": "no mask"}, next_words),
]


@pytest.mark.parametrize(("name", "settings", "groups"), BARS, ids=[name for name, *_ in BARS])
def test_bars_are_as_long_as_what_they_say_on_one_scale_and_begin_at_zero(name, settings, groups):
    if name == "language_explorer":
        pytest.importorskip("gguf")
    picture = Picture(name, **settings)
    drawn, frames, scales = picture.hits("rect"), [], []
    for title, labels, values, colours, chosen in groups(picture.state):
        shown = [number(value, trim=False) for value in values]
        hovers = [
            label if " times " in label else f"{label}: {value}"
            for label, value in zip(labels, shown, strict=True)
        ]
        start = next(
            i for i in range(len(drawn)) if [said for _, said in drawn[i : i + len(hovers)]] == hovers
        )
        bars = [rect for rect, _ in drawn[start : start + len(hovers)]]
        drawn = drawn[start + len(hovers) :]
        assert picture.title_over(bars[0]) == title
        assert [bar.get("fill") for bar in bars] == list(colours)
        width_of_1 = max(map(width, bars)) / max(map(abs, values))
        scales.append(width_of_1)
        frames += [[at - 2 for at in px(bars[chosen], "x", "y")]] if chosen is not None else []
        zeros = set()
        for bar, label, value, written in zip(bars, labels, values, shown, strict=True):
            x, y, wide, tall = px(bar, "x", "y", "width", "height")
            assert wide == pytest.approx(abs(value) * width_of_1, **ABOUT)
            zeros.add(round(x + wide if value < 0 else x))
            assert ("=" if " times " in label else label) in picture.words_in(x - 300, y, x, y + tall)
            assert written in picture.words_in(x + wide, y, x + wide + 60, y + tall)
        assert max(zeros) - min(zeros) <= 1
        lines = [px(line, "x1", "y1", "y2") for line in picture.shapes("line")]
        top, bottom = px(bars[0], "y")[0], y
        assert [x for x, up, down in lines if up < top and down > bottom and abs(x - max(zeros)) <= 1]
    assert [px(frame, "x", "y") for frame in picture.shapes("rect", **LIT)] == frames
    assert max(scales) == pytest.approx(min(scales), rel=0.03)


def test_products_stand_beside_their_numbers_and_over_their_sum():
    picture = Picture("scores_explorer", query=2, key=1, d_k=5)
    state, (row, column) = picture.state, picture.state["chosen"]
    bars = [rect for rect, _ in picture.hits("rect", " times ")]
    for bar, q, k in zip(bars, state["q"][row], state["k"][column], strict=True):
        y = px(bar, "y")[0]
        numbers = [text for text in picture.words_in(500, y, 590, y + 40) if text != "·"]
        assert numbers == [number(q, trim=False), number(k, trim=False)]
    over = [text for text in picture.texts if px(text, "y")[0] < 40 and px(text, "x")[0] < 700]
    assert [text.text for text in sorted(over, key=lambda text: px(text, "x"))] == [
        "query",
        state["tokens"][row],
        "key",
        state["tokens"][column],
    ]
    total = number(state["scores"][row, column], 1)
    assert f"their sum, the score: {total}" in [text.text for text in picture.texts]


def test_bars_of_scores_are_counts_over_their_own_range():
    picture = Picture("scaling_explorer", d_k=16, scale="÷ √d_k")
    scores, bars = picture.state["scaled"], picture.hits("rect", "of the scores")
    ticks = {text.text: px(text, "x")[0] for text in picture.texts}
    zero, unit = ticks["0"], (ticks["40"] - ticks["−40"]) / 80
    assert zero == pytest.approx((ticks["40"] + ticks["−40"]) / 2, **ABOUT)
    shown = 0
    for bar, said in bars:
        x, y, wide, height = px(bar, "x", "y", "width", "height")
        low, high = round((x - zero) / unit), round((x + wide + 1 - zero) / unit)
        share = float(((scores >= low) & (scores < high)).double().mean())
        assert said.endswith(f": {share:.1%} of the scores")
        shown += share
        assert y + height == pytest.approx(px(bars[0][0], "y")[0] + px(bars[0][0], "height")[0], **ABOUT)
    assert shown == pytest.approx(1, abs=1e-3)
    heights = sorted((float(said.split(": ")[1].split("%")[0]), px(bar, "height")[0]) for bar, said in bars)
    assert all(shorter <= taller for (_, shorter), (_, taller) in itertools.pairwise(heights))


def test_softmax_in_three_steps_has_bars_as_long_as_its_numbers():
    picture = Picture("softmax_explorer", cat=-2, query=2)
    state, bars = picture.state, [rect for rect in picture.shapes("rect", height="40")]
    columns = [bars[:3], bars[3:6], bars[6:9]]
    titles = ("score", "e to its power", "÷ sum = weight")
    for column, name, title in zip(columns, ("scores", "exponentials", "weights"), titles, strict=True):
        values = state[name].tolist()
        unit = max(
            px(bar, "width")[0] / abs(value)
            for bar, value in zip(column, values, strict=True)
            if abs(value) > 0.5
        )
        assert picture.title_over(column[0]) == title
        for i, (bar, value) in enumerate(zip(column, values, strict=True)):
            x, y, width, _ = px(bar, "x", "y", "width", "height")
            assert width == pytest.approx(max(1, abs(value) * unit), **ABOUT)
            assert y == px(columns[0][i], "y")[0]
            right = x + width  # a bar below 0 ends at 0
            assert number(value, trim=value == 0) in picture.words_in(right, y, right + 12, y + 40)
            assert (bar.get("fill") == COLOURS["negative"]) == (value < 0)
            assert right + 12 < {"scores": 345, "exponentials": 610, "weights": 860}[name]
            assert TOKENS[i] in picture.words_in(0, y, 62, y + 40)
    words = [text.text for text in picture.texts]
    assert f"sum {number(state['total'])}" in words and "“fish” asks, in head 1" in words
    shares = [px(rect, "width")[0] + 2 for rect in picture.shapes("rect", height="34")]
    assert [share / sum(shares) for share in shares] == pytest.approx(state["weights"].tolist(), abs=0.01)


@pytest.mark.parametrize(
    "settings", [{}, {"query": 0, "key": 2, "head": 1}, {"values": "cat and fish swapped"}]
)
def test_pieces_lie_end_to_end_from_zero_to_the_output_among_the_values(settings):
    picture = Picture("values_explorer", **settings)
    state, (head, query, key) = picture.state, picture.state["chosen"]
    ones = [text for text in picture.texts if text.text == "1"]
    unit = 86  # pixels of a step of 1, as the lines of the plane are apart
    left = max(px(text, "x")[0] for text in ones) + 4 - unit
    bottom = max(px(text, "y")[0] for text in ones) - 14

    def pixels(point):
        return pytest.approx((left + unit * float(point[0]), bottom - unit * float(point[1])), **ABOUT)

    values = [(mark, said) for mark, said in picture.hits("circle") if said.startswith("value of")]
    assert [said for _, said in values] == [f"value of {token}" for token in TOKENS]
    for (mark, _), value, token in zip(values, state["v"], TOKENS, strict=True):
        x, y = px(mark, "cx", "cy")
        assert (x, y) == pixels(value)
        assert f"{token} {vector(value)}" in picture.words_in(x - 16, y - 24, x + 16, y + 24)
        assert mark.get("fill") == COLOURS["value"]
    corners = picture.shapes("polygon", fill=COLOURS["value"])[0].get("points").split()
    assert sorted(corners) == sorted(f"{mark.get('cx')},{mark.get('cy')}" for mark, _ in values)
    pieces = picture.shapes("line", stroke=COLOURS["lit"])
    ends = [torch.zeros(2), *state["pieces"].cumsum(dim=0)]
    for piece, (start, end) in zip(pieces, itertools.pairwise(ends), strict=True):
        assert tuple(px(piece, "x1", "y1")) == pixels(start) and tuple(px(piece, "x2", "y2")) == pixels(end)
    widths = [px(piece, "stroke-width")[0] for piece in pieces]
    assert widths.index(max(widths)) == key and widths.count(max(widths)) == 1
    output, said = picture.hits("circle")[-1]
    assert said == f"output of “{TOKENS[query]}”: {vector(state['output'])}"
    assert tuple(px(output, "cx", "cy")) == pixels(state["output"])
    assert output.get("fill") == COLOURS["output"]
    legend = picture.shapes("circle")
    assert [mark.get("fill") for mark in legend] == [COLOURS[name] for name in ("value", "lit", "output")]
    assert head_label(head, golden_example().head_names) in picture.panel.svg()


@pytest.mark.parametrize("sizes", [{"tokens": 3, "heads": 2, "d_k": 2}, {"tokens": 2, "heads": 4, "d_k": 3}])
def test_blocks_hold_the_numbers_where_view_and_transpose_put_them(sizes):
    picture = Picture("splitting_explorer", **sizes)
    state, (n, h, d_k) = picture.state, sizes.values()
    cells = picture.hits("rect", "it belongs to head")
    quarters = {  # where its left upper corner is, its title, what a row is called
        "q": (0, 0, f"q = x @ W_Q: ({n}, {h * d_k})", "token"),
        "viewed": (430, 0, f"q.view({n}, {h}, {d_k})", "head"),
        "right": (430, 150, f"then .transpose(0, 1): ({h}, {n}, {d_k})", "token"),
        "wrong": (0, 150, f"the wrong way: q.view({h}, {n}, {d_k})", "token"),
    }
    for name, (left, top, title, row_is) in quarters.items():
        assert title in picture.words_in(left, top, left + 60, top + 40)
        blocks = state[name] if state[name].dim() == 3 else state[name][None]
        heads = [text for text in picture.texts if text.text in HEADS and text.get("font-weight") == "700"]
        assert {(text.text, text.get("fill")) for text in heads} == {*list(HEADS.items())[:h]}
        own = [(px(rect, "x", "y"), rect, said) for rect, said in cells]
        own = [cell for cell in own if left < cell[0][0] < left + 430 and top < cell[0][1] < top + 150]
        by_row = sorted(own, key=lambda cell: (cell[0][1], cell[0][0]))
        expected = blocks.transpose(0, 1).flatten().tolist()  # a row of the picture goes through all blocks
        assert len(by_row) == len(expected) == n * h * d_k
        for i, y in enumerate(sorted({y for (_, y), *_ in own})):
            assert f"{row_is} {i + 1}" in picture.words_in(left, y, by_row[0][0][0], y + 20)
        for ((x, y), rect, said), position in zip(by_row, expected, strict=True):
            token, feature = divmod(position, h * d_k)
            owner = feature // d_k
            assert said == f"token {token + 1}, feature {feature + 1}: it belongs to head {owner + 1}"
            width, height = px(rect, "width", "height")
            inside = " ".join(picture.words_in(x, y - 4, x + width, y + height))
            assert inside == f"t{token + 1} f{feature + 1}" and rect.get("fill") == HEAD_COLOURS[owner]
            assert float(rect.get("fill-opacity")) == (1 if token == 1 else 0.2)  # token 2 is followed
    for side, name in enumerate(("wrong weights", "right weights")):
        drawn = [hit for hit in picture.hits("rect", " → ") if (px(hit[0], "x")[0] > 430) == side]
        for (rect, said), (where, weight) in zip(drawn, numbered(state[name]), strict=True):
            head, query, key = (i + 1 for i in where)
            assert said == f"head {head}: token {query} → token {key}: {number(weight, trim=False)}"
            assert float(rect.get("fill-opacity")) == pytest.approx(0.06 + 0.94 * weight, abs=0.006)
            assert rect.get("fill") == HEAD_COLOURS[head - 1]


def numbered(tensor):
    """Yield the indices and the number of each cell."""
    for where in itertools.product(*map(range, tensor.shape)):
        yield where, float(tensor[where])


def test_the_curve_of_training_is_the_accuracy_of_each_step():
    picture = Picture("trained_explorer", step=225, line="ABCABCABC", head=4)
    hits = picture.hits("circle", "step ")
    points = [px(mark, "cx", "cy") for mark, _ in hits]
    steps = [said.removeprefix("step ").split(": ") for _, said in hits]
    scale = {text.text: px(text, "x", "y") for text in picture.texts if text.get("text-anchor") == "end"}
    scale |= {text.text: px(text, "x", "y") for text in picture.texts if text.text == "step 0"}
    left, right, top, bottom = scale["step 0"][0], scale["step 1000"][0], scale["1"][1] - 5, scale["0"][1] - 5
    for (x, y), (step, accuracy) in zip(points, steps, strict=True):
        assert x == pytest.approx(left + (right - left) * int(step) / 1000, **ABOUT)
        assert y == pytest.approx(bottom - (bottom - top) * float(accuracy), **ABOUT)
    lines = [px(line, "x1", "y1", "x2", "y2") for line in picture.shapes("line", stroke=COLOURS["output"])]
    assert lines == [[*before, *after] for before, after in itertools.pairwise(points)]
    shown = picture.shapes("circle", fill=COLOURS["lit"])[0]
    assert px(shown, "cx", "cy") == points[[step for step, _ in steps].index("225")]
    assert f"{picture.state['accuracy']:.2f}" == dict(steps)["225"]
    frames = [px(frame, "x", "y") for frame in picture.shapes("rect", **LIT | {"stroke-width": "1.6"})]
    framed = picture.state["framed"].nonzero().tolist()
    assert frames == [px(picture.cells[f"4,{row},{column}"], "x", "y") for row, column in framed]


def test_an_arrow_points_where_its_line_ends():
    picture = Picture("splitting_explorer")
    lines = [px(line, "x1", "y1", "x2", "y2") for line in picture.shapes("line")]
    arrows = [mark.get("points").split() for mark in picture.shapes("polygon")]
    assert len(lines) == len(arrows) == 3
    for (x1, y1, x2, y2), corners in zip(lines, arrows, strict=True):
        tip, *back = [tuple(map(float, corner.split(","))) for corner in corners]
        assert tip == (x2, y2)
        assert all(math.dist(corner, (x1, y1)) < math.dist(tip, (x1, y1)) for corner in back)

"""What pages draw beside heatmaps, read back out of the picture and held against ``state()``.

Bars, points, pieces and blocks: their words, places, lengths and colours.
"""

import itertools
import math

import pytest
import torch
from numpy import ndenumerate

from mha_course.models import load_language_model
from mha_helpers.golden import golden_example
from mha_helpers.style import COLOURS, HEAD_COLOURS, number, vector
from tests.pages.picture import drawn, px

TOKENS = golden_example().tokens
LIT = {"stroke": COLOURS["lit"], "stroke-width": "3"}
HEADS = {f"head {i + 1}": colour for i, colour in enumerate(HEAD_COLOURS)}
ABOUT = {"abs": 1.01}  # pixels: each end of a mark is rounded to a tenth, and a bar of 0 is 1 wide


def width(mark):
    return px(mark, "width")[0]


def products(state):
    (row, column), values = state["chosen"], state["products"]
    pairs = zip(state["q"][row], state["k"][column], values, strict=True)
    said = [f"{number(q)} times {number(k)} is {number(product)}" for q, k, product in pairs]
    colours = [COLOURS["negative" if value < 0 else "positive"] for value in values]
    return [("product of each pair", said, values, colours, None)]


def next_words(state):
    for title, side, colour in (("as trained", "before", 0), ("changed", "after", 1)):
        values, ids = state[side].topk(5)
        words = [load_language_model().decode([token]).strip() for token in ids]
        yield f"next word, {title}", words, values, HEAD_COLOURS[colour : colour + 1] * 5, None


LETTERS = [f"key {name}" for name in "abcdefghijklmnop"]
ALL = ["0.0", "0.1", "0.2", "0.3", "1.0", "1.1", "1.2", "1.3"]  # its heads
BARS = [  # a Panel, its settings; of each group of bars title, labels or hovers, numbers, colours, the framed
    ("scores_explorer", {"query": 2, "key": 0, "d_k": 9}, products),
    ("scaling_explorer", {"d_k": 64, "query": 5, "key": 2}, lambda state: [
        ("weights of f", LETTERS, state["weights"][0][5], HEAD_COLOURS[:1] * 16, 2)]),
    ("trained_explorer", {"step": 225, "head": 3}, lambda state: [
        (f"weight: {job}", ALL, state[job], HEAD_COLOURS, 3) for job in ("previous letter", "after a copy")]),
    ("bugs_explorer", {"suspect": "F", "experiment": "increase d_k"}, lambda state: [
        ("healthy heads", state["labels"], state["healthy"], [COLOURS["output"]] * 3, None),
        ("suspect F", state["labels"], state["measured"], [HEAD_COLOURS[1]] * 3, None)]),
    ("language_explorer", {"break": "no mask"}, next_words),
]  # fmt: skip
WIDTH_OF_1 = {"scaling_explorer": 123.4, "trained_explorer": 113.4, "language_explorer": 133.3}  # pixels


@pytest.mark.parametrize(("name", "settings", "groups"), BARS, ids=[name for name, *_ in BARS])
def test_bars_are_as_long_as_what_they_say_on_one_scale_and_begin_at_zero(name, settings, groups):
    picture, state = drawn(name, **settings)
    rest, frames, scales = picture.hits("rect"), [], []
    for title, labels, values, colours, chosen in groups(state):
        values = [float(value) for value in values]
        shown = [number(value, trim=False) for value in values]
        pairs = zip(labels, shown, strict=True)
        hovers = [label if " times " in label else f"{label}: {value}" for label, value in pairs]
        start = [said for _, said in rest].index(hovers[0])
        group, rest = rest[start : start + len(hovers)], rest[start + len(hovers) :]
        bars, said = zip(*group, strict=True)
        assert list(said) == hovers and picture.title_over(bars[0]) == title
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
    assert scales == pytest.approx([WIDTH_OF_1.get(name, scales[0])] * len(scales), rel=0.02)


def test_products_stand_beside_their_numbers_and_over_their_sum():
    picture, state = drawn("scores_explorer", query=2, key=1, d_k=5)
    row, column = state["chosen"]
    bars = [rect for rect, _ in picture.hits("rect", " times ")]
    for bar, q, k in zip(bars, state["q"][row], state["k"][column], strict=True):
        y = px(bar, "y")[0]
        numbers = [text for text in picture.words_in(500, y, 590, y + 40) if text != "·"]
        assert numbers == [number(q, trim=False), number(k, trim=False)]
    over = [text for text in picture.texts if px(text, "y")[0] < 40 and px(text, "x")[0] < 700]
    words = [text.text for text in sorted(over, key=lambda text: px(text, "x"))]
    assert words == ["query", state["tokens"][row], "key", state["tokens"][column]]
    total = f"their sum, the score: {number(state['scores'][row, column], 1)}"
    assert total in [text.text for text in picture.texts]


def test_bars_of_scores_are_counts_over_their_own_range():
    picture, state = drawn("scaling_explorer", d_k=16, scale="÷ √d_k")
    scores, bars = state["scaled"], picture.hits("rect", "of the scores")
    ticks = {text.text: px(text, "x")[0] for text in picture.texts}
    zero, unit = ticks["0"], (ticks["40"] - ticks["−40"]) / 80
    assert zero == pytest.approx((ticks["40"] + ticks["−40"]) / 2, **ABOUT)
    shown = []
    for bar, said in bars:
        x, y, wide, height = px(bar, "x", "y", "width", "height")
        low, high = round((x - zero) / unit), round((x + wide + 1 - zero) / unit)
        shown.append(float(((scores >= low) & (scores < high)).double().mean()))
        assert said == f"{number(low)} to {number(high)}: {shown[-1]:.1%} of the scores"
        assert [height, y + height] == pytest.approx([240 * shown[-1] ** 0.5, 300], **ABOUT)
    assert sum(shown) == pytest.approx(1, abs=1e-3)


@pytest.mark.parametrize("cat", [-2, 3])
def test_softmax_in_three_steps_has_bars_as_long_as_its_numbers(cat):
    picture, state = drawn("softmax_explorer", cat=cat, query=2)
    bars = picture.shapes("rect", height="40")
    titles = {"scores": "score", "exponentials": "e to its power", "weights": "÷ sum = weight"}
    for column, (name, title) in enumerate(titles.items()):
        of_step, values = bars[3 * column : 3 * column + 3], state[name].tolist()
        unit = (95, 190, 190)[column] / max((4, 20, 1)[column], *map(abs, values))  # pixels of 1
        assert picture.title_over(of_step[0]) == title
        for i, (bar, value) in enumerate(zip(of_step, values, strict=True)):
            x, y, wide, _ = px(bar, "x", "y", "width", "height")
            assert wide == pytest.approx(max(1, abs(value) * unit), **ABOUT)
            assert y == px(bars[i], "y")[0]
            right = x + wide  # a bar below 0 ends at 0
            assert number(value, trim=value == 0) in picture.words_in(right, y, right + 12, y + 40)
            assert (bar.get("fill") == COLOURS["negative"]) == (value < 0)
            assert TOKENS[i] in picture.words_in(0, y, 62, y + 40)
    words = [text.text for text in picture.texts]
    assert f"sum {number(state['total'])}" in words and "“fish” asks, in head 1" in words
    shares = [width(rect) + 2 for rect in picture.shapes("rect", height="34")]
    assert [share / sum(shares) for share in shares] == pytest.approx(state["weights"].tolist(), abs=0.01)


@pytest.mark.parametrize(
    "settings", [{}, {"query": 0, "key": 2, "head": 1}, {"values": "cat and fish swapped"}]
)
def test_pieces_lie_end_to_end_from_zero_to_the_output_among_the_values(settings):
    picture, state = drawn("values_explorer", **settings)
    _, query, key = state["chosen"]
    ones = [px(text, "x", "y") for text in picture.texts if text.text == "1"]
    unit = 86  # pixels of a step of 1, as the lines of the plane are apart
    left, bottom = max(x for x, _ in ones) + 4 - unit, max(y for _, y in ones) - 14

    def pixels(point):
        return pytest.approx([left + unit * float(point[0]), bottom - unit * float(point[1])], **ABOUT)

    *values, (output, said_of_output) = picture.hits("circle")
    assert [said for _, said in values] == [f"value of {token}" for token in TOKENS]
    for (mark, _), value, token in zip(values, state["v"], TOKENS, strict=True):
        x, y = px(mark, "cx", "cy")
        assert [x, y] == pixels(value) and mark.get("fill") == COLOURS["value"]
        assert f"{token} {vector(value)}" in picture.words_in(x - 16, y - 24, x + 16, y + 24)
    corners = picture.shapes("polygon", fill=COLOURS["value"])[0].get("points").split()
    assert sorted(corners) == sorted(f"{mark.get('cx')},{mark.get('cy')}" for mark, _ in values)
    pieces = picture.shapes("line", stroke=COLOURS["lit"])
    ends = [torch.zeros(2), *state["pieces"].cumsum(dim=0)]
    for piece, (start, end) in zip(pieces, itertools.pairwise(ends), strict=True):
        assert px(piece, "x1", "y1") == pixels(start) and px(piece, "x2", "y2") == pixels(end)
    widths = [px(piece, "stroke-width")[0] for piece in pieces]
    assert [i for i, wide in enumerate(widths) if wide == max(widths)] == [key]
    assert said_of_output == f"output of “{TOKENS[query]}”: {vector(state['output'])}"
    assert px(output, "cx", "cy") == pixels(state["output"]) and output.get("fill") == COLOURS["output"]
    legend = [mark.get("fill") for mark in picture.shapes("circle")]
    assert legend == [COLOURS[name] for name in ("value", "lit", "output")]


@pytest.mark.parametrize("sizes", [{"tokens": 3, "heads": 2, "d_k": 2}, {"tokens": 2, "heads": 4, "d_k": 3}])
def test_blocks_hold_the_numbers_where_view_and_transpose_put_them(sizes):
    picture, state = drawn("splitting_explorer", **sizes)
    n, h, d_k = sizes.values()
    hits = picture.hits("rect", "it belongs to head")
    cells = sorted([*px(rect, "y", "x"), said, rect] for rect, said in hits)
    heads = {(text.text, text.get("fill")) for text in picture.bold if text.text in HEADS}
    assert heads == {*list(HEADS.items())[:h]}
    quarters = {  # where its left upper corner is, its title, what a row is called
        "q": (0, 0, f"q = x @ W_Q: ({n}, {h * d_k})", "token"),
        "viewed": (430, 0, f"q.view({n}, {h}, {d_k})", "head"),
        "right": (430, 150, f"then .transpose(0, 1): ({h}, {n}, {d_k})", "token"),
        "wrong": (0, 150, f"the wrong way: q.view({h}, {n}, {d_k})", "token"),
    }
    for name, (left, top, title, row_is) in quarters.items():
        assert title in picture.words_in(left, top, left + 60, top + 40)
        own = [cell for cell in cells if left < cell[1] < left + 430 and top < cell[0] < top + 150]
        for i, y in enumerate(sorted({y for y, *_ in own})):
            assert f"{row_is} {i + 1}" in picture.words_in(left, y, own[0][1], y + 20)
        blocks = state[name] if state[name].dim() == 3 else state[name][None]
        expected = blocks.transpose(0, 1).flatten().tolist()  # a row of the picture goes through all blocks
        assert len(expected) == n * h * d_k
        for (y, x, said, rect), position in zip(own, expected, strict=True):
            token, feature = divmod(position, h * d_k)
            owner = feature // d_k
            assert said == f"token {token + 1}, feature {feature + 1}: it belongs to head {owner + 1}"
            right, bottom = x + width(rect), y + px(rect, "height")[0]
            inside = " ".join(picture.words_in(x, y - 4, right, bottom))
            assert inside == f"t{token + 1} f{feature + 1}" and rect.get("fill") == HEAD_COLOURS[owner]
            assert float(rect.get("fill-opacity")) == (1 if token == 1 else 0.2)  # token 2 is followed
    for side, name in enumerate(("wrong weights", "right weights")):
        shown = [hit for hit in picture.hits("rect", " → ") if (px(hit[0], "x")[0] > 430) == side]
        for (rect, said), ((head, query, key), weight) in zip(shown, ndenumerate(state[name]), strict=True):
            whose = f"head {head + 1}: token {query + 1} → token {key + 1}"
            assert said == f"{whose}: {number(weight, trim=False)}"
            assert float(rect.get("fill-opacity")) == pytest.approx(0.06 + 0.94 * weight, abs=0.006)
            assert rect.get("fill") == HEAD_COLOURS[head]


def test_the_curve_of_training_is_the_accuracy_of_each_step():
    picture, state = drawn("trained_explorer", step=225, line="ABCABCABC", head=4)
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
    assert f"{state['accuracy']:.2f}" == dict(steps)["225"]
    frames = [px(frame, "x", "y") for frame in picture.shapes("rect", **LIT | {"stroke-width": "1.6"})]
    framed = [picture.heatmaps[0].cells[tuple(cell)] for cell in state["framed"].nonzero().tolist()]
    assert frames == [[cell.x, cell.y] for cell in framed]


def test_an_arrow_points_where_its_line_ends():
    picture, _ = drawn("splitting_explorer")
    lines = [px(line, "x1", "y1", "x2", "y2") for line in picture.shapes("line")]
    arrows = [mark.get("points").split() for mark in picture.shapes("polygon")]
    assert len(lines) == len(arrows) == 3
    for (x1, y1, x2, y2), corners in zip(lines, arrows, strict=True):
        tip, *back = [tuple(map(float, corner.split(","))) for corner in corners]
        assert tip == (x2, y2)
        assert all(math.dist(corner, (x1, y1)) < math.dist(tip, (x1, y1)) for corner in back)


def test_a_row_of_x_and_a_column_of_w_are_framed():
    picture, _ = drawn("projection_explorer", token=2, feature=4, column=1)
    x, w, _ = (heatmap.cells for heatmap in picture.heatmaps)
    size = x[0, 0].width
    frames = [px(frame, "x", "y", "width", "height") for frame in picture.shapes("rect", **LIT)]
    expected = [[x[2, 0].x, x[2, 0].y, 6 * size, size], [w[0, 1].x, w[0, 1].y, size, 6 * size]]
    assert frames == [pytest.approx(frame, **ABOUT) for frame in expected]

"""What pages draw beside heatmaps, read back out of the picture: as long, or in the place, that ``state()`` says."""

import itertools

import pytest
import torch
from numpy import ndenumerate

from mha_course.models import load_language_model
from mha_helpers.golden import golden_example
from mha_helpers.style import COLOURS, HEAD_COLOURS, number, vector
from tests.pages.svg_reader import drawn, px

TOKENS = golden_example().tokens
ABOUT = {"abs": 1.01}  # pixels: each end of a mark is rounded to a tenth, and a bar of 0 is 1 wide


def products(state):
    (row, column), values = state["chosen"], state["products"]
    pairs = zip(state["q"][row], state["k"][column], values, strict=True)
    said = [f"{number(q)} times {number(k)} is {number(product)}" for q, k, product in pairs]
    yield said, values, [COLOURS["negative" if value < 0 else "positive"] for value in values]


def hovers(labels, values):
    return [f"{label}: {number(value, trim=False)}" for label, value in zip(labels, values, strict=True)]


def next_words(state):
    for side, colour in (("before", 0), ("after", 1)):
        values, ids = state[side].topk(5)
        words = [load_language_model().decode([token]).strip() for token in ids]
        yield hovers(words, values), values, HEAD_COLOURS[colour : colour + 1] * 5


def attention_of_f(state):
    labels, values = [f"key {name}" for name in "abcdefghijklmnop"], state["weights"][0][5]
    yield hovers(labels, values), values, HEAD_COLOURS[:1] * 16


def trained_heads(state):
    heads = ["0.0", "0.1", "0.2", "0.3", "1.0", "1.1", "1.2", "1.3"]
    for job in ("previous letter", "after a copy"):
        yield hovers(heads, state[job]), state[job], HEAD_COLOURS


def suspects(state):
    for values, colour in ((state["healthy"], COLOURS["output"]), (state["measured"], HEAD_COLOURS[1])):
        yield hovers(state["labels"], values), values, [colour] * 3


BARS = [  # a Panel, its settings; of each group of bars what they say, numbers, colours; pixels of 1
    ("scores_explorer", {"query": 2, "key": 0, "d_k": 9}, products, None),
    ("scaling_explorer", {"d_k": 64, "query": 5, "key": 2}, attention_of_f, 123.4),
    ("trained_explorer", {"step": 225, "head": 3}, trained_heads, 113.4),
    ("bugs_explorer", {"suspect": "F", "experiment": "increase d_k"}, suspects, None),
    ("language_explorer", {"break": "no mask"}, next_words, 133.3),
]


@pytest.mark.parametrize(("name", "settings", "groups", "unit"), BARS, ids=[name for name, *_ in BARS])
def test_bars_are_as_long_as_what_they_say_on_one_scale_and_begin_at_zero(name, settings, groups, unit):
    picture, state = drawn(name, **settings)
    rest = picture.hits("rect")
    for words, values, colours in groups(state):
        start = [said for _, said in rest].index(words[0])
        group, rest = rest[start : start + len(words)], rest[start + len(words) :]
        bars, said = zip(*group, strict=True)
        assert list(said) == words and [bar.get("fill") for bar in bars] == list(colours)
        unit = unit or max(px(bar, "width")[0] for bar in bars) / max(map(abs, values))
        zeros = {zero_of(picture, *pair, unit) for pair in zip(bars, values, strict=True)}
        assert max(zeros) - min(zeros) <= 1


def zero_of(picture, bar, value, unit):
    """Return where a bar begins, which is as long as its number, and has it written at its end."""
    x, y, wide, tall = px(bar, "x", "y", "width", "height")
    assert wide == pytest.approx(float(abs(value) * unit), rel=0.02, **ABOUT)
    assert number(value, trim=False) in picture.words_in(x + wide, y, x + wide + 60, y + tall)
    return round(x + wide if value < 0 else x)


def test_bars_of_scores_are_counts_over_their_own_range():
    picture, state = drawn("scaling_explorer", d_k=16, scale="÷ √d_k")
    ticks = {text.text: px(text, "x")[0] for text in picture.texts}
    zero, unit = ticks["0"], (ticks["40"] - ticks["−40"]) / 80
    assert zero == pytest.approx((ticks["40"] + ticks["−40"]) / 2, **ABOUT)
    for bar, said in picture.hits("rect", "of the scores"):
        x, y, wide, height = px(bar, "x", "y", "width", "height")
        low, high = round((x - zero) / unit), round((x + wide + 1 - zero) / unit)
        share = float(((state["scaled"] >= low) & (state["scaled"] < high)).double().mean())
        assert said == f"{number(low)} to {number(high)}: {share:.1%} of the scores"
        assert [height, y + height] == pytest.approx([240 * share**0.5, 300], **ABOUT)


@pytest.mark.parametrize("cat", [-2, 3])
def test_softmax_in_three_steps_has_bars_as_long_as_its_numbers(cat):
    picture, state = drawn("softmax_explorer", cat=cat, query=2)
    bars = iter(picture.shapes("rect", height="40"))
    for name, pixels, least in (("scores", 95, 4), ("exponentials", 190, 20), ("weights", 190, 1)):
        values = state[name].tolist()
        unit = pixels / max(least, *map(abs, values))
        for token, value, bar in zip(TOKENS, values, bars, strict=False):
            x, y, wide, _ = px(bar, "x", "y", "width", "height")
            assert wide == pytest.approx(max(1, abs(value) * unit), **ABOUT)
            right = x + wide  # a bar below 0 ends at 0
            assert number(value, trim=value == 0) in picture.words_in(right, y, right + 12, y + 40)
            assert (bar.get("fill") == COLOURS["negative"]) == (value < 0)
            assert token in picture.words_in(0, y, 62, y + 40)
    assert f"sum {number(state['total'])}" in [text.text for text in picture.texts]
    shares = [px(rect, "width")[0] + 2 for rect in picture.shapes("rect", height="34")]
    assert [share / sum(shares) for share in shares] == pytest.approx(state["weights"].tolist(), abs=0.01)


@pytest.mark.parametrize(
    "settings", [{}, {"query": 0, "key": 2, "head": 1}, {"values": "cat and fish swapped"}]
)
def test_pieces_lie_end_to_end_from_zero_to_the_output_among_the_values(settings):
    picture, state = drawn("values_explorer", **settings)
    ones = [px(text, "x", "y") for text in picture.texts if text.text == "1"]
    unit = 86  # pixels of a step of 1, as the lines of the plane are apart
    left, bottom = max(x for x, _ in ones) + 4 - unit, max(y for _, y in ones) - 14

    def pixels(point):
        return pytest.approx([left + unit * float(point[0]), bottom - unit * float(point[1])], **ABOUT)

    *values, (output, said_of_output) = picture.hits("circle")
    assert [said for _, said in values] == [f"value of {token}" for token in TOKENS]
    for (mark, _), value in zip(values, state["v"], strict=True):
        assert px(mark, "cx", "cy") == pixels(value) and mark.get("fill") == COLOURS["value"]
    pieces = picture.shapes("line", stroke=COLOURS["lit"])
    ends = [torch.zeros(2), *state["pieces"].cumsum(dim=0)]
    for piece, (start, end) in zip(pieces, itertools.pairwise(ends), strict=True):
        assert px(piece, "x1", "y1") == pixels(start) and px(piece, "x2", "y2") == pixels(end)
    widths = [px(piece, "stroke-width")[0] for piece in pieces]
    assert widths.index(max(widths)) == state["chosen"][2]
    assert said_of_output.endswith(f": {vector(state['output'])}")
    assert px(output, "cx", "cy") == pixels(state["output"]) and output.get("fill") == COLOURS["output"]


BOTH_SIZES = pytest.mark.parametrize("sizes", [(3, 2, 2), (2, 4, 3)])


@BOTH_SIZES
def test_blocks_hold_the_numbers_where_view_and_transpose_put_them(sizes):
    picture, state = drawn("splitting_explorer", **dict(zip(("tokens", "heads", "d_k"), sizes, strict=True)))
    hits = sorted(picture.hits("rect", "it belongs to head"), key=lambda hit: px(hit[0], "y", "x"))
    for name, left, top in (("q", 0, 0), ("viewed", 430, 0), ("right", 430, 150), ("wrong", 0, 150)):
        expected = iter(state[name].movedim(-2, 0).flatten().tolist())  # a row goes through all blocks
        for rect, said in hits:
            x, y, wide, tall = px(rect, "x", "y", "width", "height")
            if left < x < left + 430 and top < y < top + 150:
                token, feature = divmod(next(expected), sizes[1] * sizes[2])
                head = feature // sizes[2]
                assert said == f"token {token + 1}, feature {feature + 1}: it belongs to head {head + 1}"
                inside = " ".join(picture.words_in(x, y - 4, x + wide, y + tall))
                assert inside == f"t{token + 1} f{feature + 1}"
                assert rect.get("fill") == HEAD_COLOURS[head]
        assert not [*expected]


@BOTH_SIZES
def test_weights_of_heads_cut_rightly_and_wrongly_stand_side_by_side(sizes):
    picture, state = drawn("splitting_explorer", **dict(zip(("tokens", "heads", "d_k"), sizes, strict=True)))
    for side, name in enumerate(("wrong weights", "right weights")):
        shown = [hit for hit in picture.hits("rect", " → ") if (px(hit[0], "x")[0] > 430) == side]
        for (rect, said), ((head, query, key), weight) in zip(shown, ndenumerate(state[name]), strict=True):
            whose = f"head {head + 1}: token {query + 1} → token {key + 1}"
            assert said == f"{whose}: {number(weight, trim=False)}" and rect.get("fill") == HEAD_COLOURS[head]
            assert float(rect.get("fill-opacity")) == pytest.approx(0.06 + 0.94 * weight, abs=0.006)


def test_the_curve_of_training_is_the_accuracy_of_each_step():
    picture, state = drawn("trained_explorer", step=225, line="ABCABCABC", head=4)
    hits = picture.hits("circle", "step ")
    scale = {text.text: px(text, "x", "y") for text in picture.texts if text.get("text-anchor") == "end"}
    scale |= {text.text: px(text, "x", "y") for text in picture.texts if text.text == "step 0"}
    left, right, top, bottom = scale["step 0"][0], scale["step 1000"][0], scale["1"][1] - 5, scale["0"][1] - 5
    for mark, said in hits:
        step, accuracy = map(float, said.removeprefix("step ").split(": "))
        at = [left + (right - left) * step / 1000, bottom - (bottom - top) * accuracy]
        assert px(mark, "cx", "cy") == pytest.approx(at, **ABOUT)
    assert f"step 225: {state['accuracy']:.2f}" in [said for _, said in hits]

"""The pictures of notebook 09: what each head adds, and the whole computation on one page."""

import io
import itertools

import pytest
import torch
from matplotlib.colors import to_hex
from matplotlib.patches import FancyArrowPatch, Rectangle
from PIL import Image

from mha_helpers import golden_example, style
from mha_helpers.figures.cells import tint
from mha_helpers.figures.f09_concat_and_output import contribution_bars
from mha_helpers.figures.f09_summary import STEPS, summary_picture

EXAMPLE = golden_example()


@pytest.fixture(scope="module")
def trace():
    with torch.no_grad():
        return EXAMPLE.attention().trace(EXAMPLE.x)


@pytest.fixture
def contributions(trace):
    return trace.heads @ EXAMPLE.w_o.view(3, 2, 6)


MATRICES = (EXAMPLE.w_q, EXAMPLE.w_k, EXAMPLE.w_v)


@pytest.fixture(scope="module")
def summary():
    return summary_picture()


def bars_of(picture, token):
    """Return (head, from, to) of every bar of one token, feature by feature."""
    heads = {style.head_colour(head): head for head in range(9)}
    found = {}
    for patch in picture.figure.axes[token].patches:
        colour = "#" + "".join(f"{round(255 * part):02X}" for part in patch.get_facecolor()[:3])
        feature = round(patch.get_y() + patch.get_height() / 2)
        pair = (patch.get_x(), patch.get_x() + patch.get_width(), patch.get_alpha())
        found.setdefault(feature, {})[heads[colour]] = pair
    return found


def marks_of(picture, token):
    lines = [line for line in picture.figure.axes[token].lines if line.get_color() == style.COLOURS["ink"]]
    return [line.get_xdata()[0] for line in lines]


def is_whole(picture):
    box = picture.figure.get_tightbbox()
    width, height = picture.figure.get_size_inches()
    return box.x0 >= 0 and box.y0 >= 0 and box.x1 <= width and box.y1 <= height


def test_every_mark_is_the_output(trace, contributions):
    picture = contribution_bars(contributions, EXAMPLE.tokens, EXAMPLE.features, EXAMPLE.head_names)
    for token in range(3):
        assert marks_of(picture, token) == pytest.approx(trace.output[token].tolist(), abs=1e-5)
        for feature, bars in bars_of(picture, token).items():
            lengths = [bars[head][1] - bars[head][0] for head in range(3)]
            assert lengths == pytest.approx(contributions[:, token, feature].tolist(), abs=1e-5)
            right = max(end for _, end, _ in bars.values())
            left = min(end for _, end, _ in bars.values())
            assert right + min(left, 0) == pytest.approx(trace.output[token, feature].item(), abs=1e-5)


def test_a_head_that_is_off_is_pale_last_and_left_out(contributions):
    on = [True, False, True]
    picture = contribution_bars(contributions, EXAMPLE.tokens, EXAMPLE.features, heads_on=on)
    kept = contributions[[0, 2]].sum(dim=0)
    for token in range(3):
        assert marks_of(picture, token) == pytest.approx(kept[token].tolist(), abs=1e-5)
        bars = bars_of(picture, token)[0]  # "who acts": heads 1 and 2 add to it
        assert bars[1][2] < 0.5 < bars[0][2]
        assert bars[0][0] == 0 and bars[1][0] == pytest.approx(bars[0][1])
    assert picture.alt.startswith("What 3 heads add to the output. Off: head 2. cat: who acts: head 1 1.35;")


def test_the_words_write_the_sums_out(contributions):
    words = contribution_bars(contributions, EXAMPLE.tokens, EXAMPLE.features).alt.splitlines()
    assert words[1].startswith(
        "eats: who acts: head 1 1.78, head 2 0.91, together 2.69; what happens: head 1"
    )
    assert words[1].endswith("3rd: head 1 1.78, head 3 −1.67, together 0.12.")
    assert contribution_bars(torch.zeros(2, 1, 1), ["cat"]).alt.endswith("cat: feature 1: 0.")


@pytest.mark.parametrize("shape", [(1, 1, 1), (3, 3, 6), (8, 5, 12), (12, 2, 3)])
def test_nothing_is_cut(shape):
    torch.manual_seed(0)
    values = torch.randn(shape)
    names = [f"the name of head {i}" for i in range(shape[0])]
    picture = contribution_bars(values, [f"token{i}" for i in range(shape[1])], None, names)
    assert is_whole(picture)
    for ax in picture.figure.axes:  # every bar within its panel
        low, high = ax.get_xlim()
        for patch in ax.patches:
            ends = (patch.get_x(), patch.get_x() + patch.get_width())
            assert low <= min(ends) and max(ends) <= high
    legend = picture.figure.legends[0].get_window_extent()
    title = picture.figure.axes[0].title.get_window_extent()
    assert legend.y0 >= title.y1


@pytest.mark.parametrize("tokens", [1, 3, 5])
@pytest.mark.parametrize("size", [0.01, 0.4, 1.0, 3.0, 250.0])
def test_the_numbers_below_the_bars_do_not_run_together(tokens, size):
    values = size * torch.tensor([[-0.8], [1.3]])[:, None].expand(2, tokens, 1)
    picture = contribution_bars(values, ["cat"] * tokens)
    picture.figure.canvas.draw()
    for ax in picture.figure.axes:
        low, high = ax.get_xlim()
        labels = zip(ax.get_xticks(), ax.get_xticklabels(), strict=True)
        boxes = [label.get_window_extent() for tick, label in labels if low <= tick <= high]
        assert len(boxes) >= 2
        assert all(one.x1 < other.x0 for one, other in itertools.pairwise(boxes))


def test_chinese_tokens_have_a_legend_where_no_font_has_them(contributions, monkeypatch):
    monkeypatch.setattr(style, "drawable", lambda text: text.isascii())
    picture = contribution_bars(contributions, EXAMPLE.chinese, EXAMPLE.features)
    assert [ax.get_title() for ax in picture.figure.axes] == ["1", "2", "3"]
    assert "<b>2</b> 吃" in picture.legend_html
    assert "吃: who acts" in picture.alt


@pytest.mark.parametrize(
    "arguments, error, words",
    [
        (([[[1.0]]], ["cat"]), TypeError, "contributions must be a torch.Tensor"),
        ((torch.zeros(2, 3), ["a"] * 3), ValueError, r"must have shape \(h, n, d_model\), got \(2, 3\)"),
        ((torch.zeros(2, 3), ["a"] * 3), ValueError, r"for one head take contributions\[None\]\.$"),
        ((torch.zeros(1, 2, 3, 4), ["a"] * 3), ValueError, r"take contributions\[0\]"),
        ((torch.zeros(2, 6, 6), ["a"] * 6), ValueError, "holds 5 tokens and 12 features; there are 6 and 6"),
        ((torch.zeros(2, 3, 64), ["a"] * 3), ValueError, r"Choose some: contributions\[:, :5, :12\]"),
        ((torch.zeros(2, 3, 6), ["a"] * 2), ValueError, "tokens must hold 3, one for each token; got 2"),
        (
            (torch.zeros(2, 1, 2), ["a"], ["f"]),
            ValueError,
            "features must hold 2, one for each feature; got 1",
        ),
        (
            (torch.zeros(2, 1, 1), ["a"], None, ["x"]),
            ValueError,
            "head_names must hold 2, one for each head; got 1",
        ),
        (
            (torch.zeros(2, 1, 1), ["a"], None, None, [True]),
            ValueError,
            "heads_on must hold 2, one for each head; got 1",
        ),
    ],
)
def test_what_does_not_fit_is_refused(arguments, error, words):
    with pytest.raises(error, match=words):
        contribution_bars(*arguments)


def test_the_page_says_every_step_with_its_shape(summary):
    lines = summary.alt.splitlines()
    assert [line[:2] for line in lines[1:]] == ["01", "02", "08", "03", "04", "05", "06", "07", "09", "09"]
    assert lines[2].startswith("02 project: Q = x W_Q, K = x W_K, V = x W_V; (b, n, h·d_k) = (1, 3, 6).")
    assert lines[7].startswith("06 weights: A_i = softmax of each row of S_i; (b, h, n, n) = (1, 3, 3, 3).")
    drawn = {text.get_text() for text in summary.figure.axes[0].texts}
    for step in STEPS:
        assert step.formula in drawn or step.name == "mask"
        assert step.name == "mask" or step.axes in drawn


def test_the_page_says_the_numbers_of_the_framed_row(summary, trace):
    """Whoever cannot see the picture follows "eats" as well."""
    said = dict(line.split("; ", 1) for line in summary.alt.splitlines()[1:])

    def written(row):
        return f"({', '.join(style.number(number) for number in row.tolist())})"

    for start, matrix in (("01", trace.x), ("09 concat", trace.concat), ("09 project", trace.output)):
        (words,) = (rest for name, rest in said.items() if name.startswith(start))
        assert words.endswith(f" “eats”: {written(matrix[1])}.")
    for start, heads in (
        ("03", trace.scores),
        ("04", trace.scaled),
        ("06", trace.weights),
        ("07", trace.heads),
    ):
        (words,) = (rest for name, rest in said.items() if name.startswith(start))
        by_head = [f"head {h + 1} {written(heads[h, 1])}" for h in range(3)]
        assert words.endswith(f" “eats”: {'; '.join(by_head)}.")
    sides = [f"{name} {written(EXAMPLE.x[1] @ w)}" for name, w in zip("QKV", MATRICES, strict=True)]
    assert said["02 project: Q = x W_Q, K = x W_K, V = x W_V"].endswith(f" “eats”: {'; '.join(sides)}.")
    split = said["08 split into heads: view, then transpose"]
    assert "“eats”: Q head 1 (2, −1); Q head 2 (−1, 1);" in split and split.endswith("V head 3 (0, 2).")


def test_the_page_holds_the_numbers_of_the_example(summary, trace):
    texts = summary.figure.axes[0].texts
    drawn = [text.get_text() for text in texts]
    matrices = [EXAMPLE.x, EXAMPLE.w_o, trace.concat, trace.output]
    matrices += [EXAMPLE.x @ w for w in (EXAMPLE.w_q, EXAMPLE.w_k, EXAMPLE.w_v)]
    for name in ("q", "k", "v", "scores", "scaled", "weights", "heads"):
        matrices += [*getattr(trace, name)]
    wanted = []
    for matrix in matrices:
        decimals = 0 if style.whole_numbers(matrix) else 2
        wanted += [style.number(value, decimals, trim=False) for value in matrix.flatten()]
    for number in set(wanted):
        assert drawn.count(number) == wanted.count(number), number


def test_the_page_has_the_proportions_of_paper_and_nothing_is_cut(summary):
    width, height = summary.figure.get_size_inches()
    assert height / width == pytest.approx(2**0.5, abs=0.005)
    assert is_whole(summary)
    image = Image.open(io.BytesIO(summary.png()))
    assert image.width / width >= 140  # dots for an inch
    file = io.BytesIO()
    summary.figure.savefig(file, format="pdf")
    assert file.getvalue().startswith(b"%PDF")


def test_no_number_leaves_its_cell_and_no_text_covers_another(summary):
    axes = summary.figure.axes[0]
    cells = [patch for patch in axes.patches if isinstance(patch, Rectangle) and patch.get_fill()]
    renderer = summary.figure.canvas.get_renderer()
    boxes = [text.get_window_extent(renderer) for text in axes.texts]
    corners = [cell.get_window_extent() for cell in cells]
    for text, box in zip(axes.texts, boxes, strict=True):
        middle = ((box.x0 + box.x1) / 2, (box.y0 + box.y1) / 2)
        inside = [cell for cell in corners if cell.contains(*middle)]
        if inside and not text.get_text().startswith("head "):
            assert inside[0].x0 - 1 <= box.x0 and box.x1 <= inside[0].x1 + 1, text.get_text()
    for i, box in enumerate(boxes):
        for other, second in zip(boxes[i + 1 :], axes.texts[i + 1 :], strict=True):
            touching = box.x0 < other.x1 and other.x0 < box.x1 and box.y0 < other.y1 and other.y0 < box.y1
            assert not touching, f"{axes.texts[i].get_text()!r} and {second.get_text()!r}"


def middles(axes, letter):
    """Return (x, y, colour) of a text, in the pixels of the page."""
    return [(*text.get_position(), text.get_color()) for text in axes.texts if text.get_text() == letter]


def test_each_block_of_the_split_has_its_letter(summary):
    axes = summary.figure.axes[0]
    cells = [patch for patch in axes.patches if isinstance(patch, Rectangle) and patch.get_fill()]
    for letter, role in (("Q", "query"), ("K", "key"), ("V", "value")):
        places = middles(axes, letter)
        assert {colour for *_, colour in places} == {style.text_colour(style.COLOURS[role])}
        tinted = [
            cell for cell in cells if cell.get_facecolor()[:3] == pytest.approx(tint(style.COLOURS[role]))
        ]
        above = [
            (x, y)
            for x, y, _ in places
            if any(0 < cell.get_y() - y < 12 and abs(x - cell.get_x()) < 1 for cell in tinted)
        ]
        assert len(above) == 3  # over the middle of a block, where its second column begins


def test_the_values_go_past_the_scores_to_step_07_and_cross_no_text(summary):
    axes = summary.figure.axes[0]
    renderer = summary.figure.canvas.get_renderer()
    ways = [line for line in axes.lines if line.get_color() == style.COLOURS["value"]]
    assert len(ways) == 3
    split, heads = (next(step.top for step in STEPS if step.page == page) for page in ("08", "07"))
    boxes = [(text.get_text(), text.get_window_extent(renderer)) for text in axes.texts]
    filled = [patch for patch in axes.patches if isinstance(patch, Rectangle) and patch.get_fill()]
    arrows = [patch for patch in axes.patches if isinstance(patch, FancyArrowPatch)]
    arrows = [arrow for arrow in arrows if to_hex(arrow.get_edgecolor()).upper() == style.COLOURS["value"]]
    letters = [place for place in middles(axes, "V") if place[1] > heads]
    for line, arrow, (x, y, _) in zip(ways, arrows, letters, strict=True):
        (right, _), (start, end) = line.get_data()
        assert split + 72 < start < end and heads < end < heads + 72
        assert x < right and 0 < end - y < 15  # its letter stands in the corner
        way, tip = line.get_window_extent(), arrow.get_window_extent(renderer)
        assert tip.overlaps(way)
        for text, box in boxes:
            assert not box.overlaps(way) and not box.overlaps(tip), text
        cells = [cell.get_window_extent() for cell in filled]
        assert not any(cell.overlaps(way) or cell.overlaps(tip) for cell in cells)
        assert any(0 < tip.x0 - cell.x1 < 4 and cell.y0 <= tip.y0 <= cell.y1 for cell in cells)

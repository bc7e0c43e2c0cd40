"""The static figures: one scale, hatched masks, no missing glyphs."""

import io
import itertools
import math
import re
import subprocess
import sys

import numpy
import pytest
import torch
from matplotlib.collections import QuadMesh
from matplotlib.patches import Rectangle
from matplotlib.text import Text
from PIL import Image

from mha_helpers import causal_mask, golden_example, padding_mask, style
from mha_helpers.figures import Picture, head_heatmaps, heatmap, pipeline_map
from mha_helpers.figures.f04_scaling import rows_picture, spread_picture
from mha_helpers.figures.f05_causal_mask import mask_maps
from mha_helpers.figures.f07_weighted_values import value_hull, value_stack
from mha_helpers.figures.f10_trained_heads import pairs_picture

pytestmark = pytest.mark.usefixtures("warnings_are_errors")


@pytest.fixture
def golden():
    example = golden_example()
    return example, example.attention().trace(example.x[None])


def meshes(picture):
    """The heatmaps of a picture, without its colour bar."""
    found = [c for ax in picture.figure.axes for c in ax.collections if isinstance(c, QuadMesh)]
    return [mesh for mesh in found if mesh.axes.get_label() != "colour bar"]


def panels(picture):
    return [mesh.axes for mesh in meshes(picture)]


def cell_texts(ax):
    return [text.get_text() for text in ax.texts if text.get_transform() == ax.transData]


def pixels(picture):
    return numpy.asarray(Image.open(io.BytesIO(picture.png())).convert("RGB")).astype(int)


def cell_pixels(picture, ax, i, j):
    """The pixels well inside a cell."""
    image = pixels(picture)
    zoom = style.SAVED_DPI / picture.figure.dpi
    (left, top), (right, bottom) = (
        ax.transData.transform((j + 0.15, i + 0.15)) * zoom,
        ax.transData.transform((j + 0.85, i + 0.85)) * zoom,
    )
    height = image.shape[0]
    return image[round(height - top) : round(height - bottom), round(left) : round(right)].reshape(-1, 3)


# ---------------------------------------------------------------- what is drawn


def test_the_cells_hold_the_numbers_and_the_axes_their_names(golden):
    example, trace = golden
    (ax,) = panels(heatmap(trace.scores[0, 0], example.tokens, kind="scores"))
    assert cell_texts(ax) == ["4", "0", "2", "4", "−1", "0", "2", "0", "1"]
    assert (ax.get_ylabel(), ax.get_xlabel()) == ("query", "key")
    assert [label.get_text() for label in ax.get_yticklabels()] == list(example.tokens)
    assert [label.get_text() for label in ax.get_xticklabels()] == list(example.tokens)
    (ax,) = panels(heatmap(example.x, example.tokens, kind="vectors"))
    assert (ax.get_ylabel(), ax.get_xlabel()) == ("token", "feature")


@pytest.mark.parametrize("heads", [1, 2, 3, 5, 8, 12])
def test_one_scale_and_one_colour_bar_for_all_heads(heads):
    weights = torch.rand(heads, 4, 4) / 10
    scores = torch.randn(heads, 4, 4)
    for picture, ends in (
        (head_heatmaps(weights), (0, 1)),
        (head_heatmaps(scores, kind="scores"), (-scores.abs().max(), scores.abs().max())),
    ):
        assert len(meshes(picture)) == heads
        assert {mesh.get_clim() for mesh in meshes(picture)} == {tuple(map(float, ends))}
        assert sum(ax.get_label() == "colour bar" for ax in picture.figure.axes) == 1


def test_masked_scores_do_not_stretch_the_scale():
    scores = torch.tensor([[1.0, 99.0], [2.0, 3.0]])
    picture = heatmap(scores, mask=causal_mask(2), kind="scores")
    assert meshes(picture)[0].get_clim() == (-3, 3)


def test_masked_cells_are_hatched_grey_and_empty():
    picture = heatmap(torch.full((3, 3), 0.5), "abc", mask=causal_mask(3))
    (ax,) = panels(picture)
    assert cell_texts(ax) == ["0.50"] * 6
    hatched = {
        (i, j)
        for i in range(3)
        for j in range(3)
        # grey and not one even colour: the hatch
        if (cell := cell_pixels(picture, ax, i, j)).std(axis=0).min() > 10
        and numpy.abs(cell - cell.mean(axis=1, keepdims=True)).max() < 12
    }
    assert hatched == {(0, 1), (0, 2), (1, 2)}


def test_cells_that_are_not_numbers_are_neither_hatched_nor_coloured():
    picture = heatmap(torch.tensor([[float("nan"), 0.5], [0.5, 0.5]]))
    (ax,) = panels(picture)
    assert sorted(cell_texts(ax)) == ["0.50", "0.50", "0.50", "nan"]
    assert numpy.median(cell_pixels(picture, ax, 0, 0)) == 255


def test_an_infinite_score_is_neither_hatched_nor_masked():
    picture = heatmap(torch.tensor([[1.0, math.inf], [0.0, -math.inf]]), kind="scores")
    (ax,) = panels(picture)
    assert sorted(cell_texts(ax)) == ["0", "1", "∞"]
    assert len(ax.patches) == 1 and ax.patches[0].get_xy() == (1, 0)
    assert "Masked: 1 of 4" in picture.alt


@pytest.mark.parametrize(
    "limit, ticks",
    [
        (1.0, ["−1", "0", "1"]),
        (0.5, ["−0.5", "0", "0.5"]),
        (0.0034, ["−0.0034", "0", "0.0034"]),
        (2e-7, ["−2.0e−07", "0", "2.0e−07"]),
    ],
)
def test_a_scale_of_small_numbers_is_not_all_zeros(limit, ticks):
    picture = heatmap(torch.tensor([[limit, 0.0]]), kind="vectors")
    assert [text.get_text() for text in picture.figure.axes[-1].get_yticklabels()] == ticks


def test_a_mask_may_have_the_axes_of_a_batch():
    weights = torch.rand(2, 3, 3)
    assert head_heatmaps(weights, mask=padding_mask([2], 3)).alt.count("Masked: 3 of 9") == 2


def test_several_parts_can_be_lit():
    (ax,) = panels(heatmap(torch.rand(3, 6), highlight=[(0, 5), (2, None)]))
    assert {p.get_xy() for p in ax.patches if not p.get_fill()} == {(5, 0), (0, 2)}


@pytest.mark.parametrize(
    ("highlight", "corner", "size"),
    [((1, 0), (0, 1), (1, 1)), ((2, None), (0, 2), (3, 1)), ((None, 1), (1, 0), (1, 3))],
)
def test_the_lit_part_is_outlined(highlight, corner, size):
    (ax,) = panels(heatmap(torch.rand(3, 3), highlight=highlight))
    lit = [p for p in ax.patches if isinstance(p, Rectangle) and not p.get_fill()]
    assert lit and all((p.get_xy(), (p.get_width(), p.get_height())) == (corner, size) for p in lit)
    assert len([p for p in panels(heatmap(torch.rand(3, 3)))[0].patches if not p.get_fill()]) == 0


@pytest.mark.parametrize(
    "highlight",
    [
        1,
        (1, 0, 2),
        ((0, 1), (1, 1)),
        (0, True),
        [(0.5, 1)],
        [1, 0],
        {"rows": [1]},
        "row 1",
        [(0, 1), None],
    ],
)
def test_a_highlight_of_another_form_is_refused_with_the_right_one(highlight):
    with pytest.raises(TypeError, match=r"highlight must be \(row, column\).* got") as caught:
        heatmap(torch.eye(3), highlight=highlight)
    assert str(caught.value).endswith(f"got {highlight!r}.")


def test_a_highlight_may_be_named_by_tensors():
    best = torch.eye(3)[2].argmax()
    assert heatmap(torch.eye(3), highlight=(best, None)).alt.endswith("Framed: row 3.")
    assert heatmap(torch.eye(3), highlight=[(best, best)]).alt.endswith("Framed: row 3, column 3.")


def test_each_head_has_its_colour_and_name(golden):
    example, trace = golden
    for head, ax in enumerate(panels(head_heatmaps(trace.weights[0], example.tokens, example.head_names))):
        (title,) = [text for text in ax.texts if text.get_transform() == ax.transAxes]
        assert title.get_text() == f"head {head + 1}\n{example.head_names[head]}"
        assert title.get_color() == style.text_colour(style.head_colour(head))


PICTURES = {
    "one token": lambda: heatmap(torch.ones(1, 1), ["cat"], title="A title that is longer than the picture"),
    "long tokens": lambda: heatmap(torch.rand(5, 5), ["internationalisation"] * 5),
    "wide": lambda: heatmap(torch.randn(3, 30), kind="vectors"),
    "tall": lambda: heatmap(torch.rand(30, 2)),
    "large numbers": lambda: head_heatmaps(torch.randn(2, 3, 3) * 1000, "abc", kind="scores"),
    "many tokens": lambda: heatmap(torch.rand(128, 128), [f"token{i}" for i in range(128)]),
    "two heads": lambda: head_heatmaps(torch.rand(2, 3, 3), "abc", ["a name that is far too long", ""]),
    "8 heads": lambda: head_heatmaps(torch.rand(8, 16, 16), ["fisherman"] * 16, mask=causal_mask(16)),
    "16 heads": lambda: head_heatmaps(torch.rand(16, 8, 8), ["fisherman"] * 8),
    "n_q ≠ n_k": lambda: head_heatmaps(torch.rand(3, 2, 5), ["a", "b"], column_labels="vwxyz"),
    "feature names": lambda: heatmap(torch.rand(3, 6), "abc", golden_example().features, kind="vectors"),
    "pipeline": lambda: pipeline_map(7),
}


@pytest.mark.parametrize("name", PICTURES)
def test_nothing_is_cut_and_nothing_is_small(name):
    picture = PICTURES[name]()
    assert picture.width <= 900
    with style.drawing():
        picture.figure.canvas.draw()
    frame = picture.figure.bbox
    for text in picture.figure.findobj(Text):
        if not text.get_text() or not text.get_visible():
            continue
        assert text.get_fontsize() >= 11, text
        box = text.get_window_extent()
        assert box.x0 >= 0 and box.y0 >= 0 and box.x1 <= frame.x1 and box.y1 <= frame.y1, text
    edge = pixels(picture)
    for side in (edge[0], edge[-1], edge[:, 0], edge[:, -1]):
        assert side.min() == 255


@pytest.mark.parametrize("name", PICTURES)
def test_labels_of_an_axis_do_not_overlap(name):
    picture = PICTURES[name]()
    with style.drawing():
        picture.figure.canvas.draw()
    for ax in picture.figure.axes:
        for labels in (ax.get_xticklabels(), ax.get_yticklabels()):
            boxes = [label.get_window_extent() for label in labels if label.get_text()]
            for one, other in itertools.pairwise(boxes):
                overlap = (
                    min(one.x1, other.x1) - max(one.x0, other.x0),
                    min(one.y1, other.y1) - max(one.y0, other.y0),
                )
                assert min(overlap) <= 2, (ax, one, other)


def test_negative_zero_is_never_said_or_drawn():
    picture = heatmap(torch.tensor([[-0.001, 0.5], [-0.0, 1.0]]), "ab", kind="scores")
    assert not re.search(r"[-−]0(\.00)?\b(?!\.)", picture.alt)
    assert cell_texts(panels(picture)[0]) == ["0.00", "0.50", "0.00", "1.00"]


# ---------------------------------------------------------------- Picture


def test_no_glyph_is_missing_and_the_legend_helps(monkeypatch):
    tokens = ["猫", "🐈", "<script>"]
    monkeypatch.setattr(style, "_glyphs", lambda: frozenset(range(32, 127)))
    picture = head_heatmaps(torch.rand(2, 3, 3), tokens, ["谁", "🐟"])
    data, _ = picture._repr_mimebundle_()
    assert [label.get_text() for label in panels(picture)[0].get_yticklabels()] == ["1", "2", "3"]
    assert "<b>1</b> 猫" in picture.legend_html and picture.legend_html in data["text/html"]
    assert "<script" not in data["text/html"] and "&lt;script&gt;" in data["text/html"]
    assert "猫 attends most to" in picture.alt  # words need no font of ours


def test_chinese_and_emoji_with_the_fonts_that_are_there():
    heatmap(torch.rand(4, 4), ["猫", "吃", "🐟", "$x$"], title="$5 and 6$").png()


def test_a_picture_brings_its_words_along(golden):
    example, trace = golden
    picture = heatmap(trace.weights[0, 0], example.tokens)
    data, metadata = picture._repr_mimebundle_()
    assert set(data) == {"image/png", "text/plain"}
    assert data["text/plain"] == repr(picture) == metadata["image/png"]["alt"] == picture.alt
    assert metadata["image/png"]["width"] == picture.width
    assert heatmap(torch.eye(2), alt="My own words.").alt == "My own words."


def test_the_same_picture_has_the_same_bytes_and_no_version(golden):
    example, trace = golden
    for make in (
        lambda: head_heatmaps(trace.weights[0], example.tokens, mask=causal_mask(3)),
        lambda: pipeline_map(3),
    ):
        first, second = make().png(), make().png()
        assert first == second and first.startswith(b"\x89PNG")
        assert b"matplotlib" not in first and b"Software" not in first and b"tEXt" not in first


def test_a_page_of_pictures_stays_small(golden):
    example, trace = golden
    largest = max(
        len(pipeline_map(3).png()),
        len(head_heatmaps(trace.weights[0], example.tokens, example.head_names).png()),
        len(head_heatmaps(torch.rand(8, 16, 16).softmax(-1), mask=causal_mask(16)).png()),
    )
    assert 8 * largest * 4 / 3 < 600_000  # eight pictures in base64


def test_the_callers_settings_and_data_are_left_alone():
    import matplotlib

    before = dict(matplotlib.rcParams)
    weights = torch.rand(2, 3, 3, requires_grad=True)
    copy = weights.detach().clone()
    head_heatmaps(weights, mask=causal_mask(3)).png()
    assert dict(matplotlib.rcParams) == before and torch.equal(weights.detach(), copy)


def test_pyplot_is_not_needed():
    code = (
        "import mha_helpers.figures, sys; assert 'seaborn' not in sys.modules;"
        "from mha_helpers import heatmap; import torch; heatmap(torch.eye(2)).png();"
        "from matplotlib import pyplot; assert not pyplot.get_fignums()"
    )
    subprocess.run([sys.executable, "-c", code], check=True, timeout=120)


# ---------------------------------------------------------------- kinds of numbers

NUMBERS = torch.tensor([[0.75, 0.25], [0.5, 0.5]])
DRAWN_FROM_NUMBERS = {
    "rows": lambda numbers: rows_picture([numbers], ["no scale"], ["d_k = 4", "d_k = 64"]),
    "spread": lambda numbers: spread_picture({1: numbers, 4: numbers, 16: numbers}),
    "pairs": lambda numbers: pairs_picture(numbers, ["1.1", "1.2"]),
    "stack": lambda numbers: value_stack(numbers[0], numbers, range(2), "cat"),
    "hull": lambda numbers: value_hull(numbers, range(2), numbers, ["a", "b"]),
}


@pytest.mark.parametrize("drawn", DRAWN_FROM_NUMBERS)
@pytest.mark.parametrize("kind", ["a gradient", "bfloat16", "float64", "list", "array"])
@pytest.mark.usefixtures("warnings_are_errors")
def test_figures_of_the_pages_take_every_kind_of_numbers(drawn, kind):
    numbers = {
        "a gradient": NUMBERS.clone().requires_grad_(),
        "bfloat16": NUMBERS.bfloat16(),
        "float64": NUMBERS.double(),
        "list": NUMBERS.tolist(),
        "array": NUMBERS.numpy(),
    }[kind]
    draw = DRAWN_FROM_NUMBERS[drawn]
    assert draw(numbers).alt == draw(NUMBERS).alt


def test_labels_may_be_numbers():
    assert "“may attend”: 0 1; 1 1–2; 2 1–3." in mask_maps({"causal": causal_mask(3)}, range(3)).alt


# ---------------------------------------------------------------- mistakes


@pytest.mark.parametrize(
    ("call", "error", "words"),
    [
        (lambda: heatmap(torch.rand(2, 3, 3)), ValueError, "several heads use head_heatmaps"),
        (lambda: heatmap(torch.rand(3)), ValueError, r"of one row make a matrix with \[None\]"),
        (lambda: head_heatmaps(torch.rand(4, 2, 3, 3)), ValueError, r"weights\[0\]"),
        (lambda: head_heatmaps(torch.rand(3, 3)), ValueError, "one head use heatmap"),
        (lambda: heatmap(torch.rand(0, 3)), ValueError, r"\(0, 3\)"),
        (
            lambda: heatmap(torch.rand(2, 3), ["a"]),
            ValueError,
            "^row_labels must hold 2, one for each row of the matrix; got 1",
        ),
        (
            lambda: heatmap(torch.rand(2, 3), ["a", "b"], ["a"]),
            ValueError,
            "^column_labels must hold 3, one for each column of the matrix; got 1",
        ),
        (lambda: heatmap(torch.rand(2, 2), kind="weight"), ValueError, '"weights"'),
        (lambda: heatmap(torch.rand(2, 2), kind="values"), ValueError, '"vectors", got .values.'),
        (lambda: heatmap(torch.rand(2, 2), mask=torch.ones(2, 2)), TypeError, "True means"),
        (lambda: heatmap(torch.rand(2, 2), mask=causal_mask(3)), ValueError, "broadcast"),
        (
            lambda: head_heatmaps(torch.rand(2, 2, 2), head_names=["a"]),
            ValueError,
            "^head_names must hold 2, one for each head; got 1",
        ),
        (lambda: heatmap(torch.rand(3, 6), highlight=(7, 9)), ValueError, "0 to 2, .* 3 rows; got 7"),
        (lambda: heatmap(torch.rand(3, 6), highlight=(-1, None)), ValueError, "lit row .* got -1"),
        (lambda: heatmap(torch.rand(3, 6), highlight=(None, 6)), ValueError, "5, .* 6 columns; got 6"),
        (lambda: heatmap(torch.rand(3, 6), highlight=[(0, 5), (0, -1)]), ValueError, "lit column .* -1"),
        (lambda: head_heatmaps(torch.rand(2, 3, 3), highlight=(3, 0)), ValueError, "lit row .* got 3"),
        (lambda: heatmap(torch.eye(2), limit=-1.0), ValueError, r"limit .* above 0.* got -1\.0\.$"),
        (lambda: heatmap(torch.eye(2), kind="scores", limit=0), ValueError, r"above 0.* got 0\.$"),
        (lambda: heatmap(torch.eye(2), limit=math.nan), ValueError, "above 0.* got nan"),
        (lambda: head_heatmaps(torch.rand(2, 2, 2), limit=math.inf), ValueError, "above 0.* got inf"),
    ],
)
def test_what_does_not_fit_is_said(call, error, words):
    with pytest.raises(error, match=words):
        call()


def test_picture_takes_any_figure():
    from mha_helpers.figures.picture import new_figure

    figure = new_figure(300, 100)
    figure.text(0.5, 0.5, "hello", ha="center")
    picture = Picture(figure, "The word hello.", width=200)
    assert picture.width == 200 and pixels(picture).min() < 100


def test_the_axes_can_be_named():
    figure = heatmap(torch.eye(2), kind="vectors", axes=("weight", "score")).figure
    assert figure.axes[0].get_ylabel() == "weight"
    assert figure.axes[0].get_xlabel() == "score"


def test_axes_are_coloured_where_they_are_query_and_key_and_only_there():
    mask = causal_mask(2)
    others = {"axes": ("output of", "changed token")}
    for picture in (heatmap(torch.eye(2)), head_heatmaps(torch.rand(2, 2, 2)), mask_maps({"m": mask}, "ab")):
        rows, columns = panels(picture)[0].yaxis.label, panels(picture)[-1].xaxis.label
        assert (rows.get_text(), columns.get_text()) == ("query", "key")
        assert (rows.get_color(), columns.get_color()) == (style.COLOURS["query"], style.COLOURS["key"])
        assert rows.get_weight() == columns.get_weight() == "bold"
    for picture in (
        heatmap(torch.eye(2), kind="vectors"),
        heatmap(torch.eye(2), **others),
        mask_maps({"m": mask}, "ab", **others),
    ):
        for label in (panels(picture)[0].yaxis.label, panels(picture)[0].xaxis.label):
            assert (label.get_color(), label.get_weight()) == (style.COLOURS["ink"], "normal")

"""The tables: the numbers are right, what is lit is lit, and nothing typed becomes HTML."""

import re
from html.parser import HTMLParser

import numpy
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from mha_helpers import causal_mask, golden_example, head_heatmaps, heatmap, padding_mask, style
from mha_helpers.inspector import cell_sum, matrix_table, product_table, side_by_side
from mha_helpers.tables import Table


class Cells(HTMLParser):
    """Collects the text and style of every <td> of a page, table by table, and checks the nesting."""

    def __init__(self, page):
        super().__init__()
        self.tables, self.open = [], []
        self.feed(page)
        assert not self.open

    def handle_starttag(self, tag, attributes):
        self.open.append((tag, dict(attributes)))
        if tag == "table":
            self.tables.append([])
        if tag == "tr":
            self.tables[-1].append([])
        if tag in ("td", "th"):
            self.tables[-1][-1].append({"tag": tag, "text": "", "bold": False, **dict(attributes)})

    def handle_endtag(self, tag):
        assert self.open.pop()[0] == tag

    def handle_data(self, data):
        tags = [tag for tag, _ in self.open]
        if "td" in tags or "th" in tags:
            cell = self.tables[-1][-1][-1]
            cell["text"] += data
            cell["bold"] |= tags[-1] == "b"


def numbers(table):
    return [[cell for cell in row if cell["tag"] == "td"] for row in table]


def read(text):
    return float(text.replace("−", "-"))


def test_the_table_holds_the_numbers_the_labels_and_the_shape():
    table = matrix_table([[1, -2], [3, 4]], ["cat", "eats"], ["a", "b"], name="Q")
    (cells,) = Cells(table.html).tables
    assert [[cell["text"] for cell in row] for row in cells] == [
        ["", "a", "b"],
        ["cat", "1", "−2"],
        ["eats", "3", "4"],
    ]
    assert [cell.get("scope") for cell in cells[0]] == [None, "col", "col"]
    assert cells[1][0]["scope"] == "row"
    assert "<b>Q</b> (2, 2)</span></caption>" in table.html
    assert repr(table) == "Q (2, 2)\n      a   b\ncat   1  −2\neats  3   4"


def test_a_table_in_plain_text_sets_lit_numbers_in_brackets_and_keeps_them_in_line():
    table = matrix_table(
        torch.tensor([[1.0, -2.0], [3.5, 40.0]]), ["cat", "eats"], ["a", "b"], highlight={"cells": [(0, 1)]}
    )
    assert table.text == "(2, 2)\n          a         b\ncat   1.000   [−2.000]\neats  3.500    40.000"
    bare = matrix_table(torch.tensor([[1, 2], [3, 4]]), mask=causal_mask(2), shape=False)
    assert bare.text == "1  —\n3  4"
    columns = matrix_table(torch.tensor([[1, 2]]), columns=["a", "b"], shape=False)
    assert columns.text == "a  b\n1  2"
    assert columns.html.count("<td") == 2 and 'scope="row"' not in columns.html and "XX" not in columns.html


def test_tables_side_by_side_are_joined_by_signs():
    a, b, c = (Table(f"<i>{name}</i>", name) for name in "abc")
    plain, signed = side_by_side(a, b), side_by_side(a, b, c, between=["·", "="])
    assert plain.text == "a\nb" and signed.text == "a\n·\nb\n=\nc"
    outer = '<div style="display:flex;flex-wrap:wrap;align-items:center;gap:8px 18px">'
    inner = '<div style="display:flex;align-items:center">'
    sign = '<div style="font-size:20px;padding-right:18px">·</div>'
    assert plain.html == f"{outer}{inner}<div><i>a</i></div></div>{inner}<div><i>b</i></div></div></div>"
    signed = side_by_side(a, b, between="·")
    assert signed.html == (
        f"{outer}{inner}<div><i>a</i></div></div>{inner}{sign}<div><i>b</i></div></div></div>"
    )


def test_nothing_typed_becomes_html():
    evil = "<script>alert(1)</script>"
    a = torch.eye(2)
    pages = [
        matrix_table(a, [evil, "&"], [evil, '"'], name=evil),
        product_table(a, a, 0, 0, evil, evil, evil, [evil] * 2, [evil] * 2, [evil] * 2, [evil] * 2),
        side_by_side(matrix_table(a), matrix_table(a), between=evil),
    ]
    for page in pages:
        assert "<script" not in page.html
        assert "&lt;script&gt;" in page.html
    with pytest.raises(ValueError, match="colour must be"):
        matrix_table(a, colour='#0072B2"><script>')


def test_lit_cells_are_bold_and_outlined_and_no_others():
    table = matrix_table(
        torch.arange(9).view(3, 3), highlight={"rows": [0], "columns": [2], "cells": [(2, 0)]}
    )
    (cells,) = Cells(table.html).tables
    lit = {(i, j) for i, row in enumerate(cells) for j, cell in enumerate(row) if "outline" in cell["style"]}
    bold = {(i, j) for i, row in enumerate(cells) for j, cell in enumerate(row) if cell["bold"]}
    assert lit == bold == {(0, 0), (0, 1), (0, 2), (1, 2), (2, 2), (2, 0)}
    assert re.findall(r"\[(\d)\]", table.text) == ["0", "1", "2", "5", "6", "8"]


def test_masked_cells_are_hatched_and_hold_no_number():
    table = matrix_table(torch.full((3, 3), 0.5), mask=causal_mask(3))
    (cells,) = Cells(table.html).tables
    for i, row in enumerate(cells):
        for j, cell in enumerate(row):
            assert ("repeating-linear-gradient" in cell["style"]) == (j > i)
            assert cell["text"] == ("—" if j > i else "0.500")
    masked = matrix_table(
        golden_example().attention().trace(golden_example().x[None], causal_mask(3)).masked[0, 0]
    )
    assert masked.html.count("repeating-linear-gradient") == masked.text.count("−∞") == 3


def test_readable_on_any_page():
    table = product_table(torch.eye(2), torch.eye(2), 0, 0)
    assert "color:inherit" in table.html
    # Text has no colour of its own, and what lies behind it lets the page through.
    assert set(re.findall(r"(?<![-\w])color:([^;\"]*)", table.html)) == {"inherit"}
    for background in re.findall(r"background:([^;\"]*)", table.html):
        assert background == "transparent" or "rgba(" in background
    assert "<script" not in table.html and "<style" not in table.html and "http" not in table.html


def test_a_mark_too_dark_for_a_dark_page_takes_on_the_colour_of_the_text():
    bars = {
        colour: re.search(r'<span style="(.*?)"', matrix_table(torch.eye(2), name="x", colour=colour).html)[1]
        for colour in ("query", "output")
    }
    assert "border-left:6px solid #0072B2;" in bars["query"] and "currentColor" not in bars["query"]
    kept, mixed = "border-left:6px solid #560D5A;", "color-mix(in srgb,#560D5A 65%,currentColor);"
    assert bars["output"].startswith(f"{kept}border-left-color:{mixed}")


whole = st.integers(-9, 9)


@given(st.integers(1, 5), st.integers(1, 7), st.integers(1, 5), st.data())
def test_the_written_sum_is_the_product(rows, shared, columns, data):
    a = torch.tensor(
        data.draw(st.lists(st.lists(whole, min_size=shared, max_size=shared), min_size=rows, max_size=rows))
    )
    b = torch.tensor(
        data.draw(
            st.lists(st.lists(whole, min_size=columns, max_size=columns), min_size=shared, max_size=shared)
        )
    )
    i, j = data.draw(st.integers(0, rows - 1)), data.draw(st.integers(0, columns - 1))
    table = product_table(a, b, i, j)
    product = a @ b
    written = table.text.splitlines()[-1]
    head, terms, total = written.split(" = ")
    assert head == f"scores[{i + 1}, {j + 1}]"
    assert read(total) == product[i, j]
    factors = [[read(f.strip("()")) for f in term.split("·")] for term in terms.split(" + ")]
    assert [x for x, _ in factors] == a[i].tolist()
    assert [y for _, y in factors] == b[:, j].tolist()
    assert not re.search(r"−0(?![.\d])", table.text)

    shown = [numbers(part) for part in Cells(table.html).tables]
    for matrix, cells in zip((a, b, product), shown, strict=True):
        assert [[read(cell["text"]) for cell in row] for row in cells] == matrix.tolist()
    lit = [{(r, c) for r, row in enumerate(p) for c, cell in enumerate(row) if cell["bold"]} for p in shown]
    assert lit[0] == {(i, c) for c in range(shared)}
    assert lit[1] == {(r, j) for r in range(shared)}
    assert lit[2] == {(i, j)}


def test_the_golden_score_of_eats_and_cat():
    example = golden_example()
    q, k = example.x @ example.w_q, example.x @ example.w_k
    table = product_table(
        q[:, :2], k[:, :2].T, 1, 0, a_rows=example.tokens, b_columns=example.tokens, scale=2**0.5
    )
    assert table.text.splitlines()[-1] == "scores[eats, cat] = (2·2 + (−1)·0) ÷ 1.414 ≈ 2.828"
    assert "2.828" in Cells(table.html).tables[2][2][1]["text"]


def test_the_three_matrices_of_a_product_have_their_own_labels_and_colours():
    a, b = torch.ones(2, 3), torch.ones(3, 2)
    labels = {"a_rows": ["cat", "eats"], "b_rows": ["x", "y", "z"], "b_columns": ["fish", "now"]}
    html = product_table(a, b, 0, 0, colours=("query", "key", "value"), **labels).html
    parts = html.split("<table")[1:]
    assert [[word in part for word in (">eats<", ">y<", ">now<")] for part in parts] == [
        [True, False, False],
        [False, True, True],
        [True, False, True],
    ]
    for name, part in zip(("query", "key", "value"), html.split("</table>"), strict=False):
        own = [style.COLOURS[other] in part for other in ("query", "key", "value")]
        assert own == [other == name for other in ("query", "key", "value")], name


@pytest.mark.parametrize(
    ("a", "b", "scale", "expected"),
    [
        ([0.1], [3.0], None, "0.1·3 = 0.3"),
        ([0.12345], [2.0], None, "0.123·2 ≈ 0.247"),
        ([-0.0001, 0.0], [2.0, 1.0], None, "0.000·2 + 0·1 ≈ 0"),
        ([-2.0], [-3.0], 2, "((−2)·(−3)) ÷ 2 = 3"),
        (list(range(10)), [1] * 10, None, "0·1 + 1·1 + 2·1 + 3·1 + 4·1 + 5·1 + … (3 more) … + 9·1 = 45"),
    ],
)
def test_sums(a, b, scale, expected):
    assert cell_sum(a, b, scale=scale) == expected


def test_negative_zero_is_never_printed():
    table = matrix_table(torch.tensor([[-0.0, -0.0001, 1.5]]), decimals=3)
    assert table.text.split("\n")[1].split() == ["0.000", "0.000", "1.500"]
    assert "−" not in table.html


def test_a_large_matrix_keeps_what_is_lit():
    matrix = torch.arange(16 * 512).view(16, 512)
    table = matrix_table(matrix, highlight={"cells": [(12, 300)]})
    assert f"[{12 * 512 + 300}]" in table.text
    assert "(16, 512)" in table.text and str(15 * 512 + 511) in table.text
    assert len(table.html) < 40_000


def test_a_vector_is_one_row_and_a_learned_matrix_is_shown():
    assert matrix_table(torch.nn.Parameter(torch.tensor([1.0, 2.0]))).text == "(1, 2)\n1  2"


def test_the_html_is_the_same_each_time():
    tables = [product_table(torch.ones(2, 3), torch.ones(3, 2), 1, 1).html for _ in range(2)]
    assert tables[0] == tables[1]


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: matrix_table(torch.ones(2, 3, 4)), r"2 axes.*\(2, 3, 4\).*matrix\[0\]"),
        (lambda: matrix_table(torch.ones(0, 3)), "at least one number"),
        (
            lambda: matrix_table(torch.ones(2, 2), ["a"]),
            "rows must hold 2, one for each row of the matrix; got 1",
        ),
        (lambda: matrix_table(torch.ones(2, 2), highlight={"row": [0]}), "'row'"),
        (lambda: matrix_table(torch.ones(2, 2), highlight={"rows": [2]}), "0 to 1"),
        (lambda: matrix_table(torch.ones(2, 2), mask=causal_mask(3)), "does not broadcast"),
        (lambda: product_table(torch.ones(2, 3), torch.ones(2, 3), 0, 0), "does not fit"),
        (lambda: product_table(torch.ones(2, 3), torch.ones(3, 4), 2, 0), "i must be 0 to 1"),
        (lambda: product_table(torch.ones(2, 3), torch.ones(3, 4), 0, -1), "j must be 0 to 3"),
        (lambda: cell_sum([1, 2], [1]), "same length"),
        (lambda: side_by_side(matrix_table([1]), matrix_table([1]), between=["a", "b"]), "1 gaps"),
        (lambda: side_by_side(), "got no table: give it at least one"),
        (lambda: side_by_side(between=["·"]), "got no table"),
    ],
)
def test_what_does_not_fit_is_said(call, words):
    with pytest.raises(ValueError, match=words):
        call()


@pytest.mark.parametrize("wrong", [torch.ones(2, 2), [matrix_table([1])], None])
def test_only_tables_stand_side_by_side(wrong):
    with pytest.raises(TypeError, match=f"got {type(wrong).__name__}. Try matrix_table"):
        side_by_side(matrix_table([1]), wrong)
    with pytest.raises(TypeError, match=r"for a list of tables, side_by_side\(\*tables\)\.$"):
        side_by_side([matrix_table([1]), matrix_table([1])])


def test_a_mask_may_have_the_axes_of_a_batch():
    table = matrix_table(torch.ones(3, 3), mask=padding_mask([2], 3))
    assert table.text == matrix_table(torch.ones(3, 3), mask=torch.tensor([True, True, False])).text
    with pytest.raises(ValueError, match="it has 4 axes, they have 2"):
        matrix_table(torch.ones(3, 3), mask=padding_mask([2, 3], 3))


def test_a_mask_of_numbers_is_refused():
    with pytest.raises(TypeError, match="True means"):
        matrix_table(torch.ones(2, 2), mask=torch.ones(2, 2))


def test_a_sum_of_what_is_no_number_is_refused_by_name():
    with pytest.raises(TypeError, match="a_row must hold numbers"):
        cell_sum(None, [1])
    with pytest.raises(TypeError, match="b_column holds complex numbers"):
        cell_sum([1], [1j])


@pytest.mark.parametrize("draw", [matrix_table, heatmap, head_heatmaps])
def test_what_holds_no_real_numbers_is_refused_by_name(draw):
    for wrong in (None, "abc", [["a"]]):
        with pytest.raises(TypeError, match="must hold numbers in rows and columns, got"):
            draw(wrong)
    with pytest.raises(TypeError, match="holds complex numbers"):
        draw(torch.ones(2, 2, 2, dtype=torch.complex64))


class LikeATable:
    """What a DataFrame is to PyTorch: something that only NumPy can read."""

    def __array__(self, dtype=None, copy=None):
        return numpy.array([[0.0, 1.0], [1.0, 0.0]])


@pytest.mark.parametrize("draw", [matrix_table, heatmap])
@pytest.mark.parametrize(
    "numbers",
    [
        numpy.eye(2)[::-1],
        [torch.tensor([0.0, 1.0]), torch.tensor([1.0, 0.0], requires_grad=True)],
        [numpy.array([0.0, 1.0]), [1, 0]],
        [[torch.tensor(0.0), 1.0], (1.0, numpy.float64(0))],
        LikeATable(),
    ],
)
def test_numbers_in_every_usual_form_are_shown(draw, numbers):
    assert repr(draw(numbers)) == repr(draw(torch.tensor([[0.0, 1.0], [1.0, 0.0]])))


@pytest.mark.parametrize(
    ("tensors", "numbers"),
    [
        ({"rows": torch.tensor([1])}, {"rows": [1]}),
        ({"columns": numpy.array([0, 1])}, {"columns": [0, 1]}),
        ({"cells": [(0, torch.tensor(1))]}, {"cells": [(0, 1)]}),
        ({"cells": torch.tensor([[0, 1], [1, 0]])}, {"cells": [(0, 1), (1, 0)]}),
    ],
)
def test_what_is_lit_may_be_named_by_tensors(tensors, numbers):
    lit, expected = (matrix_table(torch.eye(2), highlight=found) for found in (tensors, numbers))
    assert lit.html == expected.html and "[" in lit.text


def test_the_cell_of_a_product_may_be_named_by_tensors():
    a = torch.tensor([[1.0, 2.0], [3.0, 4.0]])
    expected = product_table(a, a, 1, 0, a_rows=["p", "q"], b_columns=["r", "s"])
    tables = product_table(a, a, torch.tensor(1), torch.tensor(0), a_rows=["p", "q"], b_columns=["r", "s"])
    assert tables.html == expected.html


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: matrix_table(torch.eye(2), highlight=(1, None)), r"a dict such as .* got \(1, None\)"),
        (lambda: matrix_table(torch.eye(2), highlight={"rows": 1}), r'highlight\["rows"\] .* \[1\], got 1'),
        (lambda: matrix_table(torch.eye(2), highlight={"columns": [0.5]}), r'"columns".* got \[0\.5\]'),
        (lambda: matrix_table(torch.eye(2), highlight={"cells": (0, 1)}), r"pairs .* got \(0, 1\)"),
        (lambda: matrix_table(torch.eye(2), highlight={"cells": [(0, 1, 1)]}), r"pairs .* got"),
        (lambda: product_table(torch.eye(2), torch.eye(2), 0.5, 0), "i must be a whole number, got 0.5"),
    ],
)
def test_a_wrong_form_of_what_is_lit_is_said(call, words):
    with pytest.raises(TypeError, match=words):
        call()


def test_a_lit_cell_is_tinted_with_the_colour_of_its_frame():
    html = matrix_table([[1.0, 2.0]], highlight={"rows": [0]}, colour="value")._repr_html_()
    colour = style.COLOURS["value"]
    red, green, blue = (int(colour[start : start + 2], 16) for start in (1, 3, 5))
    assert f"background:rgba({red},{green},{blue},.28)" in html
    assert f"outline:2px solid {colour}" in html

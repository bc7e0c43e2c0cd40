"""The whole machine of page 09: what it writes can be recomputed, what it frames is what went in, every way is open."""

import itertools
import math
import re

import matplotlib
import pytest
from PIL import ImageFont

from mha_course.p09_concat_and_output import machine_explorer
from mha_course.p09_concat_and_output.explorer_machine import START, TRAIL
from mha_course.p09_concat_and_output.machine import EXAMPLE, MASKS, MATRICES, Cell, machine
from mha_helpers.golden import golden_example
from mha_helpers.masks import causal_mask, sliding_window_mask

FIELDS = {"Q": "q", "K": "k", "V": "v", "head": "heads"}  # the others are called as in the trace
EVERY = [(head, mask) for head in range(3) for mask in MASKS]
every_machine = pytest.mark.parametrize(("head", "mask"), EVERY)


def evaluated(written):
    """Compute the left side of a line of arithmetic from its text alone."""
    code = written.replace("−∞", "(-math.inf)").replace("−", "-").replace("·", "*")
    code = re.sub(r"√(\d+)", r"math.sqrt(\1)", code)
    return eval(re.sub(r"e\^([-\d.]+|\(-math\.inf\))", r"math.exp(\1)", code), {"math": math})


def from_trace(head, mask):
    """Return each number from a trace of its own, and from the matrices of the example."""
    masks = {"none": None, "causal": causal_mask(3), "neighbours only": sliding_window_mask(3, 1)}
    trace = golden_example().trace(masks[mask])

    def value(cell):
        if cell.matrix.startswith("W_"):
            column = cell.column if cell.matrix == "W_O" else 2 * head + cell.column
            return float(getattr(EXAMPLE, cell.matrix.lower())[cell.row, column])
        matrix = getattr(trace, FIELDS.get(cell.matrix, cell.matrix))
        return float((matrix[head] if matrix.dim() == 3 else matrix)[cell.row, cell.column])

    return value


def go(panel, *cell):
    panel.click(MATRICES.index(cell[0]), *cell[1:])


@every_machine
def test_every_line_of_arithmetic_gives_the_number_of_the_trace(head, mask):
    now, value = machine(head, mask), from_trace(head, mask)
    written = {"=": 0, "≈": 0}
    for cell in now.values:
        line, expected = now.arithmetic(cell), value(cell)
        sign = re.search("[=≈]", line)
        if sign is None:  # nothing is computed: given, copied, masked
            left, right = line, re.match("[−∞.\\d]+", line)[0]
        else:
            left, right = (part.strip() for part in re.split("[=≈]", line))
            is_exact = f"{evaluated(left):.3f}" == f"{evaluated(right):.3f}"
            assert is_exact == (sign[0] == "="), line  # "=" only where the numbers written down do give it
            assert evaluated(left) == pytest.approx(expected, abs=0.003), line
            written[sign[0]] += 1
        assert evaluated(right) == pytest.approx(expected, abs=0.0005), line
        assert right == now.shown(cell)
    assert written["="] > 4 * written["≈"] > 0


@every_machine
def test_the_numbers_in_the_arithmetic_are_those_framed(head, mask):
    now = machine(head, mask)
    for cell in now.values:
        left, sign, _ = now.arithmetic(cell).replace("≈", "=").partition(" = ")
        framed = [now.shown(source) for source in now.sources(cell)]
        if not sign:
            is_copied = cell.matrix == "concat" or (cell.matrix == "masked" and now.shown(cell) != "−∞")
            assert len(framed) == is_copied
            if cell.matrix != "concat" or cell.column // 2 == head:  # the others are of another head
                assert framed == [now.shown(cell)] * is_copied
            continue
        if cell.matrix == "weights":
            left = left[left.index("(") :]
        if cell.matrix == "scaled":
            left = left.removesuffix(" / √2")
        half = len(framed) // 2
        if " · " in left:  # the factors take turns
            framed = [text for pair in zip(framed[:half], framed[half:], strict=True) for text in pair]
        assert re.findall("−?[∞\\d]+(?:\\.\\d+)?", left) == framed, now.arithmetic(cell)


THROUGH_THE_WEIGHTS = [
    ("concat", 1, 2), ("head", 1, 0), ("weights", 1, 2), ("masked", 1, 2), ("scaled", 1, 2), ("scores", 1, 2),
    ("K", 2, 0), ("x", 2, 2),
]  # fmt: skip
THROUGH_THE_VALUES = [("concat", 1, 0), ("head", 1, 0), ("V", 0, 0), ("x", 0, 0)]


@pytest.mark.parametrize("way", [THROUGH_THE_WEIGHTS, THROUGH_THE_VALUES])
def test_clicks_lead_from_the_output_of_eats_to_a_word_and_back(way):
    panel = machine_explorer()
    for i, cell in enumerate(way):
        assert cell in panel.state()["sources"]
        go(panel, *cell)
        assert panel.state()["trail"] == [START, *way[: i + 1]]
        assert panel.controls["head"].value == way[0][2] // 2
    assert panel.state()["sources"] == [] and "here the way ends" in panel.description()
    assert f">← head {way[0][2] // 2 + 1}</text>" in panel.svg()  # which word it is the step before has said
    panel.click(TRAIL, 1, 0)
    assert panel.state()["trail"] == [START, way[0]]
    panel.click(TRAIL, 7, 0)  # a step of a trail that has just been left
    assert panel.state()["trail"] == [START, way[0]]


def ways_from(now, cell):
    """Return every way from a number to one that is given, one for each choice of matrices."""
    nexts = {source.matrix: source for source in reversed(now.sources(cell))}
    return [[cell, *rest] for source in nexts.values() for rest in ways_from(now, source)] or [[cell]]


@pytest.mark.parametrize(
    "way", ways_from(machine(0, "none"), START), ids=lambda way: "-".join(c.matrix for c in way)
)
def test_an_arrow_key_that_goes_through_the_menu_loses_no_way(way):
    panel = machine_explorer()
    menu = panel.controls["matrix"]
    for i, cell in enumerate(way):
        while menu.value != cell.matrix:
            step = 1 if MATRICES.index(cell.matrix) > MATRICES.index(menu.value) else -1
            menu.value = MATRICES[MATRICES.index(menu.value) + step]
        trail = panel.state()["trail"]
        assert [step.matrix for step in trail] == [step.matrix for step in way[: i + 1]]
        assert all(b in panel.state()["machine"].sources(a) for a, b in itertools.pairwise(trail))


def test_the_menu_alone_goes_to_the_same_place_where_it_can_and_back_to_the_step_that_was():
    panel = machine_explorer()
    panel.set(column=2)
    for cell in (("concat", 1, 2), ("head", 1, 0), ("concat", 1, 2)):
        panel.controls["matrix"].value = cell[0]
        assert panel.state()["trail"][-1] == cell


def test_a_number_that_was_not_part_of_it_begins_a_new_trail():
    panel = machine_explorer()
    panel.set(matrix="W_O", row=5, column=4, head=1)  # all menus at once
    assert panel.state()["trail"][-1] == Cell("W_O", 5, 4)
    panel.set(matrix="x", column=3)  # which has no sixth row
    assert panel.state()["trail"] == [Cell("x", 2, 3)]
    go(panel, "Q", 2, 1)
    assert panel.state()["trail"] == [Cell("Q", 2, 1)]
    values = {name: panel.controls[name].value for name in ("matrix", "row", "column")}
    assert values == {"matrix": "Q", "row": 2, "column": 1}


def test_a_number_of_concat_takes_its_head_along_and_a_head_its_number():
    panel = machine_explorer()
    go(panel, "concat", 1, 5)
    assert panel.controls["head"].value == 2 and "head 3's output" in panel.description()
    panel.controls["head"].value = 0
    assert panel.state()["trail"] == [START, Cell("concat", 1, 1)]
    assert "1.865 is copied from head 1's output." in panel.description()


def test_another_mask_says_why_and_cuts_a_way_that_is_closed_now():
    panel = machine_explorer()
    for cell in (("head", 0, 0), ("weights", 0, 2), ("masked", 0, 2), ("scaled", 0, 2)):
        go(panel, *cell)
    panel.controls["mask"].value = "causal"
    assert panel.state()["trail"] == [Cell("scaled", 0, 2)]
    go(panel, "masked", 0, 2)
    assert "−∞, because fish comes after cat." in panel.description() and panel.state()["sources"] == []
    panel.controls["mask"].value = "neighbours only"
    assert "−∞, because fish is 2 words away from cat." in panel.description()
    backwards = panel.state()["machine"].arithmetic(Cell("masked", 2, 0))
    assert backwards == "−∞, because cat is 2 words away from fish."
    panel.controls["mask"].value = "none"
    assert "as before, because cat may look at fish." in panel.description()


def test_every_step_of_the_trail_fits_its_room():
    letters = ImageFont.truetype(f"{matplotlib.get_data_path()}/fonts/ttf/DejaVuSans-Bold.ttf", 11)
    for head, mask in EVERY:
        now = machine(head, mask)
        for cell in now.values:
            arrow = "← " * (cell.matrix != "output")  # which nothing is made from
            assert letters.getlength(f"{arrow}{now.step(cell)}") <= 182, now.step(cell)


def test_without_clicks_the_menus_are_in_sight_and_no_text_asks_for_one(monkeypatch):
    pytest.importorskip("anywidget")
    from mha_course.p09_concat_and_output import explorer_machine
    from mha_helpers import panel as panel_module

    for clicks in (True, False):
        monkeypatch.setattr(explorer_machine, "CLICKS", clicks)
        monkeypatch.setattr(panel_module, "CLICKS", clicks)
        panel = machine_explorer()
        if clicks:
            panel._front_end_listens()
        for step in (None, ("weights", 1, 0)):
            if step:
                go(panel, *step)
            head, words = panel._head.value, panel._words_box.value
            assert ("click" in head) == clicks and "click" not in words.lower()
        assert "click" in repr(panel)  # stored in a page, so it must be the same with and without clicks

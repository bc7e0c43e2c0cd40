"""The whole machine of page 09: what it writes can be recomputed, what it frames is what went in, every way is open."""

import itertools
import math
import re

import matplotlib
import pytest
import torch
from PIL import ImageFont

from mha_course.p09_concat_and_output import explorer_machine, machine_explorer
from mha_course.p09_concat_and_output.explorer_machine import START, TRAIL
from mha_course.p09_concat_and_output.machine import GIVEN, MASKS, MATRICES, SENTENCES, Cell, machine
from mha_course.p09_concat_and_output.tour import SENTENCES_OF, STEPS, told, tour_of
from mha_helpers import panel as panel_module
from mha_helpers.golden import golden_example
from mha_helpers.masks import causal_mask, sliding_window_mask
from mha_helpers.style import HEAD_COLOURS
from tests.pages.picture import drawn, px

FIELDS = {"Q": "q", "K": "k", "V": "v", "head": "heads"}  # the others are called as in the trace
EVERY = [(sentence, head, mask) for sentence in SENTENCES for head in range(3) for mask in MASKS]
every_machine = pytest.mark.parametrize(("sentence", "head", "mask"), EVERY)


def evaluated(written):
    """Compute the left side of a line of arithmetic from its text alone."""
    code = written.replace("−∞", "(-math.inf)").replace("−", "-").replace("·", "*")
    code = re.sub(r"√(\d+)", r"math.sqrt(\1)", code)
    return eval(re.sub(r"e\^([-\d.]+|\(-math\.inf\))", r"math.exp(\1)", code), {"math": math})


@torch.no_grad()
def from_trace(sentence, head, mask, changes=()):
    """Return each number from the class itself, with the weights of the example and these changes."""
    masks = {"none": None, "causal": causal_mask(3), "neighbours": sliding_window_mask(3, 1)}
    example = golden_example(sentence)
    attention, x = example.attention(), example.x.clone()
    for (name, row, column), changed in changes:
        matrix = x if name == "x" else getattr(attention, name.lower()).weight.T
        matrix[row, column] = changed
    trace = attention.trace(x, masks[mask])

    def value(cell):
        if cell.matrix.startswith("W_"):
            column = cell.column if cell.matrix == "W_O" else 2 * head + cell.column
            return float(getattr(attention, cell.matrix.lower()).weight.detach().T[cell.row, column])
        matrix = getattr(trace, FIELDS.get(cell.matrix, cell.matrix))
        return float((matrix[head] if matrix.dim() == 3 else matrix)[cell.row, cell.column])

    return value


def go(panel, *cell):
    panel.click(MATRICES.index(cell[0]), *cell[1:])


@every_machine
def test_every_line_of_arithmetic_gives_the_number_of_the_trace(sentence, head, mask):
    now, value = machine(sentence, head, mask), from_trace(sentence, head, mask)
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
def test_the_numbers_in_the_arithmetic_are_those_framed(sentence, head, mask):
    now = machine(sentence, head, mask)
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
    assert panel.state()["sources"] == [] and "no arithmetic made it" in panel.description()
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
    "way", ways_from(machine(SENTENCES[0], 0, "none"), START), ids=lambda way: "-".join(c.matrix for c in way)
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


CAT, PAIR = ("masked", 0, 2), [START._replace(column=2), ("concat", 1, 2)]
SOME_W, TOUR = {"matrix": "W_O", "row": 5, "column": 4, "head": 1}, [{"tour": 7}, {"head": 1}]
ON = [{"column": 2}, {"matrix": "concat"}, {"matrix": "head"}]
CLOSED = [("head", 0, 0), ("weights", 0, 2), CAT, ("scaled", 0, 2), {"mask": "causal"}]
STORIES = {  # what is clicked and set one after the other; the trail; controls; what is said
    "the menu alone goes to the same place": (ON[:2], PAIR, {}, ""),
    "where it can": (ON, [*PAIR, ("head", 1, 0)], {}, ""),
    "and back to the step that was": ([*ON, {"matrix": "concat"}], PAIR, {}, ""),
    "all menus at once": ([SOME_W], [("W_O", 5, 4)], SOME_W, ""),
    "x has no sixth row": ([SOME_W, {"matrix": "x", "column": 3}], [("x", 2, 3)], {}, ""),
    "menus follow": ([SOME_W, ("Q", 2, 1)], [("Q", 2, 1)], {"matrix": "Q", "row": 2, "column": 1}, ""),
    "concat takes its head along": ([("concat", 1, 5)], [START, ("concat", 1, 5)], {"head": 2}, "head 3's"),
    "a head its number": ([("concat", 1, 5), {"head": 0}], [START, ("concat", 1, 1)], {}, "1.865 is copied"),
    "a way that is closed": (CLOSED, [("scaled", 0, 2)], {}, ""),
    "by a mask": ([*CLOSED, CAT], [CAT], {}, "−∞, because fish comes after cat."),
    "by another": ([*CLOSED, CAT, {"mask": "neighbours"}], [CAT], {}, "fish is 2 words away from cat."),
    "or both ways": ([("masked", 2, 0), {"mask": "neighbours"}], [("masked", 2, 0)], {}, "cat is 2 words"),
    "by none": ([*CLOSED, CAT, {"mask": "none"}], [CAT], {}, "as before, because cat may look at fish."),
    "another head stays on the tour": (TOUR, [*PAIR, ("head", 1, 0), ("weights", 1, 2)], {"tour": 7}, ""),
    "another row ends it": ([*TOUR, {"row": 2}], [("weights", 2, 2)], {"tour": 0}, ""),
    "another number": ([*TOUR, ("V", 2, 0)], [*PAIR, ("head", 1, 0), ("V", 2, 0)], {"tour": 0}, "Choose"),
}  # fmt: skip


@pytest.mark.parametrize(("moves", "trail", "controls", "words"), STORIES.values(), ids=STORIES)
def test_clicks_menus_and_tour_move_together(moves, trail, controls, words):
    panel = machine_explorer()
    for move in moves:
        panel.set(**move) if isinstance(move, dict) else go(panel, *move)
    assert panel.state()["trail"] == trail
    assert {name: panel.controls[name].value for name in controls} == controls
    assert words in panel.description()


def test_every_step_of_the_trail_fits_its_room():
    letters = ImageFont.truetype(f"{matplotlib.get_data_path()}/fonts/ttf/DejaVuSans-Bold.ttf", 11)
    for setting in EVERY:
        now = machine(*setting)
        for cell in now.values:
            arrow = "← " * (cell.matrix != "output")  # which nothing is made from
            assert letters.getlength(f"{arrow}{now.step(cell)}") <= 182, now.step(cell)


@every_machine
def test_the_tour_leads_from_a_word_to_the_output_by_numbers_that_were_made_from_each_other(
    sentence, head, mask
):
    panel = machine_explorer()
    panel.set(sentence=sentence, head=head, mask=mask)
    slider, cells, said = panel.controls["tour"], [], []
    for step in range(1, STEPS + 1):
        slider.value = step
        now, trail = panel.state()["machine"], panel.state()["trail"]
        cells.append(trail[-1])
        said.append(panel.description().splitlines()[2])
        assert all(b in now.sources(a) for a, b in itertools.pairwise(trail))
        assert trail[0].matrix == "output"  # the way still to go is underlined
    assert [cell.matrix for cell in cells] == list(SENTENCES_OF) and len(set(said)) == STEPS
    for before, cell, after in zip([cells[0], *cells], cells, cells[1:], strict=False):
        assert before in now.sources(cell) or cell in now.sources(after)
    assert cells[-2] in now.sources(cells[-1])
    assert now.values[cells[6]] == max(now.values[Cell("weights", 1, key)] for key in range(3))
    assert (panel.controls["sentence"].value, panel.controls["head"].value) == (sentence, head)
    letters = ImageFont.truetype(f"{matplotlib.get_data_path()}/fonts/ttf/DejaVuSans.ttf", 14)
    assert all(letters.getlength(sentence) <= 860 for sentence in said)
    slider.value = 0
    assert panel.state()["trail"] == [START]


def test_what_the_tour_says_is_computed():
    now = machine(SENTENCES[0], 0, "none")
    parts = "1.784 from head 1, 1 from head 2 and 0 from head 3"
    assert parts in told(now, tour_of(now)[-1])
    other = machine(SENTENCES[1], 1, "none")
    assert tour_of(other)[6] == Cell("weights", 1, 2) and "“cat”" in told(other, tour_of(other)[6])


SOME_CHANGES = [
    [("x", 0, 0, 4)], [("W_Q", 1, 0, -4)], [("W_K", 5, 1, 3)], [("W_V", 0, 0, -1)], [("W_O", 3, 2, 4)],
    [("x", 1, 5, 2), ("W_Q", 5, 1, 1), ("W_O", 0, 0, 0)],
]  # fmt: skip


@pytest.mark.parametrize("changes", SOME_CHANGES)
@every_machine
def test_changed_numbers_are_those_of_the_class_and_what_moved_is_marked(sentence, head, mask, changes):
    panel = machine_explorer()
    panel.set(sentence=sentence, head=head, mask=mask)
    whole = []
    for *cell, changed in changes:
        go(panel, *cell)
        assert not panel.controls["value"].disabled
        panel.controls["value"].value = changed
        assert f"{changed} was set by you".replace("-", "−") in panel.description()
        column = cell[2] + 2 * head * (cell[0] in ("W_Q", "W_K", "W_V"))
        whole.append(((cell[0], cell[1], column), changed))
    now = panel.state()["machine"]
    value, before = from_trace(sentence, head, mask, whole), from_trace(sentence, head, mask)
    assert all(value(cell) == pytest.approx(now.values[cell], abs=1e-5) for cell in now.values)
    moved = {cell for cell in now.values if f"{value(cell):.3f}" != f"{before(cell):.3f}"}
    assert now.moved == moved and f"{len(moved)} of {len(now.values)} numbers" in panel.description()
    assert panel.svg().count("<polygon") == machine_explorer().svg().count("<polygon") + len(moved)
    panel.reset()
    assert panel.svg() == machine_explorer().svg() and not panel.state()["machine"].moved


def test_a_change_belongs_to_its_head_and_one_of_x_to_its_sentence():
    panel = machine_explorer()
    panel.set(matrix="W_Q", row=0, column=0, value=3)
    panel.set(matrix="x", row=0, column=0)
    panel.controls["value"].value = -2
    panel.controls["head"].value = 1
    panel.set(matrix="W_Q", row=0, column=0)
    assert panel.controls["value"].value == 0  # that of head 2
    panel.controls["head"].value = 0
    assert panel.controls["value"].value == 3
    panel.controls["sentence"].value = "fish eats cat"
    assert dict(panel.state()["machine"].changes) == {("W_Q", 0, 0): 3}
    panel.controls["value"].value = 1  # as it was
    assert not panel.state()["machine"].changes and "moved" not in panel.description()


def test_only_what_is_given_can_be_changed_and_the_largest_numbers_can_be_written():
    panel = machine_explorer()
    for matrix in MATRICES:
        go(panel, matrix, 1, 0)
        assert panel.controls["value"].disabled == (matrix not in GIVEN)
    cells = [cell for cell in machine(SENTENCES[0], 0, "none").values if cell.matrix in GIVEN]
    now = machine(SENTENCES[0], 0, "none", tuple((cell, 4) for cell in cells))
    assert all(now.arithmetic(cell) for cell in now.values) and now.shown(Cell("scores", 0, 0)) == "18432"


@pytest.mark.parametrize("clicks", [True, False])
def test_without_clicks_no_text_asks_for_one(clicks, monkeypatch):
    pytest.importorskip("anywidget")
    if not clicks:
        monkeypatch.setattr(explorer_machine, "Listener", None)
        monkeypatch.setattr(panel_module, "Listener", None)
    panel = machine_explorer()
    if clicks:
        panel._front_end_listens()
    assert bool(panel.more) == clicks, "the menus are in sight where nothing answers a click"
    for cell in (START, Cell("weights", 1, 0)):
        go(panel, *cell)
        assert ("click" in panel._head.value) == clicks and "click" not in panel._words_box.value.lower()
        assert ".tip{visibility:hidden;" in panel._head.value  # so hovering works without a listener
    assert "click" in repr(panel)  # stored in a page, so it must be the same with and without clicks


def test_heads_stand_beside_their_numbers_and_softmax_leads_from_the_masked_scores_to_the_weights():
    picture, _ = drawn("machine_explorer")
    cells = {mark.get("data-cell"): px(mark[0], "x", "y") for mark in picture.answering}

    def corner(matrix, row, column):
        return cells[f"{MATRICES.index(matrix)},{row},{column}"]

    concat = f"{MATRICES.index('concat')},1,{{}}"  # of “eats”: no number is below 0
    places = {(text.text, text.get("text-anchor")): px(text, "x", "y") for text in picture.texts}
    for head in range(3):
        x, y = places[f"head {head + 1}", "middle"]
        assert x == pytest.approx(corner("concat", 0, 2 * head + 1)[0], abs=2)
        assert y < corner("concat", 0, 0)[1]
        x, y = places[f"head {head + 1}", "end"]
        first, second = (corner("W_O", 2 * head + row, 0)[1] for row in range(2))
        assert x < corner("W_O", 0, 0)[0] and first + 10 < y < second + 15
        rect = next(mark[0] for mark in picture.answering if mark.get("data-cell") == concat.format(2 * head))
        assert rect.get("fill") == HEAD_COLOURS[head]
    flow = {"scores": "Q Kᵀ", "scaled": "÷ √2", "masked": "mask", "head": "· V", "output": "· W_O"}
    for matrix, words in flow.items():
        x, y = next(px(text, "x", "y") for text in picture.texts if text.text == words)
        left, top = corner(matrix, 0, 0)
        assert left - 60 < x < left and top < y < top + 80, matrix
    tips = [mark.get("points").split()[0] for mark in picture.shapes("polygon")]
    x, y = next(map(float, tip.split(",")) for tip in tips if tip.startswith("96,"))
    assert corner("weights", 0, 0)[0] < x < corner("weights", 0, 2)[0] + 40 and y < corner("weights", 0, 0)[1]

"""The whole machine of page 09: what it writes can be recomputed, what it frames is what went in, every way is open."""

import itertools
import math
import re

import matplotlib
import pytest
import torch
from numpy import ndenumerate
from PIL import ImageFont

from mha_course.p09_concat_and_output import machine_explorer
from mha_course.p09_concat_and_output.machine import GIVEN, MASKS, MATRICES, SENTENCES, Cell, machine
from mha_course.p09_concat_and_output.state import State, step
from mha_course.p09_concat_and_output.tour import SENTENCES_OF, STEPS, told
from mha_helpers.golden import golden_example
from mha_helpers.masks import causal_mask, sliding_window_mask

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
    example, numbers = golden_example(sentence), {}
    attention, x = example.attention(), example.x.clone()
    given = {f"W_{role}": getattr(attention, f"w_{role.lower()}").weight.T for role in "QKVO"} | {"x": x}
    for (name, row, column), changed in changes:
        given[name][row, column] = changed
    trace = attention.trace(x, masks[mask])
    for name in MATRICES:
        matrix = given[name] if name in given else getattr(trace, FIELDS.get(name, name))
        matrix = matrix[head] if matrix.dim() == 3 else matrix
        matrix = matrix[:, 2 * head :][:, :2] if name in ("W_Q", "W_K", "W_V") else matrix
        numbers |= {Cell(name, *at): float(value) for at, value in ndenumerate(matrix)}
    return numbers


def go(panel, matrix, *cell):
    panel.click([*MATRICES, "back"].index(matrix), *cell)


@every_machine
def test_arithmetic_gives_the_number_of_the_trace_and_is_done_with_the_framed_ones(sentence, head, mask):
    it, numbers = machine(sentence, head, mask), from_trace(sentence, head, mask)
    written = {"=": 0, "≈": 0}
    for cell in it.values:
        line, expected = it.arithmetic(cell), numbers[cell]
        framed = [it.shown(source) for source in it.sources(cell)]
        sign = re.search("[=≈]", line)
        if sign is None:  # nothing is computed: given, copied, masked
            right = re.match("[−∞.\\d]+", line)[0]
            is_copied = cell.matrix == "concat" or (cell.matrix == "masked" and right != "−∞")
            is_of_another_head = cell.matrix == "concat" and cell.column // 2 != head
            assert len(framed) == is_copied and (is_of_another_head or framed == [right] * is_copied)
        else:
            left, right = (part.strip() for part in re.split("[=≈]", line))
            is_exact = f"{evaluated(left):.3f}" == f"{evaluated(right):.3f}"
            assert is_exact == (sign[0] == "="), line  # "=" only where the numbers written down do give it
            assert evaluated(left) == pytest.approx(expected, abs=0.003), line
            written[sign[0]] += 1
            taken = re.sub(r"^e\S+ / | / √2$", "", left)
            assert sorted(re.findall(r"−?[∞\d]+(?:\.\d+)?", taken)) == sorted(framed), line
        assert evaluated(right) == pytest.approx(expected, abs=0.0005), line
        assert right == it.shown(cell)
    assert written["="] > 4 * written["≈"] > 0


def event(text):
    """Read “concat 1 2”, a click on a number, “back 1”, one on the trail, or “tour=7 & head=1”, controls moved at once."""
    name, *numbers = text.split()
    if "=" not in text:
        return {"back": int(numbers[0])} if name == "back" else {"cell": Cell(name, *map(int, numbers))}
    pairs = (part.split("=") for part in text.split(" & "))
    return {name: int(value) if re.fullmatch(r"-?\d+", value) else value for name, value in pairs}


CLOSED = "head 0 0, weights 0 2, masked 0 2, scaled 0 2, mask=causal"
STORIES = f"""\
from “eats” back | concat 1 2, head 1 0, weights 1 2, masked 1 2, scaled 1 2, scores 1 2, K 2 0, x 2 2 \
| output 1 0, concat 1 2, head 1 0, weights 1 2, masked 1 2, scaled 1 2, scores 1 2, K 2 0, x 2 2 | head=1 | no arithmetic
back by the trail, which has no step 8 now | concat 1 0, head 1 0, V 0 0, x 0 0, back 1, back 7 | output 1 0, concat 1 0 | |
the menu alone goes on where it can | matrix=concat, matrix=head | output 1 0, concat 1 0, head 1 0 | |
and begins anew where it cannot | matrix=concat, matrix=V | V 1 0 | | 0 · 1 + 1 · 0
all menus at once | matrix=W_O & row=5 & column=4 & head=1 | W_O 5 4 | matrix=W_O & row=5 & column=4 & head=1 |
x has no sixth row | matrix=W_O & row=5 & column=4 & head=1, matrix=x & column=3 | x 2 3 | |
concat takes its head along | concat 1 5 | output 1 0, concat 1 5 | head=2 | head 3's
a head its number | concat 1 5, head=0 | output 1 0, concat 1 1 | | 1.865 is copied
a way that is closed | {CLOSED} | scaled 0 2 | |
by a mask | {CLOSED}, masked 0 2 | masked 0 2 | | −∞, because fish comes after cat.
by another | {CLOSED}, masked 0 2, mask=neighbours | masked 0 2 | | fish is 2 words away from cat.
by none | {CLOSED}, masked 0 2, mask=none | masked 0 2 | | as before, because cat may look at fish.
another head stays on the tour | tour=7, head=1 | output 1 2, concat 1 2, head 1 0, weights 1 2 | tour=7 | of head 2:
another row ends it | tour=7, head=1, row=2 | weights 2 2 | tour=0 |
what heads add | tour=12 | output 1 0 | | 1.784 from head 1, 1 from head 2 and 0 from
it stays | W_Q 0 0, value=3, head=1, head=0 | W_Q 0 0 | value=3 & changes=1 | 3 was set by you, in place of 1
one of x | x 0 0, value=-2, sentence=fish eats cat | x 0 0 | value=1 & changes=0 | is given
to its sentence | W_Q 0 0, value=3, sentence=fish eats cat | W_Q 0 0 | value=3 & changes=1 |  = 3 (was 1)
a number that was computed | value=3 | output 1 0 | value=0 & changes=0 | Choose
and is none as it was | W_Q 0 0, value=3, value=1 | W_Q 0 0 | value=1 & changes=0 | would be learned
""".splitlines()


@pytest.mark.parametrize("story", STORIES, ids=lambda story: story.partition(" |")[0])
def test_clicks_menus_and_tour_move_together_and_the_panel_shows_it(story):
    """A story is what is clicked and set one after the other; the trail; controls, and how many changes; what is said."""
    _, told, trail, shown, words = (part.strip() for part in re.split(r" \|", story))
    now, panel = State(), machine_explorer()
    for happens in map(event, told.split(", ")):
        now = step(now, **happens)
        if "cell" in happens:
            go(panel, *happens["cell"])
        elif "back" in happens:
            go(panel, "back", happens["back"], 0)
        else:
            panel.set(**happens)
    assert [{"cell": cell} for cell in now.trail] == list(map(event, trail.split(", ")))
    assert (event(shown) if shown else {}).items() <= (now.controls() | {"changes": len(now.changes)}).items()
    assert panel.explorer.now == now and panel.state()["trail"] == list(now.trail)
    assert {name: control.value for name, control in panel.controls.items()} == now.controls()
    assert panel.controls["value"].disabled == (now.cell.matrix not in GIVEN)
    assert words in panel.description() + panel.svg()


def test_every_step_of_the_trail_fits_its_room():
    letters = ImageFont.truetype(f"{matplotlib.get_data_path()}/fonts/ttf/DejaVuSans-Bold.ttf", 11)
    for setting in EVERY:
        it = machine(*setting)
        for cell in it.values:
            arrow = "← " * (cell.matrix != "output")  # which nothing is made from
            assert letters.getlength(f"{arrow}{it.short_name(cell)}") <= 182, it.short_name(cell)


@every_machine
def test_the_tour_leads_from_a_word_to_the_output_by_what_was_made_of_it(sentence, head, mask):
    start, cells, said = State(sentence, head, mask), [], []
    for number in range(1, STEPS + 1):
        now = step(start, tour=number)
        cells.append(now.cell)
        said.append(told(now.machine, now.cell))
        assert all(b in now.machine.sources(a) for a, b in itertools.pairwise(now.trail))
        assert now.trail[0].matrix == "output"  # the way still to go is underlined
        assert (now.sentence, now.head, now.mask, now.tour) == (sentence, head, mask, number)
        assert step(now, tour=0) == start
    assert [cell.matrix for cell in cells] == list(SENTENCES_OF) and len(set(said)) == STEPS
    values = now.machine.values
    assert values[cells[6]] == max(values[Cell("weights", 1, key)] for key in range(3))
    letters = ImageFont.truetype(f"{matplotlib.get_data_path()}/fonts/ttf/DejaVuSans.ttf", 14)
    assert all(letters.getlength(sentence) <= 860 for sentence in said)


SOME_CHANGES = [
    [("x", 0, 0, 4)], [("W_Q", 1, 0, -4)], [("W_K", 5, 1, 3)], [("W_V", 0, 0, -1)], [("W_O", 3, 2, 4)],
    [("x", 1, 5, 2), ("W_Q", 5, 1, 1), ("W_O", 0, 0, 0)],
]  # fmt: skip


@every_machine
def test_changed_numbers_are_those_of_the_class_and_what_moved_is_marked(sentence, head, mask):
    panel, before = machine_explorer(), from_trace(sentence, head, mask)
    still = panel.svg()
    for changes in SOME_CHANGES:
        panel.set(sentence=sentence, head=head, mask=mask)
        whole = []
        for *cell, changed in changes:
            go(panel, *cell)
            panel.set(value=changed)
            assert f"{changed} was set by you".replace("-", "−") in panel.description()
            column = cell[2] + 2 * head * (cell[0] in ("W_Q", "W_K", "W_V"))
            whole.append(((cell[0], cell[1], column), changed))
        it, numbers = panel.state()["machine"], from_trace(sentence, head, mask, whole)
        assert it.values == pytest.approx(numbers, abs=1e-5)
        moved = {cell for cell in numbers if f"{numbers[cell]:.3f}" != f"{before[cell]:.3f}"}
        assert it.moved == moved and f"{len(moved)} of {len(it.values)} numbers" in panel.description()
        assert panel.svg().count("<polygon") == still.count("<polygon") + len(moved)
        panel.reset()
        assert panel.svg() == still and panel.explorer.now == State()


def test_the_largest_numbers_can_be_written():
    cells = [cell for cell in machine(SENTENCES[0], 0, "none").values if cell.matrix in GIVEN]
    it = machine(SENTENCES[0], 0, "none", tuple((cell, 4) for cell in cells))
    assert all(it.arithmetic(cell) for cell in it.values) and it.shown(Cell("scores", 0, 0)) == "18432"

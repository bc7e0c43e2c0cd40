"""The whole machine on one screen: all numbers of "cat eats fish", and the way back from each to the word."""

import itertools
import math

import ipywidgets as widgets

from mha_course.p09_concat_and_output.machine import GIVEN, MASKS, MATRICES, SENTENCES, TABLE, Cell
from mha_course.p09_concat_and_output.state import START, State, step
from mha_course.p09_concat_and_output.tour import STEPS, told
from mha_helpers import golden_example
from mha_helpers.panel import Explorer, IndexMenu, Panel

EXAMPLE = golden_example()
TRAIL = len(MATRICES)  # what a click on a step of the trail names in place of a matrix
ROW = 20  # pixels of a row of cells
NUMBER, LABEL = 13, 12  # the letters of a number, of a word
DEEPEST = 4.0  # the vectors share one scale, and so do the scores; weights end at 1
IN_ROWS = sorted(MATRICES, key=lambda matrix: (TABLE[matrix].y, TABLE[matrix].left))  # as they are read
FLOW = {"Q": "· W", "scores": "Q Kᵀ", "scaled": f"÷ √{EXAMPLE.d_k}", "masked": "mask", "head": "· V"}
FLOW |= {"concat": "", "output": "· W_O"}  # what leads to a matrix from the one left of it


def machine_explorer():
    """Return a ``Panel`` with every number of "cat eats fish". Used in notebook 09 and in the sitting.

    Whichever number is chosen, the numbers it was made from are framed, and its arithmetic is written out.
    "tour" leads from a word to the output, "value" changes a number of x or of a W.
    ``state()`` holds the ``machine``, the ``trail`` of cells that were chosen one after the other, the last
    being the number shown, and its ``sources``. A cell is its matrix, row and column, counted from 0.

    >>> panel = machine_explorer()
    >>> panel.click(MATRICES.index("concat"), 1, 0)
    >>> panel.state()["trail"]
    [Cell(matrix='output', row=1, column=0), Cell(matrix='concat', row=1, column=0)]
    """
    return Panel(explorer=MachineExplorer())


class MachineExplorer(Explorer):
    """Shows a ``State``, ``now``: what a click or a control makes of it, ``step`` says."""

    title, asks, height = "The whole machine", "click a number to see what it was made from", 366
    more = Cell._fields  # menus for those who work by keyboard

    def __init__(self):
        self.now, self.clicked = State(), {}

    def controls(self):
        head = IndexMenu("head", names=EXAMPLE.head_names)
        head.layout.width = "175px"  # all five stand in one row, even on 1024 pixels
        return {
            "sentence": widgets.Dropdown(options=SENTENCES, layout={"width": "176px"}),
            "head": head,
            "mask": widgets.Dropdown(options=list(MASKS), layout={"width": "147px"}),
            "tour": widgets.IntSlider(0, 0, STEPS, layout={"width": "148px"}).add_class("mha-short"),
            "value": widgets.IntSlider(0, -4, 4, layout={"width": "146px"}).add_class("mha-short"),
            "matrix": widgets.Dropdown(options=MATRICES, value=START.matrix),
            "row": IndexMenu("row", START.row),
            "column": IndexMenu("column", START.column),
        }

    def reset(self):
        self.now = State()

    def click(self, values, heatmap, row, column):
        self.clicked = {"back": row} if heatmap == TRAIL else {"cell": Cell(MATRICES[heatmap], row, column)}
        return {}  # adjust sets the menus, whose options may have to change first

    def adjust(self, controls, values):
        """Take a step, and let all controls say what is shown."""
        shown = self.now.controls()
        moved = {name: value for name, value in values.items() if value != shown[name]}
        self.now, self.clicked = step(self.now, **moved, **self.clicked), {}
        cell, machine = self.now.cell, self.now.machine
        for name, names in zip(("row", "column"), machine.axes[cell.matrix], strict=True):
            controls[name].offer(names)
        titles = [(machine.title(name), name) for name in MATRICES]
        if list(controls["matrix"].options) != titles:
            controls["matrix"].options = titles
        is_given = cell.matrix in GIVEN
        controls["value"].disabled, controls["value"].readout = not is_given, is_given
        for name, value in self.now.controls().items():
            controls[name].value = value

    def compute(self, **values):
        machine = self.now.machine
        return {"machine": machine, "trail": list(self.now.trail), "sources": machine.sources(self.now.cell)}

    def draw(self, drawing, state):
        machine, trail = state["machine"], state["trail"]
        drawing.readout = (drawing.width / 2, drawing.height - 6)
        for cell in machine.values:
            _draw_number(drawing, machine, cell, trail)
        for y, row in itertools.groupby(IN_ROWS, key=lambda matrix: TABLE[matrix].y):
            _draw_names(drawing, machine, list(row), *y)
        for head in range(EXAMPLE.num_heads):  # its columns of concat and its rows of W_O
            name = f"head {head + 1}"  # and its colour
            x, y, *_ = frame([Cell("concat", 0, 2 * head + 1)])
            drawing.text(x, y - 4, name, LABEL, "middle", name)
            x, y, *_ = frame([Cell("W_O", 2 * head + 1, 0)])
            drawing.text(x - 6, y + 4, name, LABEL, "end", name)
        _draw_flow(drawing, machine)
        for _, cells in itertools.groupby([*state["sources"], trail[-1]], key=lambda cell: cell.matrix):
            drawing.rect(*frame(list(cells)), "lit", outline=True)
        for i, cell in enumerate(trail):
            label, is_last = machine.short_name(cell, trail[i - 1] if i else None), i == len(trail) - 1
            drawing.rect(0, 4 + 15 * i, 190, 14, "lit", 0.4 if is_last else 0.12, cell=(TRAIL, i, 0))
            drawing.text(4, 15 + 15 * i, f"{'← ' * (i > 0)}{label}", 11, bold=is_last)

    def words(self, state):
        machine, cell = state["machine"], state["trail"][-1]
        name, go_on = f"{machine.name(cell)} = {machine.shown(cell)}", ""
        if cell in machine.moved:
            name += f" (was {machine.unchanged.shown(cell)})"
        if machine.moved:
            count = f"{len(machine.moved)} of {len(machine.values)}"
            name += f". {count} numbers have moved: each has a marked corner."
        if state["tour"]:
            go_on = told(machine, cell)
        elif state["sources"]:
            from_a_word = ", or let “tour” lead you from a word to this output" * (cell == START)
            go_on = f"Choose one of the framed numbers to go on{from_a_word}."
        elif cell.matrix in GIVEN:
            go_on = "“value” changes it, and every number that moves is marked."
        return [name, machine.arithmetic(cell), go_on]


def frame(cells):
    """Return x, y, width and height of the cells of one matrix, from the first to the last."""
    (matrix, row, column), (_, last_row, last_column) = cells[0], cells[-1]
    left, (top, _), width = TABLE[matrix].left, TABLE[matrix].y, TABLE[matrix].width
    size = width * (last_column - column + 1), ROW * (last_row - row + 1)
    return left + column * width, top + row * ROW, *size


def _draw_number(drawing, machine, cell, trail):
    x, y, width, height = frame([cell])
    shown, clicked = machine.shown(cell), (MATRICES.index(cell.matrix), *cell[1:])
    colour, opacity = ("lit", 0.55) if cell == trail[-1] else _shade(machine, cell)
    drawing.rect(x, y, width - 1, height - 1, colour, opacity, f"{machine.name(cell)} = {shown}", clicked)
    fit = width - 4 if 7 * len(shown) > width - 4 else None  # −0.889 would touch its neighbour
    drawing.text(x + width / 2, y + 15, shown, NUMBER, "middle", fit=fit)
    if cell in machine.moved:
        right = x + width - 1
        drawing.polygon([(right - 7, y), (right, y), (right, y + 7)], "ink", opacity=1)
    if cell in trail:
        drawing.line(x + 1, y + ROW - 3, x + width - 2, y + ROW - 3, "lit", 2.5)


def _shade(machine, cell):
    value, colour = machine.values[cell], TABLE[cell.matrix].colour
    if value == -math.inf:
        return "masked", 0.4
    if colour == "head":
        colour = f"head {machine.head_of(cell) + 1}"
    if value < 0:
        colour = "negative" if colour == "positive" else "below"
    # Never so deep that words in the colour of the page could not be read on it.
    return colour, 0.07 + 0.55 * min(abs(value) / (1.0 if cell.matrix == "weights" else DEEPEST), 1.0)


def _draw_names(drawing, machine, row, top, above):
    """Draw names and shapes of a row of matrices, and the names of their rows and columns."""
    for matrix in row:
        left, width, (rows, columns) = TABLE[matrix].left, TABLE[matrix].width, machine.axes[matrix]
        title, small = (13, 12) if len(columns) > 2 else (12, 10)
        drawing.text(left, above, machine.title(matrix), title, bold=True)
        shape = f"({len(rows)}, {len(columns)})"
        drawing.text(left + width * len(columns) + 4, above, shape, small, "end", "label")
        for i, name in enumerate(columns):
            _draw_column_name(drawing, machine, matrix, name, (left + (i + 0.5) * width, top - 4))
    names = machine.axes[row[0]][0]
    left, anchor, size = (412, "start", LABEL) if names is EXAMPLE.features else (32, "end", 13)
    for i, name in enumerate(names):
        drawing.text(left, top + i * ROW + 14, name, size, anchor)


def _draw_column_name(drawing, machine, matrix, name, place):
    x, y = place
    if machine.axes[matrix][1] is machine.tokens:
        drawing.text(x, y, name, LABEL, "middle")
    elif matrix == "x":  # the longest stands higher, between its neighbours
        drawing.text(x, y - 10 * (name == "happens"), name.removeprefix("is "), 10.5, "middle", "label")
    elif matrix == "output":
        first, _, last = name.rpartition(" ")
        drawing.text(x, y - 10, first, 10.5, "middle", "label")
        drawing.text(x, y, last, 10.5, "middle", "label")


def _draw_flow(drawing, machine):
    """Draw what leads from one matrix to the next."""
    for before, after in itertools.pairwise(IN_ROWS):
        if after in FLOW:
            left, top, width, height = frame([cell for cell in machine.values if cell.matrix == before])
            start, end, y = left + width, TABLE[after].left, top + height / 2
            drawing.line(start + 4, y, end - 4, y, "label", arrow=True)
            drawing.text((start + end) / 2, y - 9, FLOW[after], 11, "middle")
    corners = [(791, 232), (791, 236), (96, 236), (96, 247)]  # from the masked scores to the weights
    for start, end in itertools.pairwise(corners):
        drawing.line(*start, *end, "label", arrow=end == corners[-1])
    drawing.text(106, 247, "softmax", 11)

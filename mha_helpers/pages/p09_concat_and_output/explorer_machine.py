"""The whole machine on one screen: all numbers of "cat eats fish", and the way back from each to the word."""

import itertools
import math

import ipywidgets as widgets

from mha_helpers.pages.p09_concat_and_output.machine import D_K, EXAMPLE, MASKS, MATRICES, Cell, machine
from mha_helpers.panel import CLICKS, IndexMenu, Panel
from mha_helpers.style import head_label

START = Cell("output", 1, 0)  # “eats”, who acts
TRAIL = len(MATRICES)  # what a click on a step of the trail names in place of a matrix
ROW = 20  # pixels of a row of cells
NUMBER, LABEL = 11, 10.5  # the letters of a number, of a word
DEEPEST = 4.0  # the vectors share one scale, and so do the scores; weights end at 1
TOP, MIDDLE, BOTTOM = 18, 170, 284  # where the cells of the three rows of matrices begin
LEFT_AND_WIDTH = {  # of a cell, in pixels, from left to right
    TOP: {"W_Q": (214, 28), "W_K": (282, 28), "W_V": (350, 28), "W_O": (598, 43)},
    MIDDLE: {
        "x": (36, 26), "Q": (214, 28), "K": (282, 28), "V": (350, 28), "scores": (444, 28),
        "scaled": (564, 43), "masked": (727, 43),
    },
    BOTTOM: {"weights": (36, 40), "head": (190, 43), "concat": (302, 43), "output": (598, 43)},
}  # fmt: skip
PLACES = {name: (*place, top) for top, row in LEFT_AND_WIDTH.items() for name, place in row.items()}
FLOW = {"Q": "· W", "scores": "Q Kᵀ", "scaled": f"÷ √{D_K}", "masked": "mask", "head": "· V"}
FLOW |= {"concat": "", "output": "· W_O"}  # what leads to a matrix from the one before it
ROLES = {"x": "label", "Q": "query", "K": "key", "V": "value", "O": "output", "output": "output"}


def machine_explorer():
    """Return a ``Panel`` with every number of "cat eats fish". Used in notebook 09 and in the sitting.

    Whichever number is chosen, the numbers it was made from are framed, and its arithmetic is written out.
    ``state()`` holds the ``machine``, the ``trail`` of cells that were chosen one after the other, the last
    being the number shown, and its ``sources``. A cell is its matrix, row and column, counted from 0. A
    control "matrix" that is moved alone goes to a number from which the last one was made, if there is one.

    >>> panel = machine_explorer()
    >>> panel.click(MATRICES.index("concat"), 1, 0)
    >>> panel.state()["trail"]
    [Cell(matrix='output', row=1, column=0), Cell(matrix='concat', row=1, column=0)]
    """
    return _MachinePanel()


class _MachinePanel(Panel):
    """Menus, and a trail that follows them and the clicks."""

    def __init__(self):
        self._trail = self._way = [START]
        self._clicked = None
        controls = {"head": IndexMenu("head", names=EXAMPLE.head_names)}
        controls["mask"] = widgets.Dropdown(options=list(MASKS))
        menus = {
            "matrix": widgets.Dropdown(options=MATRICES, value=START.matrix),
            "row": IndexMenu("row", start=START.row),
            "column": IndexMenu("column", start=START.column),
        }
        # Where a click is answered the menus are for those who work by keyboard; elsewhere all are in sight.
        controls, menus = (controls, menus) if CLICKS else (controls | menus, None)
        asks = "click a number to see what it was made from"
        actions = {"adjust": self._follow, "click": self._remember, "asks": asks, "height": 366}
        super().__init__("The whole machine", controls, self._state_of, draw, words, menus, **actions)

    def _remember(self, values, map, row, column):
        self._clicked = self._trail[: row + 1][-1] if map == TRAIL else Cell(MATRICES[map], row, column)
        return {}  # _follow sets the menus, whose options may have to change first

    def _follow(self, controls, values):
        """Bring head, trail and menus to the number that was clicked, or chosen in the menus."""
        before, menus = self._trail[-1], Cell(values["matrix"], values["row"], values["column"])
        head, mask = values["head"], values["mask"]
        self._trail = [in_head(head, cell) for cell in self._trail]
        now = machine(head, mask)
        rows, columns = now.shape(menus.matrix)
        chosen = Cell(menus.matrix, min(menus.row, rows - 1), min(menus.column, columns - 1))
        if not self._clicked and menus.matrix != before.matrix and menus[1:] == before[1:]:
            self._trail = through_menu(self._way, chosen, now)
            # An arrow key goes through all matrices between: one off the way must not end it.
            self._way = self._trail if len(self._trail) > 1 else self._way
        else:
            chosen = self._trail[-1] if menus == before else chosen
            self._trail = self._way = extended(self._trail, self._clicked or chosen, now)
        cell, self._clicked = self._trail[-1], None
        head = cell.column // D_K if cell.matrix == "concat" else head
        now = machine(head, mask)
        controls["row"].offer(now.row_names(cell.matrix))
        controls["column"].offer(now.column_names(cell.matrix))
        for name, value in {"head": head, **cell._asdict()}.items():
            controls[name].value = value

    def _state_of(self, head, mask, **menus):
        now = machine(head, mask)
        return {"machine": now, "trail": list(self._trail), "sources": now.sources(self._trail[-1])}


def in_head(head, cell):
    """Return a number of concat as the same one of another head, any other as it is."""
    column = D_K * head + cell.column % D_K
    return cell._replace(column=column) if cell.matrix == "concat" else cell


def through_menu(way, cell, now):
    """Return the trail after a move of the matrix alone: back to a step, or on to what one was made from."""
    for i in reversed(range(len(way))):
        sources = [source for source in now.sources(way[i]) if source.matrix == cell.matrix]
        if way[i].matrix == cell.matrix:
            return way[: i + 1]
        if sources:
            return [*way[: i + 1], cell if cell in sources else sources[0]]
    return [cell]


def extended(trail, cell, now):
    """Return the trail that ends at a cell: back to it, on from a number made from it, or a new one."""
    way, before = [cell], trail[: trail.index(cell)] if cell in trail else trail
    for earlier in reversed(before):
        if way[0] in now.sources(earlier):
            way.insert(0, earlier)
        elif len(way) > 1:  # another mask has cut it
            break
    return way


# --- the picture -------------------------------------------------------------------------------------------


def draw(drawing, state):
    now, trail = state["machine"], state["trail"]
    drawing.readout = (drawing.width / 2, drawing.height - 6)
    for matrix in MATRICES:
        _draw_matrix(drawing, now, matrix, trail)
    for top, row in LEFT_AND_WIDTH.items():
        _draw_names(drawing, now, row, top)
    left, width, _ = PLACES["concat"]
    for head in range(EXAMPLE.num_heads):  # its columns of concat and its rows of W_O
        label, colour = head_label(head), f"head {head + 1}"
        drawing.text(left + (2 * head + 1) * width, BOTTOM - 4, label, LABEL, "middle", colour)
        drawing.text(592, TOP + (2 * head + 1) * ROW + 4, label, LABEL, "end", colour)
    _draw_flow(drawing, now)
    for _, cells in itertools.groupby([*state["sources"], trail[-1]], key=lambda cell: cell.matrix):
        drawing.rect(*frame(list(cells)), "lit", outline=True)
    for i, cell in enumerate(trail):
        label, is_last = now.step(cell, trail[i - 1] if i else None), i == len(trail) - 1
        drawing.rect(0, 4 + 15 * i, 190, 14, "lit", 0.4 if is_last else 0.12, cell=(TRAIL, i, 0))
        drawing.text(4, 15 + 15 * i, f"{'← ' * (i > 0)}{label}", 11, bold=is_last)


def frame(cells):
    """Return x, y, width and height of the cells of one matrix, from the first to the last."""
    left, width, top = PLACES[cells[0].matrix]
    (_, row, column), (_, last_row, last_column) = cells[0], cells[-1]
    size = width * (last_column - column + 1), ROW * (last_row - row + 1)
    return left + column * width, top + row * ROW, *size


def _draw_matrix(drawing, now, matrix, trail):
    rows, columns = now.shape(matrix)
    for cell in (Cell(matrix, row, column) for row in range(rows) for column in range(columns)):
        x, y, width, height = frame([cell])
        colour, opacity = ("lit", 0.55) if cell == trail[-1] else _shade(now, cell)
        hover = f"{now.name(cell)} = {now.shown(cell)}"
        drawing.rect(x, y, width - 1, height - 1, colour, opacity, hover, (MATRICES.index(matrix), *cell[1:]))
        size = NUMBER if len(now.shown(cell)) < 6 else 10  # −0.889 would touch its neighbour
        drawing.text(x + width / 2, y + 14, now.shown(cell), size, "middle")
        if cell in trail:
            drawing.line(x + 1, y + ROW - 3, x + width - 2, y + ROW - 3, "lit", 2.5)


def _shade(now, cell):
    value, matrix = now.value(cell), cell.matrix
    if value == -math.inf:
        return "masked", 0.4
    colour = ROLES.get(matrix.removeprefix("W_"), "positive")
    if matrix in ("weights", "head", "concat"):
        colour = f"head {(cell.column // D_K if matrix == 'concat' else now.head) + 1}"
    if value < 0:
        colour = "negative" if colour == "positive" else "below"
    # Never so deep that words in the colour of the page could not be read on it.
    return colour, 0.07 + 0.55 * min(abs(value) / (1.0 if matrix == "weights" else DEEPEST), 1.0)


def _draw_names(drawing, now, row, top):
    """Draw names and shapes of a row of matrices, and the names of their rows and columns."""
    above = {TOP: 5, MIDDLE: 17, BOTTOM: 25}[top]
    for matrix, (left, width) in row.items():
        rows, columns = now.shape(matrix)
        name = f"head {now.head + 1}" if matrix == "head" else matrix
        drawing.text(left, top - above, name, 12, bold=True)
        drawing.text(left + width * columns + 4, top - above, f"({rows}, {columns})", 10, "end", "label")
        names = now.column_names(matrix)
        for column in range(columns):
            middle = left + (column + 0.5) * width
            if names is EXAMPLE.tokens:
                drawing.text(middle, top - 4, names[column], LABEL, "middle")
            elif matrix == "output":
                first, _, last = names[column].rpartition(" ")
                drawing.text(middle, top - 14, first, 10, "middle", "label")
                drawing.text(middle, top - 4, last, 10, "middle", "label")
    names, left, anchor = (EXAMPLE.features, 412, "start") if top == TOP else (EXAMPLE.tokens, 32, "end")
    for i, name in enumerate(names):
        drawing.text(left, top + i * ROW + 14, name, LABEL if top == TOP else 12, anchor)


def _draw_flow(drawing, now):
    """Draw what leads from one matrix to the next."""
    for row in LEFT_AND_WIDTH.values():
        for before, after in itertools.pairwise(row):
            left, width, top = PLACES[before]
            start, end, y = left + width * now.shape(before)[1], PLACES[after][0], top + 1.5 * ROW
            if after in FLOW:
                drawing.line(start + 4, y, end - 4, y, "label", arrow=True)
                drawing.text((start + end) / 2, y - 9, FLOW[after], LABEL, "middle")
    start, end, y = PLACES["masked"][0] + 64, PLACES["weights"][0] + 60, MIDDLE + 3 * ROW + 6
    drawing.line(start, y - 4, start, y, "label")
    drawing.line(start, y, end, y, "label")
    drawing.line(end, y, end, y + 11, "label", arrow=True)
    drawing.text(end + 10, y + 12, "softmax", LABEL)


def words(state):
    now, cell = state["machine"], state["trail"][-1]
    go_on = "Choose one of the framed numbers to go on."
    return [f"{now.name(cell)} = {now.shown(cell)}", now.arithmetic(cell), go_on * bool(state["sources"])]

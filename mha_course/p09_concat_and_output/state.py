"""What the machine's explorer shows and remembers, and what a click, a menu or a slider makes of it."""

from dataclasses import dataclass, replace

from mha_course.p09_concat_and_output.machine import D_K, GIVEN, MASKS, SENTENCES, Cell, machine
from mha_course.p09_concat_and_output.tour import tour_of

START = Cell("output", 1, 0)  # “eats”, who acts
SEEN_FROM = ("sentence", "head", "mask")  # a number stays the one shown when one of these changes


@dataclass(frozen=True)
class State:
    """The machine, and the ``trail`` from a result back to its sources: the last is the number shown."""

    sentence: str = SENTENCES[0]
    head: int = 0
    mask: str = next(iter(MASKS))
    tour: int = 0  # its step; 0 is none
    trail: tuple = (START,)
    changes: tuple = ()  # pairs of a cell, as ``Machine.whole`` names it, and its number

    @property
    def machine(self):
        return machine(self.sentence, self.head, self.mask, self.changes)

    @property
    def cell(self):
        return self.trail[-1]

    def controls(self):
        """Return what each control shows."""
        value = round(self.machine.values[self.cell]) if self.cell.matrix in GIVEN else 0
        seen_from = {name: getattr(self, name) for name in SEEN_FROM}
        return seen_from | {"tour": self.tour, "value": value} | self.cell._asdict()


def step(state, **event):
    """Return the state after an event: a click, or the new values of one or more controls.

    A click is on a number, ``cell``, or on a step of the trail, ``back``. The controls are ``sentence``,
    ``head``, ``mask``, ``tour``, ``value``, and the menus ``matrix``, ``row`` and ``column``.

    >>> step(State(), cell=Cell("concat", 1, 5)).head
    2
    >>> step(State(), tour=7, mask="causal").cell
    Cell(matrix='weights', row=1, column=0)
    """
    if "back" in event:
        event["cell"] = state.trail[: event["back"] + 1][-1]
    menus = {name: event[name] for name in Cell._fields if name in event}
    named = state.cell._replace(**menus)
    state = _seen_from(state, {name: event.pop(name) for name in SEEN_FROM if name in event})
    if "value" in event:
        state = _with_value(state, named, event["value"])
    state = replace(state, tour=event.get("tour", 0 if event else state.tour))  # any other choice ends it
    chosen = _within(state.machine.axes, named) if menus else event.get("cell", state.cell)
    if state.tour:
        cells = tour_of(state.machine)
        state = _at(state, cells[state.tour - 1], cells[::-1])
    elif "tour" in event:
        state = replace(state, trail=(START,))
    else:
        state = _at(state, chosen, state.trail)
    return replace(state, head=state.machine.head_of(state.cell))


def _seen_from(state, moved):
    """Return the state with the same numbers, of another sentence or head, or under another mask."""
    state = replace(state, **moved)
    if "sentence" in moved:  # another word stands there now
        state = replace(state, changes=tuple(change for change in state.changes if change[0].matrix != "x"))
    return replace(state, trail=tuple(_in_head(state.head, cell) for cell in state.trail))


def _in_head(head, cell):
    """Return a number of concat as the same one of another head, any other as it is."""
    column = D_K * head + cell.column % D_K
    return cell._replace(column=column) if cell.matrix == "concat" else cell


def _with_value(state, cell, value):
    """Return the state in which a number of x or of a W is set, which is no change where it was the same."""
    if cell.matrix not in GIVEN or cell not in state.machine.values:
        return state
    place, before = state.machine.whole(cell), state.machine.unchanged.values[cell]
    changes = dict(state.changes) | {place: value}
    if value == before:
        del changes[place]
    return replace(state, changes=tuple(sorted(changes.items())))


def _within(axes, cell):
    """Return the last row and column instead of those that a matrix does not have."""
    rows, columns = axes[cell.matrix]
    return Cell(cell.matrix, min(cell.row, len(rows) - 1), min(cell.column, len(columns) - 1))


def _at(state, cell, before):
    """Return the state whose trail leads to a cell: back to it, on from what was made from it, or anew."""
    trail = (cell,)
    for earlier in reversed(before):
        if trail[0] in state.machine.sources(earlier):
            trail = (earlier, *trail)
    return replace(state, trail=trail)

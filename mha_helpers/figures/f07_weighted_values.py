"""Notebook 07: one output as a stack of α·v, and where outputs can lie between the values."""

import matplotlib
import torch
from matplotlib.collections import PolyCollection
from matplotlib.colors import to_hex

from mha_helpers import style
from mha_helpers.checks import as_real_numbers
from mha_helpers.figures.cells import LETTERS, add_cells, corners, place_cells
from mha_helpers.figures.hull import hull_of, outside_by
from mha_helpers.figures.picture import Picture
from mha_helpers.figures.plane import PLANE, TICK_INK, Plane, pixel_figure
from mha_helpers.placement import text_width

ROW, HEAD = 32, 52  # pixels: a token's row of the stack, the titles above
NAME, WEIGHT, CELL, BAR = 76, 62, 60, 160  # widths: token (at least), weight, one number, one bar chart
BETWEEN, APART = 26, 44  # from one block of the stack to the next, from one bar chart to the next
MOST_FEATURES = 3  # of a value; more bar charts would be too narrow to read


def value_stack(weights, v, tokens, query):
    """Draw one output: each value, its weight, and the pieces α·v, one after another up to their sum.

    ``query`` is the name of the token that asks.

    Shapes: weights ``(n_k)``, v ``(n_k, d_v)`` with d_v up to 3. Returns a ``Picture``. Used in notebook 07.

    Raises ``ValueError`` where sizes do not fit.

    >>> value_stack(torch.tensor([0.75, 0.25]), torch.tensor([[4.0], [0.0]]), ["cat", "eats"], "eats")
    Output of eats: 0.75 of cat (4) gives (3); 0.25 of eats (0) gives (0). Together (3).
    """
    weights, v = as_real_numbers("weights", weights).float(), as_real_numbers("v", v).float()
    if weights.dim() != 1 or v.dim() != 2 or not len(weights) == len(v) == len(tokens):
        raise ValueError(
            "one weight, one value and one token belong together: weights must be (n_k), v (n_k, d_v);"
            f" got weights {tuple(weights.shape)}, v {tuple(v.shape)} and {len(tokens)} tokens."
        )
    if not 1 <= v.shape[1] <= MOST_FEATURES:
        raise ValueError(f"d_v must be 1 to {MOST_FEATURES} to be drawn, got v {tuple(v.shape)}.")
    labels, legend = style.display_labels(tokens)
    stack = Stack(len(tokens), v.shape[1], reach_of(weights, v), labels)
    with style.drawing():
        figure, ax = pixel_figure(stack.width, stack.height)
        artists = stack.add(ax, 0, 0)
        stack.place(artists, labels, weights, v)
    return Picture(figure, describe_stack(weights, v, tokens, query), legend_html=legend)


def value_hull(v, tokens, outputs, names):
    """Draw values of two features as points, their hull, and outputs as diamonds with their names.

    Shapes: v ``(n_k, 2)``, outputs ``(m, 2)``. Returns a ``Picture``. Used in notebook 07.

    Raises ``ValueError`` where sizes do not fit and for a number that is nan or ∞.

    >>> v = torch.tensor([[0.0, 0.0], [2.0, 0.0], [0.0, 2.0]])
    >>> value_hull(v, ["a", "b", "c"], torch.tensor([[2.0, 2.0]]), ["p"])
    The values of a (0, 0), b (2, 0), c (0, 2) and their hull. Outputs: p (2, 2) outside by 1.41.
    """
    v, outputs = as_real_numbers("v", v).float(), as_real_numbers("outputs", outputs).float()
    if v.dim() != 2 or v.shape[1] != 2 or len(v) != len(tokens):
        raise ValueError(
            f"v must be (n_k, 2), one row for each of the {len(tokens)} tokens; got {tuple(v.shape)}."
        )
    if outputs.dim() != 2 or outputs.shape[1] != 2 or len(outputs) != len(names):
        raise ValueError(
            f"outputs must be (m, 2), one row for each of the {len(names)} names; got {tuple(outputs.shape)}."
        )
    if not (v.isfinite().all() and outputs.isfinite().all()):
        raise ValueError("v and outputs must be finite: nan and ∞ have no place in the plane.")
    labels, legend = style.display_labels(tokens)
    shown, names_legend = style.drawable_names(names, "Outputs")
    plane = Plane(torch.cat([v, outputs]))
    with style.drawing():
        figure, ax = pixel_figure(PLANE + 12, PLANE + 12)
        artists = plane.add(ax, 6, 6)
        plane.place(artists, labels, v, outputs, shown)
    return Picture(figure, _describe_hull(v, tokens, outputs, names), legend_html=legend + names_legend)


def reach_of(weights, v):
    """Return the ends (lowest, highest) that bars of α·v added up one after another can come to."""
    sums = (weights[:, None] * v).cumsum(dim=0)
    return min(0.0, v.min().item(), sums.min().item()), max(0.0, v.max().item(), sums.max().item())


def describe_stack(weights, v, tokens, query):
    """Say what the stack shows: every piece, and what they come to."""
    pieces = weights[:, None] * v
    parts = [
        f"less than 0.01 of {token} {pair(value)} gives next to nothing"
        if 0 < weight < 0.005
        else f"{style.number(weight, trim=False)} of {token} {pair(value)} gives {pair(piece)}"
        for weight, token, value, piece in zip(weights, tokens, v, pieces, strict=True)
    ]
    return f"Output of {query}: {'; '.join(parts)}. Together {pair(pieces.sum(dim=0))}."


def _describe_hull(v, tokens, outputs, names):
    values = ", ".join(f"{token} {pair(value)}" for token, value in zip(tokens, v, strict=True))
    hull = hull_of(v)
    places = []
    for name, output in zip(names, outputs, strict=True):
        away = outside_by(hull, output.tolist())
        where = f"outside by {style.number(away, trim=False)}" if away else "inside"
        places.append(f"{name} {pair(output)} {where}")
    return f"The values of {values} and their hull. Outputs: {'; '.join(places)}."


def pair(numbers):
    """Write a short vector: "(1.78, −0.5)"."""
    return f"({', '.join(style.number(number) for number in numbers.tolist())})"


def _weight_look(weight):
    """Return the colour that a heatmap gives a weight, and the ink that is readable on it."""
    face = to_hex(matplotlib.colormaps[style.WEIGHT_CMAP](weight))
    return face, style.ink_on(face)


class Stack:
    """A row for each key: weight, value, α·v, and the bars of α·v end to end; below, their sum."""

    def __init__(self, keys, features, reach, labels=()):
        self.keys, self.features, self.reach = keys, features, reach
        self.name = max(NAME, 14 + text_width(tuple(labels), LETTERS * 72 / style.SCREEN_DPI))
        self.values = self.name + WEIGHT + BETWEEN  # where each block begins
        self.pieces = self.values + features * CELL + BETWEEN
        self.bars = self.pieces + features * CELL + BETWEEN
        self.width = self.bars + features * (BAR + APART)
        self.height = HEAD + (keys + 1) * ROW + 14

    def add(self, ax, left, top):
        """Draw what stays, and return the artists that ``place`` sets."""
        self.left, self.top = left, top
        bottom = top + HEAD + (self.keys + 1) * ROW
        grey = style.COLOURS["masked"]
        heads = [
            ("weight α", self.name + WEIGHT / 2),
            ("value v", self.values + self.features * CELL / 2),
            ("α · v", self.pieces + self.features * CELL / 2),
        ]
        for feature in range(self.features):
            start = self.bars + feature * (BAR + APART)
            heads.append((f"feature {feature}, added up", start + BAR / 2))
            for place in {0.0, *self.reach}:
                x = left + self._x(feature, place)
                ax.plot([x, x], [top + HEAD - 4, bottom], color=grey, linewidth=1.2 if place == 0 else 0.6)
                ax.text(x, top + HEAD - 8, style.number(place, 1), ha="center", fontsize=10, color=TICK_INK)
        for words, x in heads:
            ax.text(left + x, top + 16, words, ha="center", va="center", weight="bold", fontsize=11.5)
        line = bottom - ROW
        ax.plot([left + 8, left + self.width - 8], [line, line], color=style.COLOURS["ink"], linewidth=1)
        boxes, words = add_cells(ax)
        steps = PolyCollection([], edgecolors=style.COLOURS["ink"], linewidths=0.8)
        ax.add_collection(steps, autolim=False)
        return [boxes, steps, words]

    def place(self, artists, labels, weights, v):
        boxes, steps, words = artists
        pieces = weights[:, None] * v
        green, purple = style.COLOURS["value"], style.COLOURS["output"]
        cells, names, verts, colours = [], [], [], []
        looks = {}  # of the cells with a weight: number of the cell -> colour, ink
        rows = zip(labels, weights.tolist(), v.tolist(), pieces.tolist(), strict=True)
        for row, (label, weight, value, piece) in enumerate(rows):
            y = self._y(row)
            names.append((label, self.left + self.name - 10, y + ROW / 2))
            looks[len(cells)] = _weight_look(weight)
            weight = style.number(weight, 3, trim=False)
            cells.append((weight, style.COLOURS["ink"], self.left + self.name, y + 3))
            for column, (number, part) in enumerate(zip(value, piece, strict=True)):
                x = self.left + column * CELL
                cells.append((style.number(number, 2), green, x + self.values, y + 3))
                cells.append((style.number(part, 3, trim=False), green, x + self.pieces, y + 3))
        total = self._y(self.keys)
        summed = f"sum of α: {style.number(weights.sum(), 2, trim=False)}"
        names.append((summed, self.left + self.name + WEIGHT - 4, total + ROW / 2))
        for column, number in enumerate(pieces.sum(dim=0).tolist()):
            x = self.left + self.pieces + column * CELL
            cells.append((style.number(number, 3, trim=False), purple, x, total + 3))
        names.append(("output", self.left + self.pieces - 10, total + ROW / 2))
        for feature in range(self.features):
            at = 0.0
            for row, part in enumerate(pieces[:, feature].tolist()):
                verts.append(self._bar(feature, row, at, at + part))
                colours.append(green)
                at += part
            verts.append(self._bar(feature, self.keys, 0.0, at))
            colours.append(purple)
        place_cells(boxes, words, cells, CELL - 2, ROW - 6, names)
        faces, inks = list(boxes.get_facecolor()), [style.COLOURS["ink"]] * (len(cells) + len(names))
        for cell, look in looks.items():
            faces[cell], inks[cell] = look
        boxes.set_facecolor(faces)
        words.set_facecolor(inks)
        steps.set_verts(verts)
        steps.set_facecolor(colours)

    def _bar(self, feature, row, start, end):
        left, right = (self.left + self._x(feature, value) for value in (start, end))
        return corners(left, self._y(row) + 7, right - left, ROW - 14)

    def _x(self, feature, value):
        low, high = self.reach
        start = self.bars + feature * (BAR + APART)
        return start + (min(max(value, low), high) - low) / ((high - low) or 1.0) * BAR

    def _y(self, row):
        return self.top + HEAD + row * ROW

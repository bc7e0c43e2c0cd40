"""Notebook 02: x @ W, with the row and the column that meet in one cell."""

import html

import ipywidgets as widgets
import matplotlib

from mha_helpers import style
from mha_helpers.checks import check_choice, check_count
from mha_helpers.examples import golden_example
from mha_helpers.figures.cells import add_cells, add_outlines, corners, place_cells
from mha_helpers.figures.picture import new_figure
from mha_helpers.inspector import cell_sum
from mha_helpers.panel import Panel

KINDS = ("query", "key", "value")
LETTER = {"query": "Q", "key": "K", "value": "V"}
CELL_WIDTH, CELL_HEIGHT = 46, 29  # pixels
NAMES, BETWEEN, TOP, GAP = 62, 124, 34, 44
MOST_COLUMNS = 6  # of W, two for each head of the golden example
LARGEST = 9  # the colours end here; the numbers stay below 6, so that dark letters are readable


def projection_explorer(kind="query", columns=2):
    """Return a ``Panel`` with x @ W for "cat eats fish", and the sum behind one cell of the result.

    Controls: kind (query, key or value: which matrix), columns (how many of it: two for each head), token
    and feature (the cell of the result that is written out). Used in notebook 02.

    ``state()`` holds x ``(n, d_model)``, w ``(d_model, columns)`` and projected ``(n, columns)``.

    Raises ``ValueError`` for a kind that there is not, ``TypeError`` or ``ValueError`` for a number that its
    slider does not have.

    >>> panel = projection_explorer(columns=2)
    >>> panel.state()["projected"][1].tolist()
    [2.0, -1.0]
    """
    check_choice("kind", kind, KINDS)
    check_count("columns", columns, largest=MOST_COLUMNS)
    tokens = golden_example().tokens
    controls = {
        "kind": widgets.Dropdown(options=KINDS, value=kind, description="matrix for"),
        "columns": widgets.IntSlider(columns, 1, MOST_COLUMNS, description="columns of W"),
        "token": widgets.SelectionSlider(
            options=[(token, row) for row, token in enumerate(tokens)], value=1, description="row"
        ),
        "feature": widgets.IntSlider(0, 0, columns - 1, description="column"),
    }
    return Panel(
        controls,
        compute,
        ProductPicture(),
        describe,
        details,
        title="A row of x meets a column of W: multiply pairwise, then add.",
        rows=[["kind", "columns"], ["token", "feature"]],
        adjust=adjust,
    )


def adjust(controls, values):
    """Offer only the columns there are."""
    controls["feature"].max = values["columns"] - 1


def compute(kind, columns, token, feature):
    """Project with the first columns of the golden example's matrix."""
    example = golden_example()
    w = {"query": example.w_q, "key": example.w_k, "value": example.w_v}[kind][:, :columns]
    return {
        "kind": kind,
        "tokens": example.tokens,
        "features": example.features,
        "x": example.x,
        "w": w,
        "projected": example.x @ w,  # (n, d_model) @ (d_model, columns) -> (n, columns)
        "selected": (token, min(feature, columns - 1)),
    }


class ProductPicture:
    """x on the left, W above, the product where rows of x and columns of W cross."""

    def layout(self, state):
        return state["kind"], state["w"].shape[1]

    def draw(self, state):
        n, d_model = state["x"].shape
        columns = state["w"].shape[1]
        self._measure(n, d_model)
        width = self.right + d_model * CELL_WIDTH + 14
        height = self.low + n * CELL_HEIGHT + 12
        letter, colour = LETTER[state["kind"]], style.COLOURS[state["kind"]]
        with style.drawing():
            figure = new_figure(width, height)
            ax = figure.add_axes((0, 0, 1, 1))
            ax.set(xlim=(0, width), ylim=(height, 0))
            ax.axis("off")
            ax.text(NAMES, self.low - 10, f"x  ({n}, {d_model})", weight="bold", fontsize=12)
            ax.text(
                self.right, TOP - 10, f"$W_{letter}$  ({d_model}, {columns})",
                color=colour, weight="bold", fontsize=13,
            )  # fmt: skip
            ax.text(
                self.right, self.low - 10, f"${letter} = x\\,W_{letter}$  ({n}, {columns})",
                color=colour, weight="bold", fontsize=13,
            )  # fmt: skip
            boxes, words = add_cells(ax)
            outlines = add_outlines(ax, line_width=2)
        return figure, [boxes, *outlines, words]

    def _measure(self, n, d_model):
        self.right = NAMES + d_model * CELL_WIDTH + BETWEEN  # where W and the product begin
        self.low = TOP + d_model * CELL_HEIGHT + GAP  # where x and the product begin

    def update(self, artists, state):
        boxes, lines, dark, light, words = artists
        n, d_model = state["x"].shape
        self._measure(n, d_model)
        places = {"x": (NAMES, self.low), "w": (self.right, TOP), "projected": (self.right, self.low)}
        cells, values = [], []
        for name, (left, top) in places.items():
            for row, numbers in enumerate(state[name].tolist()):
                for column, value in enumerate(numbers):
                    x, y = left + column * CELL_WIDTH, top + row * CELL_HEIGHT
                    cells.append((style.number(value, 0), "#ffffff", x, y))
                    values.append(value)
        names = [
            (token, NAMES - 8, self.low + (t + 0.5) * CELL_HEIGHT) for t, token in enumerate(state["tokens"])
        ]
        names += [
            (feature, self.right - 8, TOP + (f + 0.5) * CELL_HEIGHT)
            for f, feature in enumerate(state["features"])
        ]
        place_cells(boxes, words, cells, CELL_WIDTH, CELL_HEIGHT, names)
        colours = matplotlib.colormaps[style.VECTOR_CMAP]
        boxes.set_facecolor([colours(0.5 + value / (2 * LARGEST)) for value in values])
        token, feature = state["selected"]
        row = corners(NAMES, self.low + token * CELL_HEIGHT, d_model * CELL_WIDTH, CELL_HEIGHT)
        column = corners(self.right + feature * CELL_WIDTH, TOP, CELL_WIDTH, d_model * CELL_HEIGHT)
        lines.set_verts([row, column])
        cell = corners(
            self.right + feature * CELL_WIDTH, self.low + token * CELL_HEIGHT, CELL_WIDTH, CELL_HEIGHT
        )
        dark.set_verts([cell])
        light.set_verts([cell])


def describe(state):
    """Say what a person would say of the picture."""
    token, feature = state["selected"]
    n, columns = state["projected"].shape
    row = ", ".join(style.number(value, 0) for value in state["projected"][token].tolist())
    name = state["tokens"][token]
    return (
        f"x {tuple(state['x'].shape)} times W {tuple(state['w'].shape)} gives {n} rows of"
        f" {columns}. Row {name} of {LETTER[state['kind']]} is ({row}). Lit in it: column {feature}."
    )


def details(state):
    """Write out the sum behind the lit cell."""
    token, feature = state["selected"]
    total = cell_sum(state["x"][token], state["w"][:, feature])
    name = html.escape(state["tokens"][token])
    return f"<p>{state['kind']} of <b>{name}</b>, column {feature}: {html.escape(total)}</p>"

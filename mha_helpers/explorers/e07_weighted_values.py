"""Notebook 07: the values of one query mixed by its weights, and where the output lies among them."""

import html

import ipywidgets as widgets
import torch

from mha_helpers import style
from mha_helpers.attention import attention_weights
from mha_helpers.checks import check_choice
from mha_helpers.examples import golden_example
from mha_helpers.figures.cells import add_cells, place_cells
from mha_helpers.figures.f07_weighted_values import Stack, describe_stack, pair
from mha_helpers.figures.hull import arrow, hull_of, outside_by
from mha_helpers.figures.plane import PLANE, Plane, pixel_figure
from mha_helpers.inspector import cell_sum
from mha_helpers.panel import Panel

OWN, SWAPPED, KEYS = "V", "V, cat and fish swapped", "K in place of V"
MOST_ADDED, LARGEST_SUM = 8.0, 1.5
REACH = (-2.0, 3.0)  # of the bars: the largest value is 2, and the weights sum to 1.5 at most


def values_explorer(head=1, query="eats"):
    """Return a ``Panel`` with one output of "cat eats fish": the stack of α·v, and the hull of the values.

    Controls: head (1 to 3), query (a token), values (which rows are mixed: V, V with two rows swapped, or
    the keys), cat, eats and fish (what is added to the score of each key before softmax), and total
    (what the weights sum to; softmax gives 1). Another head or query starts again from its own scores.
    Used in notebook 07.

    ``state()`` holds scaled and weights ``(n)``, v, contributions and hull ``(n, 2)``, output ``(2)``, and
    outside, how far the output lies outside the hull.

    Raises ``ValueError`` for a head or a query that there is not.

    >>> panel = values_explorer()
    >>> [round(number, 3) for number in panel.state()["output"].tolist()]
    [1.784, 1.865]
    """
    example = golden_example()
    heads = [(f"{i + 1} {name}", i + 1) for i, name in enumerate(example.head_names)]
    check_choice("head", head, [number for _, number in heads])
    check_choice("query", query, example.tokens)
    controls = {
        "head": widgets.Dropdown(options=heads, value=head, description="head"),
        "query": widgets.SelectionSlider(options=example.tokens, value=query, description="query"),
        "values": widgets.Dropdown(options=[OWN, SWAPPED, KEYS], value=OWN, description="mix"),
        **{
            token: widgets.FloatSlider(
                0.0, min=-MOST_ADDED, max=MOST_ADDED, step=0.5, readout_format="+.1f",
                description=f"add to score of {token}",
            )
            for token in example.tokens
        },
        "total": widgets.FloatSlider(
            1.0, min=0.0, max=LARGEST_SUM, step=0.05, description="weights sum to"
        ),
    }  # fmt: skip
    for name in (*example.tokens, "total"):
        controls[name].layout.width = "400px"  # a long name, and room for the slider itself
    return Panel(
        controls,
        compute,
        ValuesPicture(),
        describe,
        details,
        title="One output: the values, each in the share that its weight gives it.",
        rows=[["head", "query", "values"], ["cat", "eats"], ["fish", "total"]],
        adjust=_Adjust(),
    )


class _Adjust:
    """Sets the added scores back to 0 when another row of weights is chosen."""

    def __init__(self):
        self.row = None

    def __call__(self, controls, values):
        row = values["head"], values["query"]
        if self.row not in (None, row):
            for token in golden_example().tokens:
                controls[token].value = 0.0
        self.row = row


def compute(head, query, values, total, **added):
    """Mix two-dimensional values of the golden example with one row of weights."""
    example = golden_example()
    columns = slice(2 * head - 2, 2 * head)
    q = example.x @ example.w_q[:, columns]  # (n, d_model) @ (d_model, d_k) -> (n, d_k)
    k = example.x @ example.w_k[:, columns]
    v = example.x @ example.w_v[:, columns]
    if values == SWAPPED:
        v = v[[2, 1, 0]]
    mixed = k if values == KEYS else v
    row = example.tokens.index(query)
    more = torch.tensor([added[token] for token in example.tokens], dtype=torch.float32)
    scaled = q[row] @ k.T / example.d_k**0.5 + more  # (d_k) @ (d_k, n) -> (n)
    weights = total * attention_weights(scaled[None])[0]
    output = weights @ mixed  # (n) @ (n, d_v) -> (d_v)
    hull = hull_of(mixed)
    return {
        "tokens": example.tokens,
        "head": head,
        "head_name": example.head_names[head - 1],
        "query": query,
        "mixed": values,
        "scaled": scaled,
        "weights": weights,
        "total": total,
        "v": mixed,
        "contributions": weights[:, None] * mixed,
        "output": output,
        "hull": torch.tensor(hull),
        "outside": outside_by(hull, output.tolist()),
    }


class ValuesPicture:
    """Above, the stack of α·v; below, the same pieces end to end in the plane, with the hull."""

    def layout(self, state):
        return "always the same"

    def draw(self, state):
        self.stack = Stack(len(state["tokens"]), 2, REACH)
        self.plane = Plane(torch.tensor([[-1.3, -1.3], [3.0, 3.0]]))
        left, top = 10, self.stack.height + 12
        with style.drawing():
            figure, ax = pixel_figure(self.stack.width, top + PLANE + 8)
            stack = self.stack.add(ax, 0, 0)
            plane = self.plane.add(ax, left, top)
            x = left + PLANE + 24
            self._draw_legend(ax, x, top + 30)
            self.verdict = x, top + 200
            verdict = list(add_cells(ax))
        return figure, {"stack": stack, "plane": plane, "verdict": verdict}

    def _draw_legend(self, ax, x, y):
        ink, green, purple = (style.COLOURS[name] for name in ("ink", "value", "output"))
        rows = [
            ("o", green, ink, "a value v: what a key hands over"),
            ("s", (0.84, 0.94, 0.91), green, "the hull: all mixtures of the values"),
            ("", green, ink, "the pieces α · v, end to end from (0, 0)"),
            ("D", purple, "white", "the output, where they end"),
        ]
        for row, (mark, colour, edge, words) in enumerate(rows):
            middle = y + 32 * row
            if mark:
                ax.plot([x + 8], [middle], mark, markersize=12, color=colour, markeredgecolor=edge)
            else:
                outline = arrow((x - 2, middle), (x + 20, middle))
                ax.fill(*zip(*outline, strict=True), facecolor=colour, edgecolor=edge, linewidth=0.6)
            ax.text(x + 28, middle, words, va="center", fontsize=11.5)

    def update(self, artists, state):
        tokens, v, weights = state["tokens"], state["v"], state["weights"]
        self.stack.place(artists["stack"], tokens, weights, v)
        output = state["output"][None]
        self.plane.place(
            artists["plane"], tokens, v, output, [f"output of {state['query']}"], state["contributions"]
        )
        left, top = self.verdict
        colours = [style.COLOURS[name] for name in ("output", "ink", "lit" if state["outside"] else "value")]
        cells = [
            (words, colour, left, top + 38 * row)
            for row, (words, colour) in enumerate(zip(_verdict(state), colours, strict=True))
        ]
        place_cells(*artists["verdict"], cells, 300, 32)


def _verdict(state):
    total = style.number(state["total"], 2)
    where = "inside the hull"
    if state["outside"]:
        far = style.number(state["outside"], 2) if state["outside"] >= 0.005 else "less than 0.01"
        where = f"outside the hull, by {far}"
    return f"output {pair(state['output'])}", f"weights sum to {total}", where


def describe(state):
    """Say what a person would say of the picture."""
    stack = describe_stack(state["weights"], state["v"], state["tokens"], f"“{state['query']}”")
    _, total, where = _verdict(state)
    mixed = {
        OWN: "",
        SWAPPED: " V of cat and fish are swapped.",
        KEYS: " The keys are mixed, not the values.",
    }
    return (
        f"Head {state['head']}, {state['head_name']}.{mixed[state['mixed']]} {stack}"
        f" The {total}. The output lies {where}."
    )


def details(state):
    """Write out both sums."""
    lines = [
        f"feature {feature}: {cell_sum(state['weights'], state['v'][:, feature])}" for feature in range(2)
    ]
    return "".join(f"<p>{html.escape(line)}</p>" for line in lines)

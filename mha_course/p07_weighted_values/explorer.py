"""One output of "cat eats fish", put together from weighted values and seen among them, for notebook 07."""

import math
from itertools import pairwise

import ipywidgets as widgets
import torch
from torch.nn.functional import normalize

from mha_helpers import attention_weights, golden_example
from mha_helpers.panel import Explorer, IndexMenu, Panel
from mha_helpers.style import head_label, number, vector

EXAMPLE = golden_example()
TRACE = EXAMPLE.trace()
VALUES = {  # what becomes of the values, and what that shows
    "as they are": (lambda v: v, "The first number says “{}”, the second “{}”."),
    "cat and fish swapped": (torch.flipud, "Swapping moves no weight, because values play no part in them."),
    "1 from every word": (torch.ones_like, "The weights add up to 1, so any mix of ones is 1."),
}
LEFT, BOTTOM, UNIT = 582, 242, 86  # pixels: of the point (0, 0); of a step of 1


def values_explorer():
    """Return a ``Panel`` with one output, its pieces and the hull of the values. Used in notebook 07.

    ``state()`` holds weights ``(n, n)``, v ``(n, 2)``, pieces ``(n, 2)``, each weight · value of the chosen
    query, output ``(2)``, their sum, and chosen: head, query and key.

    >>> panel = values_explorer()
    >>> panel.set(query=1)
    >>> [round(value, 3) for value in panel.state()["output"].tolist()]
    [1.784, 1.865]
    """
    return Panel(explorer=ValuesExplorer())


class ValuesExplorer(Explorer):
    title, asks, height = "What one word collects", "click on a row to let that word ask", 366
    more = ("head", "key")

    def controls(self):
        return {
            "query": IndexMenu("query", start=2, names=EXAMPLE.tokens),
            "values": widgets.Dropdown(options=list(VALUES)),
            "temperature": widgets.FloatLogSlider(1, base=10, min=-1, max=1, step=0.05, readout_format=".2f"),
            "head": IndexMenu("head", names=EXAMPLE.head_names),
            "key": IndexMenu("key", start=-1, names=EXAMPLE.tokens),
        }

    def compute(self, query, values, temperature, head, key):
        weights = attention_weights(TRACE.scaled[head] / temperature)
        v = VALUES[values][0](TRACE.v[head])
        pieces = weights[query][:, None] * v
        chosen = (head, query, int(weights[query].argmax()) if key < 0 else key)
        return {"weights": weights, "v": v, "pieces": pieces, "output": pieces.sum(dim=0), "chosen": chosen}

    def draw(self, drawing, state):
        tokens, (head, *cell) = EXAMPLE.tokens, state["chosen"]
        title = head_label(head, EXAMPLE.head_names)
        drawing.heatmap((0, 0, 330, 282), state["weights"], tokens, tokens, cell, title=title, index=head)
        output = f"output of “{tokens[cell[0]]}”: {vector(state['output'])}"
        _draw_legend(drawing, output)
        _draw_plane(drawing)
        drawing.polygon([_pixels(*value) for value in state["v"].tolist()], "value")
        _draw_pieces(drawing, state["pieces"], thick=cell[1])
        _draw_values(drawing, state["v"], state["chosen"])
        drawing.point(*_pixels(*state["output"].tolist()), 8, "output", hover=output)

    def words(self, state):
        tokens, (head, query, key) = EXAMPLE.tokens, state["chosen"]
        pairs = zip(state["weights"][query], state["v"], strict=True)
        terms = [f"{number(weight, 3, trim=False)} · {vector(value)}" for weight, value in pairs]
        shown = state["weights"][query].double().round(decimals=3)[:, None] * state["v"]
        mix, piece = _result(shown.sum(dim=0), state["output"]), _result(shown[key], state["pieces"][key])
        return [
            f"“{tokens[query]}” collects {' + '.join(terms)} {mix}.",
            f"The thick piece comes from “{tokens[key]}”: {terms[key]} {piece}.",
            VALUES[state["values"]][1].format(*EXAMPLE.value_names[head]),
        ]


def _result(shown, exact):
    """Write a result with its sign, "≈" where the numbers shown do not give it exactly."""
    return f"{'=' if vector(shown, 3) == vector(exact, 3) else '≈'} {vector(exact, 3)}"


def _draw_legend(drawing, output):
    legend = (
        ("value", "a value, and all that can be mixed from the three"),
        ("lit", "weight · value of each word, one after the other"),
        ("output", output),
    )
    for i, (colour, meaning) in enumerate(legend):
        drawing.point(14, 304 + 23 * i, 7, colour)
        drawing.text(28, 309 + 23 * i, meaning, 14, bold=colour == "output")


def _draw_plane(drawing):
    for step in range(-1, 3):
        x, y = _pixels(step, step)
        drawing.line(x, 14, x, 346, "faint", 0.6 if step else 1.5)
        drawing.line(LEFT - 1.6 * UNIT, y, LEFT + 2.5 * UNIT, y, "faint", 0.6 if step else 1.5)
        if step > 0:
            drawing.text(x - 4, BOTTOM + 14, str(step), 12, "end", "label")
            drawing.text(LEFT - 4, y + 14, str(step), 12, "end", "label")


def _draw_pieces(drawing, pieces, thick):
    ends = [[0.0, 0.0], *pieces.cumsum(dim=0).tolist()]
    for j, (start, end) in enumerate(pairwise(ends)):
        is_long = math.dist(start, end) * UNIT > 11  # a shorter one has no room for its head
        drawing.line(*_pixels(*start), *_pixels(*end), "lit", 6 if j == thick else 3, arrow=is_long)


def _draw_values(drawing, values, chosen):
    outwards = normalize(values - values.mean(dim=0)).tolist()  # (0, 0) where all values are the same
    for j, (token, value, (right, up)) in enumerate(zip(EXAMPLE.tokens, values, outwards, strict=True)):
        x, y = _pixels(*value.tolist())
        right, up = (right, up) if right or up else (1, 1 - j)
        is_on_axis = value[1] == 0 and abs(up) < 0.5  # which would strike its words out
        below = (-4 if is_on_axis else 5) - 16 * up
        anchor = "start" if right > 0 else "end"
        drawing.text(x + 12 * right, y + below, f"{token} {vector(value)}", 14, anchor)
        drawing.point(x, y, 7, "value", hover=f"value of {token}", cell=(*chosen[:2], j))


def _pixels(first, second):
    return LEFT + UNIT * first, BOTTOM - UNIT * second

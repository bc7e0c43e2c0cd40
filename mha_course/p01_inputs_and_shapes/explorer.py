"""Page 01: a batch of sentences as a block of numbers, each number with its three positions."""

import ipywidgets as widgets

from mha_helpers.panel import Explorer, IndexMenu, Panel
from mha_helpers.sentence import fixed_matrix

AXES, MOST = ("sentence", "token", "feature"), (4, 6, 8)


def shapes_explorer():
    """Return a ``Panel`` that draws x of shape ``(b, n, d_model)`` and says where a number is. Page 01.

    ``state()`` holds x ``(b, n, d_model)``, chosen ``(b, t, d)`` and before, how many numbers come before the
    chosen one in memory.

    >>> panel = shapes_explorer()
    >>> panel.click(1, 0, 2)
    >>> panel.state()["before"]  # one whole sentence of 3 · 6 numbers, and two more
    20
    """
    return Panel(explorer=ShapesExplorer())


class ShapesExplorer(Explorer):
    title, height = "A batch of sentences is one block of numbers", 300
    more = AXES

    def controls(self):
        return {
            "b": widgets.IntSlider(2, 1, MOST[0], description="b sentences"),
            "n": widgets.IntSlider(3, 1, MOST[1], description="n tokens"),
            "d_model": widgets.IntSlider(6, 1, MOST[2]),
            **{name: IndexMenu(name) for name in AXES},
        }

    def adjust(self, controls, values):
        for name, size in zip(AXES, ("b", "n", "d_model"), strict=True):
            controls[name].offer(_names(name, values[size]), numbered=False)

    def click(self, values, heatmap, row, column):
        return dict(zip(AXES, (heatmap, row, column), strict=True))

    def compute(self, b, n, d_model, sentence, token, feature):
        block = fixed_matrix("shapes", MOST[2], MOST[0] * MOST[1]).T.view(MOST)
        return {
            "x": block[:b, :n, :d_model].contiguous(),  # a larger block keeps the numbers of a smaller one
            "chosen": (sentence, token, feature),
            "before": (sentence * n + token) * d_model + feature,
        }

    def draw(self, drawing, state):
        x, (sentence, *cell) = state["x"], state["chosen"]
        tokens, features = (_names(name, size) for name, size in zip(AXES[1:], x.shape[1:], strict=True))
        width = drawing.width / max(len(x), 2)
        # Of one colour it is grey below 0, so that the frame is seen everywhere.
        style = {"kind": "vectors", "limit": 1.8, "axes": ("", ""), "colour": "positive"}
        for i, matrix in enumerate(x):
            box, chosen = (i * width, 0, width - 12, drawing.height), cell if i == sentence else None
            drawing.heatmap(box, matrix, tokens, features, chosen, title=f"sentence {i}", index=i, **style)

    def words(self, state):
        x, (sentence, token, feature) = state["x"], state["chosen"]
        b, n, d_model = x.shape
        count = f"{x.numel()} number{'s' * (x.numel() > 1)}"
        return [
            f"x has the shape ({b}, {n}, {d_model}): {b} · {n} · {d_model} = {count}.",
            f"The frame is on x[{sentence}, {token}, {feature}]: sentence, token, feature, counted from 0.",
            f"In memory {state['before']} numbers come before it:"
            f" {sentence} · {n} · {d_model} + {token} · {d_model} + {feature}.",
        ]


def _names(name, size):
    return [f"{name} {i}" for i in range(size)]

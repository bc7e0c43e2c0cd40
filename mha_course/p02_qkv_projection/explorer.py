"""A row of x meets a column of W, on "cat eats fish", for notebook 02."""

import ipywidgets as widgets

from mha_helpers.golden import golden_example
from mha_helpers.panel import Explorer, IndexMenu, Panel
from mha_helpers.style import head_label, number, vector
from mha_helpers.tables import cell_sum

EXAMPLE = golden_example()
MATRICES = {"query": EXAMPLE.w_q, "key": EXAMPLE.w_k, "value": EXAMPLE.w_v}
VERBS = {"query": "asks with", "key": "offers", "value": "gives"}
COLUMNS = ("no. 1", "no. 2")
X, W, RESULT = range(3)  # the three heatmaps, as a click names them
# Cells of one size in all three, so that a row of x and the same row of the result stand on one line.
BOXES = ((12, 45, 334, 270), (386, 5, 231, 358), (666, 115, 154, 200))


def projection_explorer():
    """Return a ``Panel`` that multiplies a row of x by the columns of a matrix. Used in notebook 02.

    ``state()`` holds, for the chosen head: x ``(3, 6)``, w ``(6, 2)``, result ``(3, 2)``; and what is chosen,
    counted from 0: token, feature and column.

    >>> panel = projection_explorer()
    >>> panel.set(token=0, matrix="key")
    >>> panel.state()["result"][0].tolist()
    [2.0, 0.0]
    """
    return Panel(explorer=ProjectionExplorer())


class ProjectionExplorer(Explorer):
    title, height = "One word becomes a query, a key or a value", 366
    more = ("feature", "column")

    def controls(self):
        tokens = [(token, i) for i, token in enumerate(EXAMPLE.tokens)]
        return {
            "token": widgets.SelectionSlider(options=tokens, value=1),
            "matrix": widgets.Dropdown(options=list(MATRICES)),
            "head": IndexMenu("head", names=EXAMPLE.head_names),
            "feature": IndexMenu("feature", start=1, names=EXAMPLE.features),
            "column": IndexMenu("column of W", names=[""] * EXAMPLE.d_k),
        }

    def click(self, values, heatmap, row, column):
        chosen = {X: ("token", "feature"), W: ("feature", "column"), RESULT: ("token", "column")}[heatmap]
        return dict(zip(chosen, (row, column), strict=True))

    def compute(self, token, matrix, head, feature, column):
        w = MATRICES[matrix][:, EXAMPLE.d_k * head : EXAMPLE.d_k * (head + 1)]  # (d_model, d_k)
        return {"x": EXAMPLE.x, "w": w, "result": EXAMPLE.x @ w, "name": f"W_{matrix[0].upper()}"}

    def draw(self, drawing, state):
        tokens, features = EXAMPLE.tokens, EXAMPLE.features
        token, feature, column, role = (state[name] for name in ("token", "feature", "column", "matrix"))
        style = {"kind": "vectors", "axes": ("", ""), "limit": 2.5}
        given = style | {"title": "x", "index": X, "colour": "positive"}
        cell = drawing.heatmap(BOXES[X], state["x"], tokens, features, (token, feature), **given)
        x, y, size, _ = cell(token, 0)
        drawing.rect(x, y, len(features) * size, size, "lit", outline=True)
        learned = style | {"title": f"{state['name']}, head {state['head'] + 1}", "index": W, "colour": role}
        cell = drawing.heatmap(BOXES[W], state["w"], features, COLUMNS, (feature, column), **learned)
        x, y, size, _ = cell(0, column)
        drawing.rect(x, y, size, len(features) * size, "lit", outline=True)
        made = style | {"axes": ("", role), "index": RESULT, "colour": role}
        drawing.heatmap(BOXES[RESULT], state["result"], tokens, COLUMNS, (token, column), **made)
        drawing.text(376, 229, "@", 22, "middle")
        drawing.text(652, 229, "=", 22, "middle")

    def words(self, state):
        token, feature, column, role = (state[name] for name in ("token", "feature", "column", "matrix"))
        word, row, w = EXAMPLE.tokens[token], state["x"][token], state["w"]
        has, turns = number(row[feature]), number(w[feature, column])
        meaning = (EXAMPLE.value_names if role == "value" else EXAMPLE.key_names)[state["head"]][column]
        name = head_label(state["head"], EXAMPLE.head_names).capitalize()
        return [
            f"{name}. “{word}” {VERBS[role]} {vector(state['result'][token])}.",
            f"Its number {column + 1} is about “{meaning}”: {cell_sum(row, w[:, column])}.",
            f"Framed: “{EXAMPLE.features[feature]}” is {has} in “{word}”, times {turns} in {state['name']},"
            f" gives {number(row[feature] * w[feature, column])} of this sum.",
        ]

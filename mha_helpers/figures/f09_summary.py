"""Notebook 09: the whole computation on one page, with every number of "cat eats fish" and every shape."""

from dataclasses import dataclass

import matplotlib
import torch
from matplotlib.colors import to_hex
from matplotlib.patches import FancyArrowPatch, Rectangle

from mha_helpers import style
from mha_helpers.examples import golden_example
from mha_helpers.figures.cells import tint
from mha_helpers.figures.picture import Picture, new_figure

WIDTH, HEIGHT = 880, 1244  # the proportions of A4
LEFT = 16  # of the words
LANES, LANE = 262, 204  # where the three lanes begin, and how wide one is
ROW = 24  # the height of a cell
ARROW = "#777777"
FAINT_TEXT = "#555555"


@dataclass(frozen=True)
class Step:
    """One row of the page: its number, its name, a formula, and its shapes."""

    page: str
    name: str
    formula: str
    axes: str
    result: str  # a field of AttentionTrace
    top: int


STEPS = (
    Step("01", "tokens", r"$x$", "(b, n, d_model)", "x", 92),
    Step("02", "project", r"$Q = xW_Q,\;\; K = xW_K,\;\; V = xW_V$", "(b, n, h·d_k)", "q", 204),
    Step("08", "split into heads", "view, then transpose", "(b, h, n, d_k)", "q", 318),
    Step("03", "scores", r"$S_i = Q_i K_i^T$", "(b, h, n, n)", "scores", 452),
    Step("04", "scale", r"$S_i \,/\, \sqrt{d_k}$", "(b, h, n, n)", "scaled", 562),
    Step("05", "mask", r"$-\infty$ where the mask is False", "(b, h, n, n)", "masked", 673),
    Step("06", "weights", r"$A_i = $ softmax of each row", "(b, h, n, n)", "weights", 728),
    Step("07", "weighted values", r"$\mathrm{head}_i = A_i V_i$", "(b, h, n, d_v)", "heads", 849),
    Step("09", "concat", "heads side by side", "(b, n, h·d_v)", "concat", 960),
    Step("09", "project out", r"output $=$ concat $W_O$", "(b, n, d_model)", "output", 1075),
)


def summary_picture():
    """Draw multi-head attention on one page, from x to the output, with the numbers of "cat eats fish".

    To print it: ``summary_picture().figure.savefig("summary.pdf")``. Used in notebook 09. Returns a
    ``Picture`` in the proportions of A4.

    >>> print(summary_picture().alt.splitlines()[9])
    09 concat: heads side by side; (b, n, h·d_v) = (1, 3, 6). “eats”: (1.78, 1.87, 1.65, 0.91, 1.67, 0.9).
    """
    example = golden_example()
    with torch.no_grad():
        trace = example.attention().trace(example.x[None])  # (b, n, d_model)
    shapes = {step: _shape(step, trace) for step in STEPS}
    with style.drawing(), matplotlib.rc_context({"font.size": 11}):
        figure = _Page(example, trace, shapes).figure
    return Picture(figure, _describe(shapes, trace))


def _shape(step, trace):
    shape = tuple(getattr(trace, step.result).shape)
    if step.page == "02":  # before the split the heads stand side by side
        b, h, n, d_k = shape
        shape = (b, n, h * d_k)
    return shape


def _describe(shapes, trace):
    lines = [
        "Multi-head attention on one page, with the numbers of “cat eats fish”, from top to bottom. Those of"
        " the framed row, “eats”, stand with each step."
    ]
    for step, shape in shapes.items():
        formula = _FORMULAS.get(step.name, step.formula)
        lines.append(f"{step.page} {step.name}: {formula}; {step.axes} = {shape}.{_eats(step, trace)}")
    return "\n".join(lines)


def _eats(step, trace):
    """Say the framed row's numbers, head by head where there are heads. The mask changes none here."""
    if step.name == "mask":
        return ""
    fields = ("q", "k", "v") if step.result == "q" else (step.result,)
    parts = []
    for field in fields:
        rows = getattr(trace, field)[0][..., 1, :]  # ((h), n, size) -> ((h), size)
        name = f"{field.upper()} " if len(fields) > 1 else ""
        if rows.dim() == 1 or step.name == "project":  # side by side there
            parts.append(name + _written(rows.flatten()))
        else:
            parts += [f"{name}head {head + 1} {_written(row)}" for head, row in enumerate(rows)]
    return f" “eats”: {'; '.join(parts)}."


def _written(row):
    return f"({', '.join(style.number(number) for number in row)})"


# What is set as mathematics, in plain text.
_FORMULAS = {
    "tokens": "x",
    "project": "Q = x W_Q, K = x W_K, V = x W_V",
    "scores": "S_i = Q_i K_iᵀ",
    "scale": "S_i ÷ √d_k",
    "mask": "−∞ where the mask is False; none here",
    "weights": "A_i = softmax of each row of S_i",
    "weighted values": "head_i = A_i V_i",
    "project out": "output = concat W_O",
}


class _Page:
    """The drawing. The unit is a screen pixel, and y points down."""

    def __init__(self, example, trace, shapes):
        self.example, self.trace = example, trace
        self.tokens = list(example.tokens)
        self.figure = new_figure(WIDTH, HEIGHT)
        self.ax = self.figure.add_axes((0, 0, 1, 1))
        self.ax.set(xlim=(0, WIDTH), ylim=(HEIGHT, 0))
        self.ax.axis("off")
        self._heading()
        for step, shape in shapes.items():
            self._words(step, shape)
        self._project()
        self._heads()
        self._merge()
        footer = (
            "The frame follows “eats”. Rows are queries, columns are keys. b counts sentences, here 1.",
            "The numbers 01 to 09 are the pages. Heads are split (08) before the scores are made (03).",
        )
        self.ax.text(LEFT, HEIGHT - 24, "\n".join(footer), va="center", color=FAINT_TEXT, linespacing=1.4)

    def _heading(self):
        self.ax.text(LEFT, 30, "Multi-head attention on one page", fontsize=18, weight="bold", va="center")
        self.ax.text(
            LEFT,
            60,
            r"$\mathrm{MultiHead}(x) = \mathrm{Concat}(\mathrm{head}_1, …, \mathrm{head}_h)\,W_O,"
            r"\qquad \mathrm{head}_i = \mathrm{softmax}(Q_i K_i^T / \sqrt{d_k})\,V_i$",
            fontsize=12.5,
            va="center",
        )

    def _words(self, step, shape):
        top = step.top
        self.ax.plot([LEFT, WIDTH - LEFT], [top - 12] * 2, color=style.COLOURS["faint"], linewidth=0.8)
        words = {
            0: (f"{step.page}  {step.name}", {"weight": "bold", "fontsize": 12.5}),
            24: (step.formula, {}),
            46: (f"{step.axes}", {"color": FAINT_TEXT}),
            66: (f"{shape}", {"color": FAINT_TEXT}),
        }
        if step.name == "mask":  # a low row
            words = {0: words[0], 22: (f"{step.formula}; here none is", {})}
        for below, (text, look) in words.items():
            self.ax.text(LEFT, top + 6 + below, text, va="center", **look)

    def _project(self):
        example, trace = self.example, self.trace
        top = STEPS[0].top
        middle = self._lane(1)
        self._tile(trace.x[0], middle, top, 30, style.COLOURS["faint"], labels=self.tokens)
        below, top = top + 3 * ROW, STEPS[1].top
        for lane, (name, colour, w) in enumerate(
            zip("QKV", ("query", "key", "value"), (example.w_q, example.w_k, example.w_v), strict=True)
        ):
            centre = self._lane(lane)
            self._arrow((middle + (lane - 1) * 40, below + 4), (centre, top - 2))
            at = (0.5 * (middle + (lane - 1) * 40 + centre) + (20, 18, 30)[lane], 0.5 * (below + top) + 2)
            look = {"color": style.text_colour(style.COLOURS[colour]), "fontsize": 12, "va": "center"}
            self.ax.text(*at, f"$W_{name}$", **look, backgroundcolor="white")
            matrix = example.x @ w
            self._tile(
                matrix, centre, top, 28, style.COLOURS[colour], labels=self.tokens if lane == 0 else None
            )
            for head in range(example.num_heads):  # which columns go to which head
                left = centre + (2 * head - 3) * 28
                self._strip(left + 1, top + 3 * ROW + 3, 54, head)

    def _heads(self):
        trace, tokens = self.trace, self.tokens
        tops = {step.result: step.top for step in STEPS if step.page in ("03", "04", "06", "07")}
        tops["split"] = STEPS[2].top
        for head in range(self.example.num_heads):
            centre, labels = self._lane(head), tokens if head == 0 else None
            name = f"head {head + 1}: {self.example.head_names[head]}"
            self._strip(centre - 90, tops["split"] + 8, 180, head)
            look = {"color": style.text_colour(style.head_colour(head)), "weight": "bold", "fontsize": 10}
            self.ax.text(centre, tops["split"], name, ha="center", va="center", **look)
            blocks = tops["split"] + 30
            for place, (field, colour) in enumerate((("q", "query"), ("k", "key"), ("v", "value"))):
                middle = centre + (place - 1) * 64
                self._letter(field.upper(), middle, blocks - 8, colour)
                own = labels if place == 0 else None
                matrix = getattr(trace, field)[0, head]
                self._tile(matrix, middle, blocks, 28, style.COLOURS[colour], labels=own)
            limit = float(trace.scores.abs().max())
            for field in ("scores", "scaled"):
                colours = _mapped(getattr(trace, field)[0, head], "scores", -limit, limit)
                self._tile(getattr(trace, field)[0, head], centre, tops[field], 46, colours, labels=labels)
            colours = _mapped(trace.weights[0, head], "weights", 0, 1)
            look = {"labels": labels, "columns": tokens}
            self._tile(trace.weights[0, head], centre, tops["weights"], 46, colours, **look)
            self._tile(
                trace.heads[0, head], centre, tops["heads"], 46, style.head_colour(head), labels=labels
            )
            for block, beside in ((centre - 64, 24), (centre, 0)):  # a score is made of Q and K
                self._arrow((block, blocks + 3 * ROW + 3), (centre - beside, tops["scores"] - 2))
            self._values_go_on(centre, blocks + 3 * ROW + 3, tops["heads"])
            self._arrow((centre, tops["scores"] + 3 * ROW + 3), (centre, tops["scaled"] - 2))
            self._arrow((centre, tops["scaled"] + 3 * ROW + 3), (centre, tops["weights"] - 2))
            self._arrow((centre, tops["weights"] + 3 * ROW + 20), (centre, tops["heads"] - 2))

    def _values_go_on(self, centre, start, heads):
        """Draw the way of V to step 07, past the scores and the weights, which it has no part in."""
        right, middle = centre + 84, heads + 1.5 * ROW
        look = {"color": style.COLOURS["value"], "linewidth": 1.3}
        self.ax.plot([right, right], [start, middle], solid_capstyle="projecting", **look)
        self._arrow((right, middle), (centre + 48, middle), look["color"])
        self._letter("V", centre + 68, middle - 10, "value")

    def _merge(self):
        trace, example = self.trace, self.example
        concat, output = STEPS[8].top, STEPS[9].top
        middle, above = self._lane(1), STEPS[7].top + 3 * ROW + 3
        colours = [[style.head_colour(column // 2) for column in range(6)]] * 3
        self._tile(trace.concat[0], middle, concat, 44, colours, labels=self.tokens)
        for head in range(example.num_heads):
            self._arrow((self._lane(head), above), (middle + (head - 1) * 88, concat - 2))
        # W_O: a row belongs to a number of a head, so it has that head's colour.
        colours = [[style.head_colour(row // 2)] * 6 for row in range(6)]
        left = self._lane(0) + 4
        self._tile(example.w_o, left, output, 28, colours, height=20)
        self.ax.text(left - 106, output + 60, "$W_O$", fontsize=14, ha="center", va="center")
        right = self._lane(2) - 42
        self._tile(trace.output[0], right, output + 24, 44, style.COLOURS["output"], labels=self.tokens)
        self._arrow((middle, concat + 3 * ROW + 3), (right, output + 21))
        self._arrow((left + 88, output + 60), (right - 182, output + 60))

    def _lane(self, lane):
        return LANES + (lane + 0.5) * LANE

    def _tile(self, matrix, centre, top, width, colour, labels=None, columns=None, height=ROW):
        """Draw a matrix as coloured cells with its numbers; the row of "eats" is framed."""
        rows, count = matrix.shape
        left = centre - count * width / 2
        decimals = 0 if style.whole_numbers(matrix) else 2
        for i in range(rows):
            for j in range(count):
                own = colour if isinstance(colour, str) else colour[i][j]
                face = own if isinstance(own, tuple) else tint(own)
                box = Rectangle((left + j * width, top + i * height), width, height, facecolor=face)
                box.set(edgecolor="white", linewidth=1)
                self.ax.add_patch(box)
                self.ax.text(
                    left + (j + 0.5) * width,
                    top + (i + 0.5) * height,
                    style.number(matrix[i, j], decimals, trim=False),
                    ha="center",
                    va="center_baseline",
                    fontsize=10.5,
                    color=style.ink_on(to_hex(face)),
                )
        if rows == len(self.tokens):
            frame = Rectangle((left, top + height), count * width, height, fill=False, linewidth=1.6)
            frame.set(edgecolor=style.COLOURS["ink"], zorder=3)
            self.ax.add_patch(frame)
        for i, label in enumerate(labels or []):
            look = {"weight": "bold" if i == 1 else "normal", "fontsize": 10.5}
            self.ax.text(left - 6, top + (i + 0.5) * height, label, ha="right", va="center", **look)
        for j, label in enumerate(columns or []):
            at = (left + (j + 0.5) * width, top + rows * height + 9)
            self.ax.text(*at, label, ha="center", va="center", fontsize=10.5, color=style.COLOURS["key"])

    def _strip(self, left, top, width, head):
        self.ax.add_patch(
            Rectangle((left, top), width, 4, facecolor=style.head_colour(head), edgecolor="none")
        )

    def _letter(self, letter, centre, middle, role):
        look = {"color": style.text_colour(style.COLOURS[role]), "weight": "bold", "fontsize": 10}
        self.ax.text(centre, middle, letter, ha="center", va="center", **look)

    def _arrow(self, start, end, colour=ARROW):
        look = {"arrowstyle": "-|>", "mutation_scale": 11, "linewidth": 1.3, "color": colour}
        self.ax.add_patch(FancyArrowPatch(start, end, shrinkA=0, shrinkB=0, **look))


def _mapped(matrix, kind, low, high):
    cmap = matplotlib.colormaps[style.CMAPS[kind]]
    return [[tuple(cmap((value - low) / (high - low))[:3]) for value in row] for row in matrix.tolist()]

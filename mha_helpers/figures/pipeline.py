"""The pipeline map: the nine steps as the data flows through them, one of them lit."""

import itertools
from dataclasses import dataclass

from matplotlib.offsetbox import AnnotationBbox, HPacker, TextArea
from matplotlib.patches import FancyArrowPatch, FancyBboxPatch

from mha_helpers import style
from mha_helpers.attention import AttentionTrace
from mha_helpers.checks import check_count
from mha_helpers.examples import golden_example
from mha_helpers.figures.picture import Picture, new_figure

WIDTH, HEIGHT = 880, 318
BOX_WIDTH, BOX_HEIGHT = 136, 112
LEFT, PITCH = 4, 184  # the left edge of the first column; from one column to the next
TOPS = (30, 200)  # the upper edges of the two rows
LIT_FILL = "#FFF3CF"  # the lit colour, so pale that coloured letters stay readable on it
FAINT_TEXT = "#666666"  # still readable on white: contrast 5.7
SIGN_COLOURS = {
    "$Q$": style.COLOURS["query"],
    "$K$": style.COLOURS["key"],
    "$K^T$": style.COLOURS["key"],
    "$V$": style.COLOURS["value"],
}


@dataclass(frozen=True)
class Step:
    """One box: its notebook, what it does, and the name of what comes out of it in the trace."""

    number: int
    name: str  # in words
    signs: tuple  # in symbols, for the picture; a string for each colour
    said: str  # the symbols as they stand in the text alternative
    result: str  # a field of AttentionTrace
    axes: str
    column: int
    row: int


# In the order of the data. The second row runs from right to left, which puts "weights · V" right
# below the place where V comes from. Heads are taught last but split before the scores are made.
STEPS = (
    Step(1, "tokens", ("$x$",), "x", "x", "(n, d_model)", 0, 0),
    Step(2, "project", ("$Q$", "$K$", "$V$"), "Q, K, V", "q", "(n, d_model)", 1, 0),
    Step(8, "split heads", ("$Q$", "$K$", "$V$"), "split heads", "q", "(h, n, d_k)", 2, 0),
    Step(3, "scores", ("$Q$", "$K^T$"), "scores QKᵀ", "scores", "(h, n, n)", 3, 0),
    Step(4, "scale", (r"$÷\,\sqrt{d_k}$",), "scale ÷√d_k", "scaled", "(h, n, n)", 4, 0),
    Step(5, "mask", (r"$-\infty$",), "mask", "masked", "(h, n, n)", 4, 1),
    Step(6, "weights", ("softmax",), "softmax", "weights", "(h, n, n)", 3, 1),
    Step(7, "weighted values", ("weights ·", "$V$"), "weights · V", "heads", "(h, n, d_v)", 2, 1),
    Step(9, "concat, project", ("concat ·", "$W_O$"), "concat · W_O", "output", "(n, d_model)", 1, 1),
)


def pipeline_map(step):
    """Draw the nine steps with one of them lit, and the shapes of "cat eats fish" in every box.

    ``step`` is the number of the notebook, 1 … 9. The boxes stand in the order of the data: heads are
    split (step 8) before the scores are made (step 3). Returns a ``Picture``.

    Raises ``TypeError`` if step is no whole number, ``ValueError`` if there is no such step.

    >>> pipeline_map(3).alt.splitlines()[0]
    'Page 03 is lit: scores QKᵀ, (h, n, n) = (3, 3, 3).'
    """
    check_count("step", step)
    if step > len(STEPS):
        raise ValueError(f"step must be the number of a notebook, 1 to {len(STEPS)}, got {step}.")
    shapes = _shapes()
    with style.drawing():
        figure = _draw(step, shapes)
    return Picture(figure, _describe(step, shapes))


def _shapes():
    """The shape of every step's result for "cat eats fish", from a run of the whole thing."""
    example = golden_example()
    trace: AttentionTrace = example.attention().trace(example.x[None])
    shapes = {}
    for step in STEPS:
        shape = tuple(getattr(trace, step.result).shape)[1:]  # without the batch of one sentence
        if step.number == 2:  # before the split the heads stand side by side in one axis
            shape = (shape[1], shape[0] * shape[2])
        shapes[step.number] = shape
    return shapes


def _describe(lit, shapes):
    def said(step):
        return f"{step.said}, {step.axes} = {shapes[step.number]}"

    current = next(step for step in STEPS if step.number == lit)
    flow = " → ".join(f"{step.number:02} {said(step)}" for step in STEPS)
    return (
        f"Page {lit:02} is lit: {said(current)}.\n"
        f"The data flows: {flow}.\nV goes from page 08 straight to page 07."
    )


def _draw(lit, shapes):
    figure = new_figure(WIDTH, HEIGHT)
    ax = figure.add_axes((0, 0, 1, 1))
    ax.set(xlim=(0, WIDTH), ylim=(HEIGHT, 0))
    ax.axis("off")
    for step in STEPS:
        _draw_box(ax, step, shapes[step.number], step.number == lit)
    for before, after in itertools.pairwise(STEPS):
        _draw_arrow(ax, before, after)
    split, values = STEPS[2], STEPS[7]
    _draw_arrow(ax, split, values)
    _signs(
        ax,
        _left(split) + BOX_WIDTH + (PITCH - BOX_WIDTH) / 2,
        TOPS[0] + BOX_HEIGHT / 2 - 16,
        ("$Q$", "$K$"),
        fontsize=14,
    )
    _signs(ax, _left(split) + BOX_WIDTH / 2 + 16, (TOPS[0] + BOX_HEIGHT + TOPS[1]) / 2, ("$V$",), fontsize=14)
    output = STEPS[-1]
    middle = TOPS[1] + BOX_HEIGHT / 2
    _arrow(ax, (_left(output) - 3, middle), (BOX_WIDTH - 10, middle))
    ax.text(
        BOX_WIDTH / 2 - 4,
        middle,
        "one new vector\nfor each token",
        fontsize=11,
        ha="center",
        va="center",
        color=FAINT_TEXT,
    )
    return figure


def _draw_box(ax, step, shape, lit):
    left, top = _left(step), TOPS[step.row]
    middle = left + BOX_WIDTH / 2
    ink = style.COLOURS["ink"] if lit else FAINT_TEXT
    ax.add_patch(
        FancyBboxPatch(
            (left, top),
            BOX_WIDTH,
            BOX_HEIGHT,
            boxstyle="round,pad=0,rounding_size=9",
            facecolor=LIT_FILL if lit else "#F6F6F6",
            edgecolor=style.COLOURS["lit"] if lit else style.COLOURS["faint"],
            linewidth=5 if lit else 1.2,
        )
    )
    weight = "bold" if lit else "normal"
    ax.text(left, top - 5, f"{step.number:02}", color=ink, weight="bold", ha="left", va="bottom")
    ax.text(left + 26, top - 5, step.name, color=ink, weight=weight, ha="left", va="bottom", fontsize=11)
    _signs(ax, middle, top + 34, step.signs, ink, fontsize=16)
    ax.text(middle, top + 69, step.axes, color=ink, ha="center", va="center", fontsize=11)
    ax.text(middle, top + 92, str(shape), color=ink, ha="center", va="center", weight=weight)


def _left(step):
    return LEFT + step.column * PITCH


def _draw_arrow(ax, before, after):
    middle = BOX_HEIGHT / 2
    if before.row == after.row:
        step = 1 if after.column > before.column else -1
        start = _left(before) + (BOX_WIDTH + 3 if step == 1 else -3)
        end = _left(after) + (-3 if step == 1 else BOX_WIDTH + 3)
        _arrow(ax, (start, TOPS[before.row] + middle), (end, TOPS[after.row] + middle))
    else:
        x = _left(before) + BOX_WIDTH / 2
        _arrow(ax, (x, TOPS[0] + BOX_HEIGHT + 3), (x, TOPS[1] - 24))


def _arrow(ax, start, end):
    ax.add_patch(
        FancyArrowPatch(
            start,
            end,
            arrowstyle="-|>",
            mutation_scale=16,
            linewidth=1.8,
            color="#777777",
            shrinkA=0,
            shrinkB=0,
        )
    )


def _signs(ax, x, y, signs, ink=style.COLOURS["ink"], fontsize=14):
    """Write signs side by side, Q, K and V each in its colour."""
    areas = [
        TextArea(sign, textprops={"color": SIGN_COLOURS.get(sign, ink), "fontsize": fontsize})
        for sign in signs
    ]
    packed = HPacker(children=areas, align="baseline", pad=0, sep=5)
    ax.add_artist(AnnotationBbox(packed, (x, y), frameon=False, pad=0, box_alignment=(0.5, 0.5)))

"""Multi-head attention in one picture: every step for “eats”, with its numbers, in all three heads."""

from functools import partial

from mha_helpers.golden import golden_example
from mha_helpers.picture import Picture, arrow, box, ink_on, new_figure, tint, words
from mha_helpers.style import head_label, number, vector

HEADS, PITCH, CELL, ROW = 206, 219, 70, 27  # where the heads begin, a head, a cell and its height, in pixels
SPAN = 3 * CELL  # the width of a head

# Page, name, in symbols, axes of the whole result, and where its row is.
STEPS = (
    ("01", "tokens", "$x$", "(n, d_model)", 40),
    ("08", "heads", "the columns, split", "(h, n, d_k)", 94),
    ("02", "query", r"$q = x\,W_Q$", "(h, n, d_k)", 134),
    ("02", "keys", r"$k = x\,W_K$", "(h, n, d_k)", 190),
    ("03", "scores", r"$q\,k^T$", "(h, n, n)", 224),
    ("04", "scaled", r"$÷\,\sqrt{d_k}$", "(h, n, n)", 258),
    ("05", "masked", "nothing hidden", "(h, n, n)", 292),
    ("06", "weights", "softmax", "(h, n, n)", 326),
    ("07", "values", r"$v = x\,W_V$", "(h, n, d_v)", 360),
    ("07", "one head", "weights · $v$", "(h, n, d_v)", 410),
    ("09", "concat", "side by side", "(n, h·d_v)", 466),
    ("09", "output", r"concat · $W_O$", "(n, d_model)", 538),
)
_exact = partial(vector, decimals=3, trim=False)
TOP = {name: top for _, name, _, _, top in STEPS}


def summary_picture():
    """Draw all steps of multi-head attention for the word “eats” of “cat eats fish”, with their numbers.

    ``summary_picture().figure.savefig("summary.pdf")`` prints it. Returns a ``Picture``. Used by the handout.

    >>> summary_picture().words.splitlines()[-1]
    'output: 2.784, −3.728, 1.862, 0.876, −0.835, −0.042'
    """
    example = golden_example()
    trace = example.trace()
    figure, ax = new_figure(HEADS + 3 * PITCH, 602)
    words(ax, 4, 12, "“eats” in “cat eats fish”", bold=True, align="left", size=15)
    for page, name, symbols, axes, top in STEPS:
        words(ax, 4, top + 7, f"{page}  {name}", bold=True, align="left")
        words(ax, 30, top + 23, symbols, align="left", size=11.5)
        words(ax, HEADS - 12, top + 7, axes, align="right", size=10.5)
    for head in range(3):
        _draw_head(ax, example, trace, head)
    _draw_output(ax, example, trace)
    return Picture(figure, _describe(trace))


def _draw_head(ax, example, trace, head):
    left, colour = HEADS + head * PITCH, f"head {head + 1}"
    middle = left + SPAN / 2
    arrow(ax, (middle, TOP["tokens"] + ROW + 2), (middle, TOP["query"] - 24))
    words(ax, middle, TOP["query"] - 12, head_label(head, example.head_names), colour, bold=True)
    _cell(ax, middle - CELL, TOP["query"], 2 * CELL, vector(trace.q[head, 1]), "query")
    for key, token in enumerate(example.tokens):
        position = left + key * CELL
        words(ax, position + CELL / 2, TOP["keys"] - 11, token, "key", bold=True)
        _cell(ax, position, TOP["keys"], CELL, vector(trace.k[head, key]), "key")
        for name in ("scores", "scaled", "masked"):
            _cell(ax, position, TOP[name], CELL, number(getattr(trace, name)[head, 1, key]), "label")
        weight = float(trace.weights[head, 1, key])
        text = number(weight, 3, trim=False)
        _cell(ax, position, TOP["weights"], CELL, text, colour, fill=tint(colour, weight))
        _cell(ax, position, TOP["values"], CELL, vector(trace.v[head, key]), "value")
    arrow(ax, (middle, TOP["values"] + ROW + 2), (middle, TOP["one head"] - 2))
    _cell(ax, middle - CELL, TOP["one head"], 2 * CELL, _exact(trace.heads[head, 1]), colour)
    arrow(ax, (middle, TOP["one head"] + ROW + 2), (middle, TOP["concat"] - 2))


def _draw_output(ax, example, trace):
    _cell(ax, HEADS, TOP["tokens"], 2 * PITCH + SPAN, vector(trace.x[1])[1:-1], "label")
    width = (2 * PITCH + SPAN) / 6
    for position, feature in enumerate(example.features):
        left, colour = HEADS + position * width, f"head {position // 2 + 1}"
        _cell(ax, left, TOP["concat"], width, number(trace.concat[1, position], 3, trim=False), colour)
        _cell(ax, left, TOP["output"], width, number(trace.output[1, position], 3, trim=False), "output")
        words(ax, left + width / 2, TOP["output"] + ROW + 13, feature, size=11)
    centre, start, end = HEADS + 3 * width, TOP["concat"] + ROW + 2, TOP["output"] - 2
    arrow(ax, (centre, start), (centre, end))
    words(ax, centre + 14, (start + end) / 2, "$W_O$: every output may use all six", align="left")


def _cell(ax, left, top, width, text, colour, fill=None):
    box(ax, left + 1, top, width - 2, ROW, colour, fill=fill, radius=4)
    words(ax, left + width / 2, top + ROW / 2, text, ink_on(fill) if fill else "ink")


def _describe(trace):
    x, concat, output = vector(trace.x[1]), _exact(trace.concat[1]), _exact(trace.output[1])
    lines = [f"Multi-head attention for “eats”, step by step.\nx: {x[1:-1]}"]
    for head in range(3):
        query, scores, weights = (rows[head, 1] for rows in (trace.q, trace.scores, trace.weights))
        answer = f"weights {_exact(weights)[1:-1]}; answer {_exact(trace.heads[head, 1])}"
        lines.append(f"head {head + 1}: query {vector(query)}; scores {vector(scores)[1:-1]}; {answer}")
    return "\n".join([*lines, f"concat: {concat[1:-1]}", f"output: {output[1:-1]}"])

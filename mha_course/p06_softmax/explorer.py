"""One row of scores becomes weights, in three steps that can be watched, for notebook 06."""

import math

import ipywidgets as widgets
import torch

from mha_helpers.golden import golden_example
from mha_helpers.panel import Explorer, IndexMenu, Panel
from mha_helpers.style import number

EXAMPLE = golden_example()
SCALED = EXAMPLE.trace().scaled  # (h, n, n)
NOBODY = "nobody"
LABELS, BARS, TOP, STEP, BAR = 62, 190, 60, 58, 40  # pixels


def softmax_explorer():
    """Return a ``Panel`` in which one row of "cat eats fish" goes through softmax. Used in notebook 06.

    ``state()`` holds scores, exponentials and weights ``(n)`` and the sum of the exponentials, total. All
    are computed plainly in float32, so they overflow as they would in a learner's cell.

    >>> panel = softmax_explorer()
    >>> panel.click(0, 1, 2)  # "fish" is hidden
    >>> [round(weight, 3) for weight in panel.state()["weights"].tolist()]
    [0.972, 0.028, 0.0]
    """
    return Panel(explorer=SoftmaxExplorer())


class SoftmaxExplorer(Explorer):
    title, asks, height = "One row of scores becomes weights", "click on a word to hide it", 316
    more = ("head", "query", "hide")

    def controls(self):
        return {
            "cat": widgets.FloatSlider(0, min=-6, max=6, step=0.25, description="add to cat"),
            # At 50 nothing changes; at 86 the largest power overflows, at 90 all do.
            "every": widgets.SelectionSlider(options=(0, 50, 86, 90), description="add to all"),
            "temperature": widgets.FloatLogSlider(1, base=10, min=-1, max=1, step=0.05, readout_format=".2f"),
            "shift": widgets.Checkbox(False, description="subtract the largest first", indent=False),
            "head": IndexMenu("head", names=EXAMPLE.head_names),
            "query": IndexMenu("query", start=1, names=EXAMPLE.tokens),
            "hide": widgets.Dropdown(options=[NOBODY, *EXAMPLE.tokens]),
        }

    def click(self, values, heatmap, row, column):
        word = EXAMPLE.tokens[column]
        return {"hide": NOBODY if values["hide"] == word else word}

    def compute(self, cat, every, temperature, shift, head, query, hide):
        scores = SCALED[head, query]  # (n)
        scores = (scores + every + cat * torch.tensor([1, 0, 0])) / temperature
        hidden = torch.tensor([hide == token for token in EXAMPLE.tokens])
        scores = scores.masked_fill(hidden, -torch.inf)
        scores = scores - scores.max() if shift else scores
        powers = scores.exp()
        total = powers.sum()
        return {"scores": scores, "exponentials": powers, "total": total, "weights": powers / total}

    def draw(self, drawing, state):
        asks, head = EXAMPLE.tokens[state["query"]], f"head {state['head'] + 1}"
        drawing.readout = (610 + BARS / 2, 14)
        drawing.text(0, 14, f"“{asks}” asks, in {head}", 14, bold=True)
        divided = "" if round(state["temperature"], 2) == 1 else f" ÷ {number(state['temperature'])}"
        title = f"score{divided}{' − largest' if state['shift'] else ''}"
        _draw_step(drawing, title, LABELS, 160, state["scores"], 4, "positive", BARS / 2)
        least = 1 if state["shift"] else 20
        _draw_step(drawing, "e to its power", 345, 345, state["exponentials"], least, "label")
        drawing.text(345, TOP + 3 * STEP + 10, f"sum {_written(state['total'])}", 14, bold=True)
        _draw_step(drawing, "÷ sum = weight", 610, 610, state["weights"], 1, head)
        left = LABELS
        for i, weight in enumerate(state["weights"].tolist()):
            width = 0 if math.isnan(weight) else (610 + BARS - LABELS) * weight
            _draw_share(drawing, left, width, EXAMPLE.tokens[i], head)
            _draw_word(drawing, state, i)
            left += width

    def words(self, state):
        tokens, scores, weights, total = EXAMPLE.tokens, state["scores"], state["weights"], state["total"]
        if total == math.inf:
            return [
                "The powers add up to ∞, because their sum is too large for float32.",
                "∞ ÷ ∞ is NaN, not a number; any other power ÷ ∞ is 0.",
            ]
        best, second = weights.argsort(descending=True)[:2].tolist()
        difference = (scores[best] - scores[second]).item()
        leads = "has the largest weight" if difference else "has as much weight as any other"
        lead, ratio = number(difference, 3), _written(math.exp(difference), 1)
        return [
            f"The three powers add up to {_written(total)}, and each weight is a share of this sum.",
            f"“{tokens[best]}” {leads}, {number(weights[best], 3, trim=False)}.",
            f"Its score is {lead} above that of “{tokens[second]}”, and e to the power of {lead} is {ratio},"
            f" so its weight is {ratio} times as large.",
        ]


def _draw_step(drawing, title, left, zero, values, least, colour, longest=BARS):
    """Draw one step; the scale ends at ``least`` or at the largest value, if that is larger."""
    drawing.text(left, 40, title, 14, bold=True)
    limit = max([least, *values[values.isfinite()].abs().tolist()])
    for i, value in enumerate(values.tolist()):
        y, length = TOP + i * STEP, longest * value / limit if math.isfinite(value) else 0
        drawing.rect(zero + min(length, 0), y, max(abs(length), 1), BAR, colour if value >= 0 else "negative")
        drawing.text(zero + max(length, 0) + 6, y + 25, _written(value), 14)
    drawing.line(zero, TOP - 8, zero, TOP + 3 * STEP - 10, "ink", 1)


def _draw_share(drawing, left, width, token, colour):
    """Draw one of the shares into which the whole is cut."""
    drawing.rect(left, 270, width - 2, 34, colour)
    if width > 50:
        drawing.text(left + width / 2, 292, token, 14, "middle", "#ffffff", bold=True)


def _draw_word(drawing, state, i):
    """Write a word in front of its bars, and let a click on all of them hide it."""
    token, y = EXAMPLE.tokens[i], TOP + i * STEP
    is_hidden = state["hide"] == token
    drawing.text(LABELS - 8, y + 25, token, 14, "end", "masked" if is_hidden else "ink", bold=True)
    hover = f"{token}: {'hidden' if is_hidden else _written(state['weights'][i])}"
    drawing.rect(0, y - 6, drawing.width, BAR + 12, "lit", 0, hover, cell=(0, state["query"], i))


def _written(value, decimals=2):
    """Write a number of any size: 18.41, 2.1e11, ∞, NaN."""
    value = float(value)
    if value and math.isfinite(value) and not 0.005 <= abs(value) < 10_000:
        return f"{value:.1e}".replace("e+", "e").replace("e-0", "e-").replace("-", "−")
    return number(value, decimals, trim=value == 0).replace("nan", "NaN")

"""Heads while they form, and what happens when one is switched off, for deeper/10."""

import functools
from itertools import pairwise

import ipywidgets as widgets
import torch

from mha_course.models import heads_off, tiny
from mha_helpers.masks import causal_mask
from mha_helpers.panel import Explorer, Panel

HEADS = ("0.0", "0.1", "0.2", "0.3", "1.0", "1.1", "1.2", "1.3")  # layer.head
STEPS = tiny.checkpoints()["steps"].tolist()
JOBS = ("previous letter", "after a copy")  # what layer 0 and layer 1 have to look at


def trained_explorer():
    """Return a ``Panel`` in which heads form as training goes on. Used in deeper/10.

    ``state()`` holds, for n letters: weights ``(8, n, n)`` of heads 0.0 to 1.3; framed ``(n, n)``: where the
    chosen head's layer has to look; known ``(n - 1)``: the next letter can be known; right ``(n - 1)``: it is
    guessed; on held-out distances accuracy, and for each of the two jobs the weights of all heads ``(8)``.

    >>> panel = trained_explorer()
    >>> panel.set(off=True)
    >>> panel.state()["accuracy"] < 0.2
    True
    """
    return Panel(explorer=TrainedExplorer())


class TrainedExplorer(Explorer):
    title, height, more = "Heads while they form", 336, ("line",)

    def controls(self):
        heads = [(name, head) for head, name in enumerate(HEADS)]
        return {
            "step": widgets.SelectionSlider(options=STEPS, value=1000),
            "head": widgets.SelectionSlider(options=heads, value=2, description="layer.head"),
            "off": widgets.Checkbox(False, description="switch this head off", indent=False),
            "line": widgets.Text("KQWMADZT" * 3, description="letters"),
        }

    def compute(self, step, head, off, line):
        letters = tiny.as_numbers(line)
        off_head = head if off else -1
        with model_at(step, off_head) as model:
            logits, weights = model(letters[None])
        after_copies = tiny.positions_after_copies(letters)
        same = letters[None, :] == letters[1:, None]  # (1, n), (n - 1, 1) -> (n - 1, n)
        return {
            "tokens": [f"{letter} {i}" for i, letter in enumerate(tiny.as_text(letters))],
            "weights": torch.cat(weights, dim=1)[0],  # layers of (1, h, n, n) -> (8, n, n)
            "framed": after_copies if head >= 4 else torch.ones(len(letters) - 1).diag(-1).bool(),
            "known": (after_copies[:-1] & same).any(dim=-1),
            "right": logits[0, :-1].argmax(dim=-1) == letters[1:],
            **measured(step, off_head),
        }  # fmt: skip

    def draw(self, drawing, state):
        head, tokens = state["head"], state["tokens"]
        colours = ["faint" if state["off"] and i == head else f"head {i + 1}" for i in range(len(HEADS))]
        style = {"index": head, "colour": colours[head], "mask": causal_mask(len(tokens))}
        style["title"] = f"head {HEADS[head]}{' is off' if state['off'] else ''}"
        cell = drawing.heatmap((0, 0, 440, drawing.height), state["weights"][head], tokens, tokens, **style)
        for row, column in state["framed"].nonzero().tolist():
            # As thick as others it would hide so small a cell.
            drawing.rect(*cell(row, column), "lit", outline=True, thick=1.6)
        drawing.readout = (660, 138)  # between the ends of the curve's scale
        _draw_curve(drawing, state, left=480, top=30, width=360, height=90)
        for left, job in zip((460, 660), JOBS, strict=True):
            drawing.text(left, 168, f"weight: {job}", 13, bold=True)
            cells = [(i, 0, 0) for i in range(len(HEADS))]
            drawing.bars((left, 178, 195, 154), state[job], HEADS, colours, (0, 1), head, cells=cells)

    def words(self, state):
        head, known, right = state["head"], state["known"].sum(), (state["right"] & state["known"]).sum()
        line = f"{right} of {known} in this line" if known else "in this line none can be known"
        previous, after = (state[job][head] for job in JOBS)
        held = f"puts {previous:.2f} on the previous letter and {after:.2f} after a copy"
        framed = "the letter after an earlier copy" if head >= 4 else "the previous letter"
        return [
            f"Step {state['step']}. Next letter right: {state['accuracy']:.0%} at distances held out,"
            f" {line}.",
            f"Head {HEADS[head]} {'writes zeros' if state['off'] else held}. Framed: {framed}.",
        ]


def model_at(step, off):
    """Return the model of a step for a ``with``, in which a head is off; −1 is none."""
    return heads_off(tiny.trained_model(step=step), *[divmod(head, 4) for head in [off] if head >= 0])


@functools.cache
def measured(step, off=-1):
    """Measure the model of this step on the lines of the page: accuracy, and both jobs of every head."""
    lines = tiny.repeated_sequences(192, tiny.HELD_OUT_DISTANCES, seed=99)
    with model_at(step, off) as model:
        jobs = {job: score.flatten() for job, score in tiny.head_scores(model, *lines).items()}
        return {"accuracy": tiny.accuracy(model, *lines), **jobs}


def _draw_curve(drawing, state, left, top, width, height):
    """Draw the accuracy at every step that was kept, all heads on, and a large point for what is shown."""
    drawing.text(left - 20, 16, "next letter right, at distances held out", 13, bold=True)

    def pixels(step, accuracy):
        return left + width * step / 1000, top + height * (1 - accuracy)

    curve = [(step, measured(step)["accuracy"]) for step in STEPS]
    for before, after in pairwise(curve):
        drawing.line(*pixels(*before), *pixels(*after), "output")
    for step, accuracy in curve:
        drawing.point(*pixels(step, accuracy), 4, "output", hover=f"step {step}: {accuracy:.2f}")
    drawing.point(*pixels(state["step"], state["accuracy"]), 8, "lit")
    for value, y in ((1, top), (0, top + height)):
        drawing.line(left, y, left + width, y, "faint", 1)
        drawing.text(left - 8, y + 5, str(value), 13, "end")
    drawing.text(left, top + height + 18, "step 0", 13)
    drawing.text(left + width, top + height + 18, "step 1000", 13, "end")

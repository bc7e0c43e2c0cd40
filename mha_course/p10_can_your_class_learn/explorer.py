"""A model that learns while one looks at it, is stopped, broken and led back, for notebook 10."""

import asyncio
import contextlib
import copy
import functools
import itertools
import time

import ipywidgets as widgets
import torch

import __main__
from mha_course.exercises.showing import CORRECT
from mha_course.models import heads_off
from mha_course.p09_concat_and_output.exercises import the_class
from mha_course.p10_can_your_class_learn import training
from mha_course.p10_can_your_class_learn.stories import ASKED, FACTS, LENGTH, as_words
from mha_helpers.panel import Explorer, Panel

HEADS = [f"{layer}.{head}" for layer in range(training.LAYERS) for head in range(training.NUM_HEADS)]
WORDS_ASKED = list(zip(("own colour", "own thing", "given colour", "given thing"), FACTS, strict=True))
YOURS = "your edit of MyAttention"
SEED, KEPT_EVERY, TESTED = 1, 25, 50  # of the training; steps; stories
SLICE, PICTURE = 0.04, 0.16  # seconds of training before the kernel answers others; between two pictures


def learning_explorer():
    """Return a ``Panel`` in which a model learns to tell stories. Used in notebook 10.

    ``state()`` holds, at the step that is shown: losses of all steps up to the last trained; loss, true (the
    share of 50 stories), text (words of one story as the model ends it) and wrong (bool for each word);
    weights ``(8, n)`` of all heads, for the row that says the chosen word.

    >>> panel = learning_explorer()
    >>> panel.state()["true"], panel.state()["weights"].shape
    (0.0, torch.Size([8, 18]))
    """
    explorer = LearningExplorer()
    explorer.panel = Panel(explorer=explorer)
    return explorer.panel


class Run:
    """A model, its training, and what it was at the steps that are kept."""

    def __init__(self, attention):
        self.model = training.new_model(attention, SEED)
        self.training = training.train(self.model, SEED)
        self.losses, self.kept, self.changes = [], {}, []  # changes: (step, name of what was broken there)
        self.keep()

    @property
    def is_over(self):
        return len(self.losses) >= training.STEPS

    def go_on(self, seconds):
        """Train for so long, but to the next step that is kept where that comes first."""
        start = time.perf_counter()
        while not self.is_over and time.perf_counter() - start < seconds:
            self.losses.append(next(self.training))
            if len(self.losses) % KEPT_EVERY == 0:
                return self.keep()

    def break_with(self, attention, name):
        """Go on with another attention, or without positions; the numbers learned so far stay."""
        self.model.use(attention)
        self.model.positions.weight.requires_grad_(name != "no positions")
        if name == "no positions":
            torch.nn.init.zeros_(self.model.positions.weight)
        self.changes.append((len(self.losses), name))
        self.keep()

    def keep(self):
        """Note the model as it is, and how many stories it tells truly."""
        true = training.told_truly(self.model, training.stories_kept_back(TESTED))
        self.kept[len(self.losses)] = copy.deepcopy(self.model), true


class LearningExplorer(Explorer):
    title, asks = "A model learns to tell stories", "click a column to choose its head"
    height, more = 356, ("word", "head")

    def __init__(self):
        self.reset()

    def controls(self):
        return {
            "train": widgets.ToggleButton(False, description="train", layout={"width": "70px"}),
            "step": widgets.SelectionSlider(options=[0], layout={"width": "300px"}),
            "break": widgets.Dropdown(options=[*training.BREAKS, YOURS]),
            "off": widgets.Checkbox(False, description="head off", indent=False),
            "word": widgets.Dropdown(options=WORDS_ASKED, value=ASKED),
            "head": widgets.SelectionSlider(options=[(name, i) for i, name in enumerate(HEADS)]),
        }

    def reset(self):
        """Begin again with an untrained model and the class of the page, where that is right."""
        mine = getattr(__main__, the_class.variable, None)
        self.is_yours = mine is not None and the_class.verdict(mine).status == CORRECT
        self.right = mine if self.is_yours else training.class_with()
        self.run, self.broken, self.error, self.learns = Run(self.right), "nothing", "", None

    def rehearse(self, panel):
        """Show a training that has run, for a page without a kernel."""
        self.run = _finished_run()
        panel.set(step=training.STEPS)
        panel.controls["break"].disabled = True  # it would go on with this very run

    def click(self, values, heatmap, row, column):
        return {"head": column}

    # --- training -------------------------------------------------------------------------------------------

    def adjust(self, controls, values):
        if values["break"] != self.broken:
            self._break(values["break"])
        if values["train"] and self.learns is None:
            self._start(controls["train"])
        steps = list(self.run.kept)
        if list(controls["step"].options) != steps:
            controls["step"].options = steps
            controls["step"].value = steps[-1]
        waits = "trained" if self.run.is_over else "go on" if self.run.losses else "train"
        controls["train"].description = "stop" if controls["train"].value else waits
        controls["train"].disabled = self.run.is_over and not controls["train"].value

    def _break(self, name):
        """Put the class into the model that the menu names, at this very step."""
        self.broken, self.error = name, ""
        try:
            mine = getattr(__main__, the_class.variable, None)
            if name == YOURS and mine is None:
                raise ValueError("Run the cell of `class MyAttention` first: this takes it as it is.")
            attention = {YOURS: mine, "nothing": self.right}.get(name) or training.class_with(name)
            self.run.break_with(attention, name)
        except Exception as error:
            self.error = f"{type(error).__name__}: {error}"

    def _start(self, button):
        """Train beside the kernel's other work; where no loop runs, up to the next step that is kept."""
        try:
            self.learns = asyncio.get_running_loop().create_task(self._learn(button))
        except RuntimeError:
            self._go_on(seconds=60)
            button.value = False

    async def _learn(self, button):
        shown = 0
        while button.value and not self.run.is_over and not self.error:
            self._go_on(SLICE)
            await asyncio.sleep(0.001)  # here the kernel answers what is clicked and typed
            if time.perf_counter() - shown > PICTURE:
                self.panel.set(step=list(self.run.kept)[-1])
                shown = time.perf_counter()
        self.learns = None
        if len(self.run.losses) not in self.run.kept:
            self.run.keep()
        self.panel.set(train=False)

    def _go_on(self, seconds):
        try:
            self.run.go_on(seconds)
        except Exception as error:  # of the learner's class: the kernel must not fall silent
            self.error = f"{type(error).__name__}: {error}"

    # --- what is shown --------------------------------------------------------------------------------------

    @torch.no_grad()
    def compute(self, train, step, off, word, head, **menu):
        if self.error:
            raise ValueError(self.error)
        (model, true), losses = self.run.kept[step], self.run.losses
        if train:
            step, model = len(losses), self.run.model
        ids = training.stories_kept_back(TESTED)
        with heads_off(model, divmod(head, training.NUM_HEADS)) if off else contextlib.nullcontext():
            true = training.told_truly(model, ids) if off else true
            text = training.written(model, ids[:1])
            _, weights = model.with_weights(text[:, :word])  # the last row of it says the word
        return {
            "at": step, "losses": list(losses), "loss": losses[step - 1] if step else None, "true": true,
            "text": as_words(text[0]), "wrong": (text != ids[:1])[0].tolist(), "right": as_words(ids[0]),
            "weights": torch.cat([of_layer[0, :, -1] for of_layer in weights]),
        }  # fmt: skip

    def draw(self, drawing, state):
        said, text = state["word"], state["text"]
        numbered = [f"{word} {i}" for i, word in enumerate(text[:said])]
        title = f"looked at to say “{text[said]}”"
        style = {"title": title, "kind": "vectors", "axes": ("word", "head"), "colour": "head 1", "limit": 1}
        weights, cell = state["weights"].T, (said - 1, state["head"])  # (8, n) -> (n, 8)
        drawing.heatmap((0, 0, 360, drawing.height), weights, numbered, HEADS, cell, **style)
        _draw_curves(drawing, self.run, state, left=410, top=34, width=430, height=170)
        _draw_words(drawing, state, left=410, y=268)

    def words(self, state):
        step, text, head = state["at"], state["text"], HEADS[state["head"]]
        before = " before the change" * (step in dict(self.run.changes))
        loss = "" if state["loss"] is None else f"loss {state['loss']:.2f}{before}, "
        whose = "your class" if self.is_yours else "the class of page 09"
        with_ = f", {state['break']}" if state["break"] != "nothing" else f" with {whose}" * bool(step)
        wrong = [i for i in range(ASKED, LENGTH) if state["wrong"][i]]
        judged = f"a lie: {state['right'][wrong[0]]} is true" if wrong else "true"
        most = int(state["weights"][state["head"]].argmax())
        looks = f"looks most at “{text[most]}” {most} ({state['weights'][state['head'], most]:.2f})"
        return [
            f"Step {step}{with_}: {loss}{state['true'] * TESTED:.0f} of {TESTED} stories told truly.",
            f"After “{' '.join(text[ASKED - 3 : ASKED])}” it goes on “{' '.join(text[ASKED:])}”: {judged}.",
            f"Head {head} {'is off' if state['off'] else looks}.",
        ]


@functools.cache
def _finished_run():
    run = Run(training.class_with())
    while not run.is_over:
        run.go_on(seconds=60)
    return run


def _draw_curves(drawing, run, state, left, top, width, height):
    """Draw the loss of every fourth step, the share of true stories, and where a line was broken."""

    def at(step, share):
        return left + width * step / training.STEPS, top + height * (1 - share)

    drawing.text(left, top - 8, "loss (0 to 2)", 13, colour="negative", bold=True)
    drawing.text(left + 120, top - 8, "stories told truly (0 to 1)", 13, colour="output", bold=True)
    losses = [(step, min(loss / 2, 1)) for step, loss in enumerate(state["losses"])]
    true = [(step, true) for step, (_, true) in run.kept.items()]
    for colour, curve in (("negative", losses[::4]), ("output", true)):
        for before, after in itertools.pairwise(curve):
            drawing.line(*at(*before), *at(*after), colour, 2)
    for step, name in run.changes:
        drawing.line(*at(step, 0), *at(step, 1), "lit", 1.5, dashed=True)
        drawing.text(at(step, 0)[0] + 4, top + 14, name, 13)
    drawing.line(*at(0, 0), *at(training.STEPS, 0), "faint", 1)
    drawing.text(left, top + height + 16, "step 0", 13)
    drawing.text(left + width, top + height + 16, f"step {training.STEPS}", 13, "end")
    drawing.point(*at(state["at"], state["true"]), 6, "lit")


def _draw_words(drawing, state, left, y):
    """Write what the story is asked, and the answer, with the right word below each wrong one."""
    drawing.text(left, y - 26, " ".join(["…", *state["text"][ASKED - 3 : ASKED], "…"]), 14)
    for i in range(ASKED, LENGTH - 1):
        x, wrong = left + 88 * (i - ASKED), state["wrong"][i]
        drawing.text(x, y, state["text"][i], 15, colour="negative" if wrong else "output", bold=True)
        if wrong:
            drawing.text(x, y + 20, f"true: {state['right'][i]}", 13)

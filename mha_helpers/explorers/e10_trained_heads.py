"""Notebook 10: heads while they form, and what happens when one is switched off."""

import functools

import ipywidgets as widgets
import torch

from mha_helpers.checks import check_choice, check_count
from mha_helpers.explorers.e10_picture import SCORE_NAMES, FormingPicture
from mha_helpers.figures.words import count, is_or_are
from mha_helpers.panel import Panel
from mha_helpers.style import number
from mha_helpers.trained import (
    HELD_OUT_DISTANCES,
    LETTERS,
    NUM_HEADS,
    NUM_LAYERS,
    RUNS,
    accuracy,
    as_numbers,
    as_text,
    checkpoint_steps,
    head_scores,
    places_after_copies,
    repeated_sequences,
    shipped_model,
)

SEQUENCE = "KQWMADZTKQWMADZTKQWMADZT"  # a block of 8, a distance that no model was trained on
TEST_COUNT, TEST_SEED = 192, 99  # sequences in each test
TRAININGS = {"many distances": "varying", "distance 12 only": "fixed"}


def trained_explorer(sequence=SEQUENCE, training="many distances", step=None, layer=2, head=1):
    """Return a ``Panel`` in which heads form as training goes on.

    Controls: training ("many distances" or "distance 12 only"), step, layer, head, sequence (letters), off
    (the chosen head writes zeros). Used in notebook 10.

    ``state()`` holds, for n letters: weights ``(layers, h, n, n)``, guesses ``(n, 26)``, right_places
    ``(n, n)``, known ``(n - 1)`` (the next letter can be known), accuracies (a dict), the scores
    "previous" and "after a copy" of every head, ``(layers, h)``, looked_for (which of the two the chosen
    layer is there for: "previous" in layer 1), and framed ``(n, n)``, the places that it has to look at.

    Raises ``ValueError`` for a step that was not kept, ``TypeError`` or ``ValueError`` for a layer or a
    head that there is not.

    >>> panel = trained_explorer(step=0)
    >>> panel.controls["step"].value = 1000
    >>> panel.state()["accuracies"]["held-out distances"] > 0.9
    True
    """
    check_count("layer", layer, largest=NUM_LAYERS)
    check_count("head", head, largest=NUM_HEADS)
    check_choice("training", training, TRAININGS)
    steps = checkpoint_steps(TRAININGS[training])
    step = steps[-1] if step is None else step
    check_choice("step", step, steps)
    controls = {
        "training": widgets.Dropdown(options=list(TRAININGS), value=training, description="trained on"),
        "step": widgets.SelectionSlider(options=list(steps), value=step, description="training step"),
        "layer": widgets.IntSlider(layer, 1, NUM_LAYERS, description="layer"),
        "head": widgets.IntSlider(head, 1, NUM_HEADS, description="head"),
        "sequence": widgets.Text(sequence, description="sequence"),
        "off": widgets.Checkbox(False, description="switch this head off", indent=False),
    }
    return Panel(
        controls,
        compute,
        FormingPicture(),
        describe,
        title="Heads while they form.",
        rows=[["training", "step"], ["layer", "head", "off"], ["sequence"]],
        adjust=_offer_steps,
    )


def _offer_steps(controls, values):
    steps = checkpoint_steps(TRAININGS[values["training"]])
    slider = controls["step"]
    if tuple(slider.options) != steps:
        nearest = min(steps, key=lambda step: abs(step - values["step"]))
        slider.options = list(steps)
        slider.value = nearest


def compute(training, step, layer, head, sequence, off):
    """Run the model of this step on the sequence, and test it on sequences of several distances."""
    run = TRAININGS[training]
    letters = as_numbers(sequence)
    model = shipped_model(run, step)
    switched_off = (layer - 1, head - 1) if off else None
    with torch.no_grad():
        guesses, weights = model(letters[None], heads_on(switched_off))
    right_places = places_after_copies(letters)
    looked_for = "after a copy" if layer == NUM_LAYERS else "previous"  # the two jobs that the layers do
    scores = scores_of(run, step, switched_off)
    return {
        "training": training,
        "step": step,
        "steps": checkpoint_steps(run),
        "selected_layer": layer - 1,
        "selected_head": head - 1,
        "off": off,
        "tokens": tuple(as_text(letters)),
        "weights": torch.stack(weights)[:, 0],  # layers of (1, h, n, n) -> (layers, h, n, n)
        "guesses": guesses[0],
        "right_places": right_places,
        "looked_for": looked_for,
        "framed": right_places if looked_for == "after a copy" else _letters_before(len(letters)),
        "known": _known(letters, right_places),
        "right": guesses[0, :-1].argmax(dim=-1) == letters[1:],
        "accuracies": accuracies(run, step, switched_off),
        "curves": curves(run),
        **scores,
    }


def _letters_before(n):
    """Say where the letter before each letter stands. Shape: -> bool (n, n)."""
    return torch.ones(n - 1).diag(-1).bool()


def _known(letters, right_places):
    """Say where the letter that comes next stands at one of the right places. Shape: -> bool (n - 1)."""
    same = letters[None, :] == letters[1:, None]  # (1, n), (n - 1, 1) -> (n - 1, n)
    return (right_places[:-1] & same).any(dim=-1)


def heads_on(*switched_off):
    """Return the switches of all heads: True but for each ``(layer, head)``. Shape: -> ``(layers, h)``."""
    on = torch.ones(NUM_LAYERS, NUM_HEADS, dtype=torch.bool)
    for place in switched_off:
        if place is not None:
            on[place] = False
    return on


@functools.cache
def accuracies(run, step, switched_off=None):
    """Return what a checkpoint gets right, on two tests: held-out distances, and distance 12."""
    model, on = shipped_model(run, step), heads_on(switched_off)
    return {name: accuracy(model, *_test(distances), on) for name, distances in TESTS.items()}


TESTS = {"held-out distances": HELD_OUT_DISTANCES, "distance 12": RUNS["fixed"]}


@functools.cache
def scores_of(run, step, switched_off=None):
    """Return the two scores of every head, measured on held-out distances."""
    return head_scores(shipped_model(run, step), *_test(HELD_OUT_DISTANCES), heads_on(switched_off))


@functools.cache
def curves(run):
    """Return, for each test, the accuracy at every checkpoint of a run."""
    found = [accuracies(run, step) for step in checkpoint_steps(run)]
    return {name: [values[name] for values in found] for name in TESTS}


@functools.cache
def _test(distances):
    return repeated_sequences(TEST_COUNT, distances, TEST_SEED)


def describe(state):
    """Say what a person would say of the picture."""
    layer, head = state["selected_layer"], state["selected_head"]
    previous, after = (state[name][layer, head].item() for name in ("previous", "after a copy"))
    tests = ", ".join(f"{value:.1%} on {name}" for name, value in state["accuracies"].items())
    known, right = state["known"], state["right"]
    if known.any():
        hits = int((known & right).sum())
        letters = count(int(known.sum()), "letter")
        here = f"In this sequence {hits} of {letters} that can be known {is_or_are(hits)} right."
    else:
        here = "In this sequence no letter can be known: no pair of neighbours repeats."
    off = " This head is off." if state["off"] else ""
    wrong = [i for i in range(len(known)) if known[i] and not right[i]]
    missed = ""
    if wrong:
        guess = LETTERS[int(state["guesses"][wrong[0]].argmax())]
        expected = state["tokens"][wrong[0] + 1]
        missed = f" The first miss: after {state['tokens'][wrong[0]]} it says {guess}, right is {expected}."
    framed = SCORE_NAMES[state["looked_for"]] + ("" if state["framed"].any() else " (there is none)")
    return (
        f"Trained on {state['training']}, step {state['step']}. Next letter right: {tests}. {here}{missed}"
        f" On held-out distances layer {layer + 1}, head {head + 1} puts weight {number(previous)} on the"
        f" previous letter and {number(after)} after an earlier copy.{off} Framed: {framed}."
    )

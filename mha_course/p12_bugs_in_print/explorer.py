"""A line-up for notebook 12: six versions of attention, five with a bug, and five experiments on them."""

import functools
import math

import ipywidgets as widgets
import torch

from mha_helpers.attention import attention_weights, mask_scores, merge_heads, split_heads
from mha_helpers.masks import causal_mask
from mha_helpers.panel import Explorer, Panel
from mha_helpers.sentence import fixed_matrix, sentence_vectors
from mha_helpers.style import number

HEADS, SIZES = 2, (1, 4, 16)
SUSPECTS = {"A": "values", "B": "mask", "C": "healthy", "D": "softmax", "E": "heads", "F": "scale"}
EXPERIMENTS = {
    "change the last word": "Under a causal mask the last word is changed: how far does each output move?",
    "shuffle the words": "The words are shuffled, no mask: how far are the outputs from the shuffled ones?",
    "let every word give 1": "Without a mask every value is 1: what is each output?",
    "increase d_k": "Random queries and keys: how widely do the scores spread?",
    "compare with PyTorch": "Under a causal mask, same matrices: how far is each output from PyTorch's?",
}


def bugs_explorer():
    """Return a ``Panel`` with six suspects and five experiments. Used in notebook 12.

    ``state()`` holds the labels of the bars, and the numbers of healthy heads and of the suspect, measured.

    >>> panel = bugs_explorer()
    >>> panel.set(suspect="C", experiment="compare with PyTorch")
    >>> max(panel.state()["measured"])
    0.0
    """
    return Panel(explorer=BugsExplorer())


class BugsExplorer(Explorer):
    title, height = "Six suspects, five experiments", 290

    def controls(self):
        choices = {"suspect": list(SUSPECTS), "experiment": list(EXPERIMENTS)}
        return {name: widgets.Dropdown(options=names) for name, names in choices.items()}

    def compute(self, suspect, experiment):
        labels, healthy = measure(experiment, "healthy")
        measured = measure(experiment, SUSPECTS[suspect])[1]
        # One scale for all suspects, so that the bars of the healthy heads never change.
        everything = [value for bug in SUSPECTS.values() for value in measure(experiment, bug)[1]]
        limits = (min(everything), max(everything))
        return {"labels": labels, "healthy": healthy, "measured": measured, "limits": limits}

    def draw(self, drawing, state):
        suspect = f"suspect {state['suspect']}"
        sides = ((10, "healthy heads", "healthy", "output"), (440, suspect, "measured", "head 2"))
        for left, name, values, colour in sides:
            drawing.text(left, 20, name, 16, bold=True)
            drawing.bars((left, 36, 400, 244), state[values], state["labels"], colour, state["limits"])

    def words(self, state):
        lines = [EXPERIMENTS[state["experiment"]]]
        for name, side in (("Healthy heads", "healthy"), (f"Suspect {state['suspect']}", "measured")):
            pairs = zip(state["labels"], map(number, state[side]), strict=True)
            lines.append(f"{name}: {', '.join(map(' → '.join, pairs))}.")
        return lines


def attend(x, projections, mask=None, bug="healthy", ones=False):
    """Return the outputs ``(n, h·d_k)`` and scores ``(h, n, n)`` of two heads, with one bug or none."""
    features = [x @ w for w in projections]  # (n, d_model) @ (d_model, h·d_k) -> (n, h·d_k)
    if bug == "heads":  # without the transpose
        q, k, v = (part.reshape(HEADS, len(x), -1) for part in features)
    else:
        q, k, v = (split_heads(part, HEADS) for part in features)  # -> (h, n, d_k)
    v = torch.ones_like(v) if ones else v
    root = math.sqrt(q.shape[-1])
    scores = q @ k.transpose(-2, -1) * (root if bug == "scale" else 1 / root)
    if mask is not None and bug == "mask":
        mask = mask | mask.roll(1, dims=-1)  # each word sees one too many
    masked = scores if mask is None else mask_scores(scores, mask)
    weights = masked.softmax(dim=-2) if bug == "softmax" else attention_weights(masked)
    mixed = weights @ (k if bug == "values" else v)
    return mixed.reshape(len(x), -1) if bug == "heads" else merge_heads(mixed), scores


@functools.cache
def measure(experiment, bug):
    """Return labels and one number for each."""
    tokens, x = sentence_vectors("the old cat eats fresh fish")
    projections, mask = _projections(x.shape[-1], d_k=8), causal_mask(len(x))
    if experiment == "increase d_k":
        many = fixed_matrix("many words", 64, 64)
        spreads = [attend(many, _projections(64, d_k), bug=bug)[1].std().item() for d_k in SIZES]
        return [f"d_k = {d_k}" for d_k in SIZES], spreads
    if experiment == "let every word give 1":
        return tokens, attend(x, projections, bug=bug, ones=True)[0].mean(dim=-1).tolist()
    if experiment == "change the last word":
        changed = torch.cat([x[:-1], x[-1:].flip(-1)])
        pair = attend(x, projections, mask, bug)[0], attend(changed, projections, mask, bug)[0]
    elif experiment == "shuffle the words":
        order = torch.tensor([3, 5, 0, 4, 1, 2])
        pair = attend(x, projections, bug=bug)[0][order], attend(x[order], projections, bug=bug)[0]
        tokens = [tokens[position] for position in order]
    else:
        heads = [split_heads(x @ w, HEADS) for w in projections]
        theirs = torch.nn.functional.scaled_dot_product_attention(*heads, attn_mask=mask)
        pair = merge_heads(theirs), attend(x, projections, mask, bug)[0]
    distances = (pair[0] - pair[1]).abs().amax(dim=-1)
    return tokens, distances.masked_fill(distances < 1e-4, 0.0).tolist()  # rounding is no finding


def tells_apart(experiment, bug, other):
    """Say whether an eye sees two bugs differ: in which outputs move at all, else in a number by 0.1."""
    pairs = list(zip(measure(experiment, bug)[1], measure(experiment, other)[1], strict=True))
    if experiment == "change the last word":
        return any((first == 0) != (second == 0) for first, second in pairs)
    return any(abs(first - second) > 0.1 for first, second in pairs)


def _projections(d_model, d_k):
    return [fixed_matrix(f"line-up {name}", d_model, HEADS * d_k) / math.sqrt(d_model) for name in "qkv"]

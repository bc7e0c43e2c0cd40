"""Who may look at whom, and what that does to the weights of a head, for notebook 05."""

import ipywidgets as widgets
import torch

from mha_helpers import causal_mask, scaled_dot_product_attention, sliding_window_mask
from mha_helpers.panel import Explorer, IndexMenu, Panel
from mha_helpers.sentence import HAND_MADE_NAMES, hand_made_heads, sentence_vectors, tokenize
from mha_helpers.style import head_label, number

MASKS = ("none", "causal", "padding", "causal and padding", "sliding window", "your own")
D_K, WINDOW, MOST_TOKENS = 16, 1, 24
MASK = len(HAND_MADE_NAMES)  # which of the maps is the mask; the others are the heads


def mask_explorer():
    """Return a ``Panel`` in which a click on a cell of the mask allows or forbids it. Used in notebook 05.

    ``state()`` holds, for n tokens: mask ``(n, n)``, True = may attend; before and weights ``(n, n)``: those
    of the chosen head without and with the mask.

    >>> panel = mask_explorer()
    >>> panel.click(MASK, 0, 0)  # the first word may no longer look at itself, the only word it saw
    >>> panel.state()["weights"][0].sum()
    tensor(0.)
    """
    return Panel(explorer=MaskExplorer())


class MaskExplorer(Explorer):
    title, asks = "Choose a mask, or make your own cell by cell", "a click allows or forbids"
    height, more = 334, ("query", "key", "allowed")
    shown = torch.zeros(0, 0, dtype=torch.bool)  # the mask; each click changes one cell of it
    box_is_about = None  # cell, tokens and name of the mask when the box was last set

    def controls(self):
        return {
            "sentence": widgets.Text("the old cat eats the fish [pad] [pad]"),
            "mask": widgets.Dropdown(options=MASKS, value="causal"),
            "head": IndexMenu("head", start=2, names=HAND_MADE_NAMES),
            "query": IndexMenu("query", start=3),
            "key": IndexMenu("key", start=4),
            "allowed": widgets.Checkbox(False, description="this query may attend to this key", indent=False),
        }

    def adjust(self, controls, values):
        """Fill the menus; take the mask of the chosen name, with the box's cell as the learner set it."""
        for name in ("query", "key"):
            controls[name].offer(tokenize(values["sentence"]))
        tokens, _ = sentence_vectors(values["sentence"], MOST_TOKENS)
        cell, box = (controls["query"].value, controls["key"].value), controls["allowed"]
        mask = named_mask(values["mask"], tokens, self.shown)
        if self.box_is_about == (cell, tokens, values["mask"]) and box.value != mask[cell]:
            mask = mask.clone()  # nothing but the box has changed
            mask[cell] = box.value
            controls["mask"].value = "your own"
        box.value = bool(mask[cell])
        self.shown, self.box_is_about = mask, (cell, tokens, controls["mask"].value)

    def click(self, values, heatmap, row, column):
        if heatmap != MASK:
            return {"query": row, "key": column}
        self.box_is_about = ((row, column), *self.box_is_about[1:])
        return {"query": row, "key": column, "allowed": not self.shown[row, column]}

    def compute(self, sentence, mask, head, query, key, allowed):
        tokens, x = sentence_vectors(sentence)
        q, k, v = (x @ w[head] for w in hand_made_heads(MASK, D_K)[:3])
        before, weights = (scaled_dot_product_attention(q, k, v, shown)[1] for shown in (None, self.shown))
        return {"tokens": tokens, "name": mask, "mask": self.shown, "before": before, "weights": weights}

    def draw(self, drawing, state):
        tokens, mask, head = state["tokens"], state["mask"], state["head"]
        shared = {"rows": tokens, "columns": tokens, "chosen": (state["query"], state["key"]), "mask": mask}
        title = f"mask: {state['name']}"
        drawing.heatmap((0, 0, 420, drawing.height), mask, kind="mask", title=title, index=MASK, **shared)
        title = head_label(head, HAND_MADE_NAMES)
        drawing.heatmap((440, 0, 420, drawing.height), state["weights"], title=title, index=head, **shared)

    def words(self, state):
        tokens, mask, query = state["tokens"], state["mask"], state["query"]
        later = int(mask.triu(1).any(dim=-1).sum())
        words_may = {0: "No word may", 1: "1 word may"}.get(later, f"{later} words may")
        leak = ": a leak, if the model writes word after word" if later else ""
        return [
            f"“{tokens[query]}” may look at {int(mask[query].sum())} of {len(tokens)} words.",
            _moved(tokens, mask[query], state["before"][query], state["weights"][query]),
            f"{words_may} look at a later word{leak}.",
        ]


def _moved(tokens, allowed, before, after):
    """Say where the weight of one row went that the mask takes from hidden words."""
    lost, gains = before[~allowed].sum(), after - before
    most = int((gains > gains.max() - 1e-5).int().argmax())  # the first of equal ones, whatever the rounding
    if not allowed.any():
        return "It has no key left. Computed naively its row becomes NaN; here all weights are 0."
    if allowed.all():
        return "Nothing is hidden from it."
    if lost < 0.005:
        return "What is hidden from it had hardly any weight."
    share, old, new = (number(value, trim=False) for value in (lost, before[most], after[most]))
    return f"The hidden words had {share} of its weight. “{tokens[most]}” gained most: {old} → {new}."


def named_mask(name, tokens, own):
    """Return the mask of this name; one's own, as long as it fits, is the one that was shown."""
    n = len(tokens)
    real = torch.tensor([token != "[pad]" for token in tokens]).expand(n, n)  # (n) -> (n, n): by key
    return {
        "none": torch.ones(n, n, dtype=torch.bool), "causal": causal_mask(n), "padding": real,
        "causal and padding": causal_mask(n) & real, "sliding window": sliding_window_mask(n, WINDOW),
        "your own": own if own.shape == (n, n) else causal_mask(n),
    }[name]  # fmt: skip

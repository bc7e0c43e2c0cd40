"""Who may look at whom, and what that does to the weights of a head, for notebook 05."""

import ipywidgets as widgets
import torch

from mha_helpers.attention import attention_scores, attention_weights, mask_scores, scale_scores
from mha_helpers.examples import HAND_MADE_NAMES, hand_made_heads, sentence_vectors
from mha_helpers.masks import causal_mask, sliding_window_mask
from mha_helpers.panel import WIDTH, Panel, offer, place_menu
from mha_helpers.style import head_label, number
from mha_helpers.svg import Drawing

SENTENCE = "the old cat eats the fish [pad] [pad]"
MASKS = ("none", "causal", "padding", "causal and padding", "sliding window", "your own")
D_K, WINDOW, MOST_TOKENS = 16, 1, 24
MASK = len(HAND_MADE_NAMES)  # the "head" whose cells are those of the mask


def mask_explorer():
    """Return a ``Panel`` in which a click on a cell of the mask allows or forbids it. Used in notebook 05.

    ``state()`` holds, for n tokens: mask ``(n, n)``, True = may attend; before and weights ``(n, n)``: those
    of the chosen head without and with the mask; chosen: query and key.

    >>> panel = mask_explorer()
    >>> panel.click(MASK, 0, 0)  # the first word may no longer look at itself, the only word it saw
    >>> panel.state()["weights"][0].sum()
    tensor(0.)
    """
    shown = {"mask": torch.zeros(0, 0), "where": None}  # also what clicks made of a mask

    def adjust(controls, values):
        tokens, _ = sentence_vectors(values["sentence"])
        for name, options in (("head", HAND_MADE_NAMES), ("query", tokens), ("key", tokens)):
            offer(controls[name], options)
        cell, box = (controls["query"].value, controls["key"].value), controls["allowed"]
        mask = named_mask(values["mask"], tokens, shown["mask"])
        if shown["where"] == (cell, tokens, values["mask"]) and box.value != mask[cell]:
            mask = mask.clone()  # nothing but the box has changed
            mask[cell] = box.value
            controls["mask"].value = "your own"
        box.value = bool(mask[cell])
        shown.update(mask=mask, where=(cell, tokens, controls["mask"].value))

    def click(values, head, row, column):
        if head != MASK:
            return {"query": row, "key": column}
        shown["where"] = ((row, column), *shown["where"][1:])
        return {"query": row, "key": column, "allowed": not shown["mask"][row, column]}

    def compute(sentence, mask, head, query, key, allowed):
        return masked_weights(sentence, shown["mask"], mask, head, query, key)

    controls = {
        "sentence": widgets.Text(SENTENCE),
        "mask": widgets.Dropdown(options=MASKS, value="causal"),
        "head": place_menu("head", start=2),
    }
    more = {
        "query": place_menu("query", start=3),
        "key": place_menu("key", start=4),
        "allowed": widgets.Checkbox(False, description="this query may attend to this key", indent=False),
    }
    title = "Click a cell of the mask: you allow it, or forbid it"
    return Panel(title, controls, compute, draw, words, more, adjust=adjust, click=click)


def named_mask(name, tokens, own):
    """Return the mask of this name; one's own, as long as it fits, is the one that was shown."""
    n = len(tokens)
    if n > MOST_TOKENS:
        raise ValueError(f"The sentence has {n} words, and this picture holds {MOST_TOKENS}: shorten it.")
    real = torch.tensor([token != "[pad]" for token in tokens]).expand(n, n)  # (n) -> (n, n): by key
    return {
        "none": torch.ones(n, n, dtype=torch.bool), "causal": causal_mask(n), "padding": real,
        "causal and padding": causal_mask(n) & real, "sliding window": sliding_window_mask(n, WINDOW),
        "your own": own if own.shape == (n, n) else causal_mask(n),
    }[name]  # fmt: skip


def masked_weights(sentence, mask, name, head, query, key):
    tokens, x = sentence_vectors(sentence)
    w_q, w_k, _, names = hand_made_heads(MASK, D_K)
    scaled = scale_scores(attention_scores(x @ w_q[head], x @ w_k[head]), D_K)
    return {
        "tokens": tokens, "name": name, "mask": mask, "head": head, "names": names, "chosen": (query, key),
        "before": attention_weights(scaled), "weights": attention_weights(mask_scores(scaled, mask)),
    }  # fmt: skip


def draw(state):
    drawing, tokens, mask, head = Drawing(WIDTH, 400), state["tokens"], state["mask"], state["head"]
    look = {"chosen": state["chosen"], "mask": mask}
    title = f"mask: {state['name']}"
    drawing.heatmap((0, 0, 420, 400), mask, tokens, tokens, kind="mask", title=title, head=MASK, **look)
    title = head_label(head, state["names"])
    drawing.heatmap((440, 0, 420, 400), state["weights"], tokens, tokens, title=title, head=head, **look)
    return drawing


def words(state):
    tokens, mask, (query, _) = state["tokens"], state["mask"], state["chosen"]
    row, before, allowed = state["weights"][query], state["before"][query], mask[query]
    lost, most = before[~allowed].sum(), int((row - before).argmax())
    if not allowed.any():
        moved = "It has no key left. Computed naively its row becomes NaN; here all weights are 0."
    elif lost < 0.005:
        moved = "What the mask hides had no weight in its row."
    else:
        share, old, new = (number(value, trim=False) for value in (lost, before[most], row[most]))
        moved = f"The hidden words had {share} of its weight. “{tokens[most]}” gained most: {old} → {new}."
    later = int(mask.triu(1).any(dim=-1).sum())
    return [
        f"“{tokens[query]}” may look at {int(allowed.sum())} of {len(tokens)} words.",
        moved,
        f"{later or 'No'} word{'s' * (later > 1)} may look at a later word{': a leak' * (later > 0)}.",
    ]

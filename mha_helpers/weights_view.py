"""attention_view: the live heatmaps of the course for the weights of any model."""

from collections.abc import Mapping

import ipywidgets as widgets
import torch

from mha_helpers.panel import Explorer, IndexMenu, Panel
from mha_helpers.sentence import tokenize
from mha_helpers.style import head_label, number, short

MOST_TOKENS = 65  # queries or keys, as of 8 × 8 patches and [CLS]: cells of more are too small to point at
MANY = 25  # from here on cells are wider than high
NEAR = 0.02  # half precision rounds a row by so much
EAGER = 'Load the model with attn_implementation="eager", and call it with output_attentions=True.'
UNFIT = {  # what to do with weights that do not fit: the first that is true of them is said
    f"There are none. {EAGER}": lambda weights: not weights.numel(),
    "Show one sentence: weights[:, :1], or layer[:1] of each layer.": lambda weights: weights.dim() == 5,
    "": lambda weights: weights.dim() != 4,
    "Show a part: weights[..., :65, :65].": lambda weights: max(weights.shape[2:]) > MOST_TOKENS,
    "Scores become weights by torch.softmax(scores, dim=-1).": lambda weights: weights.min() < 0,
}


def attention_view(weights, queries=None, keys=None, names=None):
    """Return a ``Panel`` with the attention weights of any model: point at a cell, click, choose a head.

    ``weights`` is a tensor, an array, lists, what ``record_attention`` gathers, or the tuple that Hugging
    Face calls ``attentions``. ``queries`` are the tokens that ask, numbered without names; ``keys`` those
    that answer, where they are others (cross-attention). ``names`` say what the heads do. Of several layers
    an overview comes first, ``layer`` 0. ``state()`` holds ``chosen`` and the weights of the layer shown,
    ``(h, n_q, n_k)``; in the overview the largest weight of a row, on average, ``(layers, h)``.

    Shape: weights ``(h, n_q, n_k)`` or ``(layers, h, n_q, n_k)``, with an axis for one sentence as well:
    ``(1, h, n_q, n_k)`` or ``(layers, 1, h, n_q, n_k)``. Used in notebook deeper/09_in_your_own_model.

    Raises ``ValueError`` where shapes and tokens do not fit, for more than 65 queries or keys, and for
    negative numbers. Rows that do not add up to 1 are drawn; the words under the picture name them.

    >>> panel = attention_view([[[0.9, 0.1], [0.2, 0.8]]], ["cat", "eats"])
    >>> print(panel.description())
    Head 1. “eats” looks most at “eats” (0.80).
    “eats” asks, “eats” answers: weight 0.80.
    """
    weights = getattr(weights, "attentions", weights)  # all that a model of Hugging Face returns
    layers = list(weights) if isinstance(weights, Mapping) else None
    weights, note = _read(weights)  # -> (layers, h, n_q, n_k)
    queries, keys = _as_tokens(queries, keys, *weights.shape[2:])
    layers = layers or [str(i + 1) for i in range(len(weights))]
    return Panel(explorer=AttentionView(weights, queries, keys, names, layers, note))


class AttentionView(Explorer):
    """Weights ``(layers, h, n_q, n_k)``, their tokens, what the heads do, and the names of the layers."""

    title, asks, height = "Attention weights", "click a cell, or a small heatmap", 334
    more = ("query", "key", "colour")

    def __init__(self, weights, queries, keys, names, layers, note):
        self.weights, self.queries, self.keys, self.names = weights, queries, keys, names
        self.layers, self.note = layers, note
        many = max(len(queries), len(keys)) > MANY
        self.large = {"stretch": 3, "most_cells": MOST_TOKENS**2} if many else {}

    def controls(self):
        layers, heads, *_ = self.weights.shape
        controls = {}
        if layers > 1:
            controls["layer"] = IndexMenu("layer", names=["overview", *self.layers], numbered=False)
        if heads > 1:
            labels = [short(head_label(head, self.names).removeprefix("head "), 24) for head in range(heads)]
            controls["head"] = IndexMenu("head", names=labels, numbered=False)
        return controls | {
            "query": IndexMenu("query", len(self.queries) - 1, self.queries),
            "key": IndexMenu("key", -1, self.keys),
            "colour": widgets.Dropdown(options=["0 to 1", "0 to the largest weight shown"]),
        }

    def compute(self, query, key, colour, layer=1, head=0):
        if layer == 0:
            weights = self.weights.nan_to_num().amax(dim=-1).mean(dim=-1)  # -> (layers, h)
            chosen = divmod(int(weights.argmax()), weights.shape[1])
        else:
            weights = self.weights[layer - 1]
            chosen = (head, query, _strongest(weights[head, query]) if key < 0 else key)
        limit = 1.0 if colour == "0 to 1" else float(weights.nan_to_num().max())
        return {"weights": weights, "chosen": chosen, "limit": limit or 1.0}

    def click(self, values, heatmap, row, column):
        if values.get("layer") == 0:
            return {"layer": row + 1} | ({"head": column} if "head" in values else {})
        return super().click(values, heatmap, row, column)

    def draw(self, drawing, state):
        box, limit = (0, 0, drawing.width, drawing.height), state["limit"]
        if state.get("layer") == 0:
            heads = [str(head + 1) for head in range(state["weights"].shape[1])]
            style = {"kind": "scores", "axes": ("layer", "head"), "limit": limit}
            drawing.heatmap(box, state["weights"], self.layers, heads, state["chosen"], **style)
        else:
            tokens = {"tokens": self.queries, "keys": self.keys, "names": self.names}
            options = {"chosen": state["chosen"], "limit": limit, "large": self.large}
            drawing.head_heatmaps(box, state["weights"], **tokens, **options)

    def words(self, state):
        deepest = f" The deepest colour is {number(state['limit'], 3, trim=False)}."
        colour = deepest if state["limit"] < 1 else ""
        if state.get("layer") == 0:
            return self._words_of_the_overview(state, colour)
        head, query, key = state["chosen"]
        row, name = state["weights"][head, query], head_label(head, self.names)
        name = f"Layer {self.layers[state['layer'] - 1]}, {name}" if "layer" in state else name.capitalize()
        tokens = (self.queries[query], self.keys[key], self.keys[_strongest(row)])
        asks, answers, most = (f"“{short(token, 20)}”" for token in tokens)
        return [
            f"{name}. {asks} looks most at {most} ({number(row[_strongest(row)], trim=False)}).",
            f"{asks} asks, {answers} answers: weight {number(row[key], trim=False)}.{colour}",
            *_oddities(state["weights"], self.queries),
        ]

    def _words_of_the_overview(self, state, colour):
        layer, head = state["chosen"]
        sharpest = f"layer {self.layers[layer]}, head {head + 1} ({number(state['weights'][layer, head])})"
        return [
            "Each cell is a head: the largest weight of its rows, on average; 1 is all weight on one token.",
            f"The most has {sharpest}. Click a cell to see its head.{colour}",
            *([self.note] if self.note else []),
        ]


def _strongest(row):
    return int(row.nan_to_num().argmax())


def _read(weights):
    """Return weights of any kind as a tensor (layers, h, n_q, n_k), and a note where that may be misread."""
    layers = list(weights.values()) if isinstance(weights, Mapping) else weights
    are_layers = isinstance(layers, (tuple, list)) and any(isinstance(part, torch.Tensor) for part in layers)
    wanted = "weights must be numbers from 0 up, (h, n_q, n_k) or (layers, h, n_q, n_k), of one sentence"
    try:
        weights = torch.stack([*layers]) if are_layers else torch.as_tensor(layers)
        weights = weights.detach().float().cpu().to_dense()
    except (TypeError, ValueError, RuntimeError) as error:
        raise ValueError(f"{wanted}: {error}. {EAGER if 'None' in str(error) else ''}") from None
    shape, note = tuple(weights.shape), ""
    if len(shape) == 4 and shape[0] > 1 and not are_layers:
        note = "The first of four axes is read as layers. Of a batch, show one sentence: weights[:1]."
    if len(shape) == 5 and shape[1] == 1:
        weights = weights[:, 0]  # of one sentence
    if len(shape) in (2, 3):
        weights = weights.view(1, -1, *shape[-2:])
    for advice, is_true in UNFIT.items():
        if is_true(weights):
            fits = f"of at most {MOST_TOKENS} queries and keys"
            raise ValueError(f"{wanted}, {fits}; got {shape}. {advice}".rstrip())
    return weights, note


def _as_tokens(queries, keys, n_q, n_k):
    """Return the tokens of queries and keys as two lists of strings, one for each row and each column."""
    if queries is None:
        queries, keys = range(1, n_q + 1), range(1, n_k + 1) if keys is None else keys
    queries, keys = map(_names, (queries, queries if keys is None else keys))
    if (len(queries), len(keys)) != (n_q, n_k):
        sizes = f"{n_q} queries (rows) and {n_k} keys (columns), and you named {len(queries)} and {len(keys)}"
        advice = "attention_view(weights, queries, keys). A tokenizer cuts words, and adds [CLS]"
        raise ValueError(f"weights have {sizes}: {advice}.")
    return queries, keys


def _names(tokens):
    if isinstance(tokens, str):
        return tokenize(tokens)
    return [str(token) for token in (tokens.flatten().tolist() if hasattr(tokens, "tolist") else tokens)]


def _oddities(weights, queries):
    """Return what is odd about weights (h, n_q, n_k), in at most one sentence."""
    sums = weights.sum(dim=-1)  # (h, n_q)
    empty = int(sums.isnan().sum())
    if empty:
        return [f"{empty} of {sums.numel()} rows are not a number. Did a mask leave them without any key?"]
    odd = (sums - 1).abs() > NEAR
    if not odd.any():
        return []
    if ((weights.sum(dim=-2) - 1).abs() <= NEAR).all():
        return ["The columns add up to 1, not the rows. Was softmax taken over the queries?"]
    head, row = divmod(int((sums - 1).abs().argmax()), len(queries))
    worst = f"“{short(queries[row], 20)}” in head {head + 1} to {number(sums[head, row])}"
    is_more = sums.max() > 1 + NEAR
    cause = "Is dropout on (call .eval() first), or are they scaled?" if is_more else "Are keys left out?"
    return [f"{int(odd.sum())} of {odd.numel()} rows do not add up to 1: {worst}. {cause}"]

"""attention_view: the live heatmaps of the course for the weights of any model."""

import ipywidgets as widgets
import torch

from mha_helpers.panel import Explorer, IndexMenu, Panel
from mha_helpers.sentence import tokenize
from mha_helpers.style import head_label, number, short
from mha_helpers.svg import MOST_SMALL

MOST_TOKENS = 64  # queries or keys: the cells of more would be too small to point at
NEAR = 0.02  # half precision rounds a row by so much


def attention_view(weights, queries, keys=None, names=None):
    """Return a ``Panel`` with the attention weights of any model: point at a cell, click, choose a head.

    ``weights`` is a tensor, an array, lists, or the tuple that Hugging Face calls ``attentions``. ``queries``
    are the tokens that ask; ``keys`` those that answer, where they are others (cross-attention). ``names``
    say what the heads do. ``state()`` holds ``chosen`` and the weights of the layer shown, ``(h, n_q, n_k)``.

    Shape: weights ``(h, n_q, n_k)`` or ``(layers, h, n_q, n_k)``, with an axis for one sentence as well:
    ``(1, h, n_q, n_k)`` or ``(layers, 1, h, n_q, n_k)``. Used in notebook deeper/09_in_your_own_model.

    Raises ``ValueError`` where shapes and tokens do not fit, for more than 64 queries or keys, and for
    negative numbers. Rows that do not add up to 1 are drawn; the words under the picture name them.

    >>> panel = attention_view([[[0.9, 0.1], [0.2, 0.8]]], ["cat", "eats"])
    >>> print(panel.description())
    Head 1. “eats” looks most at “eats” (0.80).
    “eats” asks, “eats” answers: weight 0.80.
    """
    weights = _as_layers(weights)  # -> (layers, h, n_q, n_k)
    queries, keys = _as_tokens(queries, keys, *weights.shape[2:])
    return Panel(explorer=AttentionView(weights, queries, keys, names))


class AttentionView(Explorer):
    """Weights ``(layers, h, n_q, n_k)``, with as many tokens, and what the heads do."""

    title, asks, height = "Attention weights", "click a cell, or a small heatmap", 334
    more = ("query", "key")

    def __init__(self, weights, queries, keys, names):
        self.weights, self.queries, self.keys, self.names = weights, queries, keys, names

    def controls(self):
        layers, heads, *_ = self.weights.shape
        controls = {"layer": widgets.IntSlider(1, 1, layers)} if layers > 1 else {}
        if heads > 1:
            labels = [head_label(head, self.names).removeprefix("head ") for head in range(heads)]
            controls["head"] = IndexMenu("head")
            controls["head"].offer([short(label, 24) for label in labels], numbered=False)
        last = len(self.queries) - 1
        return controls | {
            "query": IndexMenu("query", last, self.queries),
            "key": IndexMenu("key", -1, self.keys),
        }

    def compute(self, query, key, layer=1, head=0):
        shown = self.weights[layer - 1]
        key = _strongest(shown[head, query]) if key < 0 else key
        return {"weights": shown, "chosen": (head, query, key)}

    def draw(self, drawing, state):
        box = (0, 0, drawing.width, drawing.height)
        drawing.head_heatmaps(
            box, state["weights"], self.queries, self.names, state["chosen"], keys=self.keys
        )

    def words(self, state):
        head, query, key = state["chosen"]
        row, name = state["weights"][head, query], head_label(head, self.names)
        name = f"Layer {state['layer']}, {name}" if "layer" in state else name.capitalize()
        tokens = (self.queries[query], self.keys[key], self.keys[_strongest(row)])
        asks, answers, most = (f"“{short(token, 20)}”" for token in tokens)
        lines = [
            f"{name}. {asks} looks most at {most} ({number(row[_strongest(row)], trim=False)}).",
            f"{asks} asks, {answers} answers: weight {number(row[key], trim=False)}.",
        ]
        heads = len(state["weights"])
        if heads > MOST_SMALL:
            lines[1] += f" {MOST_SMALL} of {heads} heads are shown; the menu has them all."
        return lines + _oddities(state["weights"], self.queries)


def _strongest(row):
    return int(row.nan_to_num().argmax())


def _as_layers(weights):
    """Return weights of any kind as a tensor (layers, h, n_q, n_k) of float32."""
    try:
        if isinstance(weights, (list, tuple)) and all(isinstance(part, torch.Tensor) for part in weights):
            weights = torch.stack(list(weights))  # one tensor for each layer
        weights = torch.as_tensor(weights).detach().float().cpu()
    except (TypeError, ValueError, RuntimeError) as error:
        raise ValueError(f"weights must be numbers, as many in every row, head and layer: {error}") from None
    shape = tuple(weights.shape)
    if len(shape) == 5 and shape[1] == 1:
        weights = weights[:, 0]  # of one sentence
    if len(shape) in (2, 3):
        weights = weights.view(1, -1, *shape[-2:])
    if weights.dim() != 4 or not weights.numel():
        fitting = "(h, n_q, n_k) or (layers, h, n_q, n_k)"
        raise ValueError(f"weights must have shape {fitting}, of one sentence; got {shape}.")
    if max(shape[-2:]) > MOST_TOKENS:
        part = f"weights[..., :{MOST_TOKENS}, :{MOST_TOKENS}]"
        raise ValueError(
            f"{MOST_TOKENS} queries and keys fit in the picture; got {shape}. Show a part: {part}."
        )
    if weights.min() < 0:
        advice = "Scores become weights by torch.softmax(scores, dim=-1)."
        raise ValueError(f"weights are never negative, and one of these is {number(weights.min())}. {advice}")
    return weights


def _as_tokens(queries, keys, n_q, n_k):
    """Return the tokens of queries and keys as two lists of strings, one for each row and each column."""
    if keys is None and n_q != n_k:
        both = "attention_view(weights, queries, keys)"
        raise ValueError(f"{n_q} queries look at {n_k} keys here, so name the tokens of both: {both}.")
    queries, keys = (
        tokenize(tokens) if isinstance(tokens, str) else [str(token) for token in tokens]
        for tokens in (queries, queries if keys is None else keys)
    )
    if (len(queries), len(keys)) == (n_k, n_q) != (n_q, n_k):
        sizes = f"each row is a query ({n_q}), each column a key ({n_k})"
        raise ValueError(f"{sizes}: you named them the other way round.")
    for name, tokens, size in (("queries", queries, n_q), ("keys", keys, n_k)):
        if len(tokens) != size:
            advice = "A tokenizer cuts words, and adds tokens such as [CLS]: name its tokens."
            raise ValueError(f"weights have {size} {name}, and you named {len(tokens)}. {advice}")
    return queries, keys


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
    cause = "Is dropout on? Then call .eval() first." if sums.max() > 1 + NEAR else "Are keys left out?"
    return [f"{int(odd.sum())} of {odd.numel()} rows do not add up to 1: {worst}. {cause}"]

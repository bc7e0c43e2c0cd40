"""The whole of multi-head attention on the learner's own sentence, for notebooks 00 and 09."""

import ipywidgets as widgets

from mha_helpers.attention import attention_scores, scale_scores, scaled_dot_product_attention
from mha_helpers.masks import causal_mask, sliding_window_mask
from mha_helpers.panel import Explorer, IndexMenu, Panel
from mha_helpers.sentence import LARGEST_D_K, hand_made_heads, sentence_vectors, tokenize
from mha_helpers.style import head_label, number

SENTENCE = "the old cat eats the fish because it is hungry"
MASKS = {"none": lambda n: None, "causal": causal_mask, "sliding window": lambda n: sliding_window_mask(n, 2)}
ALL_HEADS, STEPS = "all heads", "one head, step by step"


def attention_explorer():
    """Return a ``Panel`` with multi-head attention on a sentence of your own. Used in notebooks 00 and 09.

    ``state()`` holds, for h heads and n tokens: q, k, v and heads ``(h, n, d_k)``; scores, scaled and weights
    ``(h, n, n)``; mask ``(n, n)`` or None.

    >>> panel = attention_explorer()
    >>> panel.set(sentence="cat eats fish", heads=2, d_k=16)
    >>> panel.state()["weights"].shape
    torch.Size([2, 3, 3])
    """
    return Panel(explorer=AttentionExplorer())


class AttentionExplorer(Explorer):
    title, height = "Multi-head attention on your sentence", 334
    more = ("head", "query", "key")

    def controls(self):
        return {
            "sentence": widgets.Text(SENTENCE, layout={"width": "560px"}),
            "show": widgets.Dropdown(options=[ALL_HEADS, STEPS]),
            "mask": widgets.Dropdown(options=list(MASKS), layout={"width": "176px"}),
            "heads": widgets.IntSlider(4, 1, 16),
            "d_k": widgets.IntSlider(16, 1, LARGEST_D_K),
            "head": IndexMenu("head"),
            "query": IndexMenu("query", start=3),
            "key": IndexMenu("key", start=-1),
        }

    def adjust(self, controls, values):
        for name in ("query", "key"):
            controls[name].offer(tokenize(values["sentence"]))
        controls["head"].offer(hand_made_heads(values["heads"], d_k=1)[3])

    def compute(self, sentence, show, mask, heads, d_k, head, query, key):
        tokens, x = sentence_vectors(sentence, most=64)
        *matrices, names = hand_made_heads(heads, d_k)
        q, k, v = (x @ w for w in matrices)  # (n, d_model) @ (h, d_model, d_k) -> (h, n, d_k)
        scores = attention_scores(q, k)
        mask = MASKS[mask](len(tokens))
        heads, weights = scaled_dot_product_attention(q, k, v, mask)
        key = _strongest(weights[head, query], query) if key < 0 else key
        return {
            "tokens": tokens, "names": names, "q": q, "k": k, "v": v, "scores": scores,
            "scaled": scale_scores(scores, d_k), "mask": mask, "weights": weights, "heads": heads,
            "chosen": (head, query, key),
        }  # fmt: skip

    def draw(self, drawing, state):
        mask, (head, *cell) = state["mask"], state["chosen"]
        tokens, width = state["tokens"], drawing.width / 3
        if state["show"] == ALL_HEADS:
            box = (0, 0, drawing.width, drawing.height)
            drawing.head_heatmaps(box, state["weights"], tokens, state["names"], state["chosen"], mask)
            return
        # Scores before and after the division have one scale, so that it is seen.
        scores = {"kind": "scores", "limit": float(state["scores"][head].abs().max()), "decimals": 1}
        columns = (
            ("scores", "score", scores),
            ("scaled", "scaled" if mask is None else "scaled, masked", {**scores, "mask": mask}),
            ("weights", "weight", {"mask": mask}),
        )
        for i, (name, title, options) in enumerate(columns):
            box = (i * width, 0, width - 10, drawing.height)
            drawing.heatmap(box, state[name][head], tokens, tokens, cell, title=title, index=head, **options)

    def words(self, state):
        tokens, chosen = state["tokens"], state["chosen"]
        head, row, column = chosen
        weights, name = state["weights"][head, row], head_label(head, state["names"]).capitalize()
        score, scaled, weight = (number(state[step][chosen]) for step in ("scores", "scaled", "weights"))
        steps = f"score {score} → ÷ √{state['d_k']} → {scaled} → softmax over the row → weight {weight}"
        if state["mask"] is not None and not state["mask"][row, column]:
            steps = "the mask forbids this cell → weight 0"
        largest, alike = number(weights.max()), int(weights.isclose(weights.max()).sum())
        where = f"most at “{tokens[weights.argmax()]}” ({largest})"
        where = f"equally at {alike} words ({largest} each)" if alike > 1 else where
        asks, answers = tokens[row], tokens[column]
        return [f"{name}. “{asks}” looks {where}.", f"“{asks}” asks, “{answers}” answers: {steps}."]


def _strongest(weights, query):
    """Return the key with the largest weight; of several alike, the one that stands nearest to the query."""
    alike = weights.isclose(weights.max()).nonzero().flatten().tolist()
    return min(alike, key=lambda position: abs(position - query))

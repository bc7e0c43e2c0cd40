"""The scores of one head on the learner's own sentence, and what one of them adds up, for notebook 03."""

import math

import ipywidgets as widgets

from mha_helpers.attention import attention_scores
from mha_helpers.panel import Explorer, IndexMenu, Panel
from mha_helpers.sentence import HAND_MADE_NAMES, MATCH, hand_made_heads, sentence_vectors, tokenize
from mha_helpers.style import head_label, number, short

QUERY, KEY, PRODUCTS = 528, 588, 740  # pixels: where query and key end; the middle of their products
TOP, HEIGHT = 48, 256  # of the numbers of all three


def scores_explorer():
    """Return a ``Panel`` with the scores of one head on a sentence of your own. Used in notebook 03.

    ``state()`` holds, for n tokens: q and k ``(n, d_k)``, scores ``(n, n)``, products ``(d_k)`` of the chosen
    query and key, and chosen, their row and column.

    >>> panel = scores_explorer()
    >>> panel.set(sentence="cat eats fish", d_k=4)
    >>> panel.state()["scores"].shape, panel.state()["products"].shape
    (torch.Size([3, 3]), torch.Size([4]))
    """
    return Panel(explorer=ScoresExplorer())


class ScoresExplorer(Explorer):
    title, height = "Scores on your sentence, and what each of them adds up", 334
    more = ("query", "key")

    def controls(self):
        return {
            "sentence": widgets.Text("the cat sat on the mat"),
            "head": IndexMenu("head", names=HAND_MADE_NAMES),
            "d_k": widgets.IntSlider(16, 1, 16),
            "query": IndexMenu("query", start=2),
            "key": IndexMenu("key", start=-1),
        }

    def adjust(self, controls, values):
        for name in ("query", "key"):
            controls[name].offer(tokenize(values["sentence"]))

    def compute(self, sentence, head, d_k, query, key):
        tokens, x = sentence_vectors(sentence, most=40)
        w_q, w_k, _, _ = hand_made_heads(len(HAND_MADE_NAMES), d_k)
        q, k = x @ w_q[head], x @ w_k[head]  # (n, d_model) @ (d_model, d_k) -> (n, d_k)
        scores = attention_scores(q, k)
        key = int(scores[query].argmax()) if key < 0 else key
        chosen, products = (query, key), q[query] * k[key]
        return {"tokens": tokens, "q": q, "k": k, "scores": scores, "products": products, "chosen": chosen}

    def draw(self, drawing, state):
        tokens, (row, column) = state["tokens"], state["chosen"]
        title = f"scores of {head_label(state['head'], HAND_MADE_NAMES)}"
        style = {"kind": "scores", "decimals": 1, "index": state["head"], "title": title}
        drawing.heatmap((0, 0, 440, 334), state["scores"], tokens, tokens, (row, column), **style)
        _draw_names(drawing, tokens[row], tokens[column])
        query, key = state["q"][row], state["k"][column]
        _draw_pairs(drawing, query, key)
        _draw_products(drawing, query, key, state["products"])
        total = number(state["scores"][row, column], 1)
        drawing.text(PRODUCTS, 326, f"their sum, the score: {total}", 14, "middle", bold=True)

    def words(self, state):
        tokens, (row, column), products = state["tokens"], state["chosen"], state["products"]
        above, below = (int((sign * products > 0.005).sum()) for sign in (1, -1))
        scores = state["scores"][row]
        return [
            f"“{tokens[row]}” asks, “{tokens[column]}” answers. Above zero are {above} of the {len(products)}"
            f" products, below zero {below}; their sum, the score, is {number(scores[column], 1)}.",
            f"Best score in the row of “{tokens[row]}”: {_winner(tokens, scores)}.",
            "The numbers are shown rounded; they were multiplied before that.",
        ]


def _winner(tokens, scores):
    first, *others = scores.sort(descending=True).values.tolist()
    alike = 1 + sum(first - other < 0.005 for other in others)
    if alike > 1:
        return f"{alike} words tie with {number(first, 1)}"
    gap = f", {number(first - others[0], 1)} more than the next" if others else ""
    return f"“{tokens[int(scores.argmax())]}” with {number(first, 1)}{gap}"


def _draw_names(drawing, query, key):
    for x, role, token in ((QUERY, "query", query), (KEY, "key", key)):
        drawing.text(x, 18, role, 13, "end", role, bold=True)
        drawing.text(x, 36, short(token, 7), 13, "end")
    drawing.text(PRODUCTS, 18, "product of each pair", 13, "middle", bold=True)


def _draw_pairs(drawing, query, key):
    step = min(HEIGHT / len(query), 44)  # as bars() has it
    for i, (asked, offered) in enumerate(zip(query, key, strict=True)):
        y = TOP + step * (i + 0.36) + 4
        drawing.text(QUERY, y, number(asked, trim=False), 12, "end")
        drawing.text(QUERY + 10, y, "·", 12)
        drawing.text(KEY, y, number(offered, trim=False), 12, "end")


def _draw_products(drawing, query, key, products):
    triples = zip(query, key, products, strict=True)
    hovers = ["{} times {} is {}".format(*map(number, triple)) for triple in triples]
    colours = ["positive" if product >= 0 else "negative" for product in products]
    labels, longest = ["="] * len(products), 2 * MATCH / math.sqrt(len(products))
    box = (PRODUCTS - 140, TOP, 260, HEIGHT)
    drawing.bars(box, products, labels, colours, (-longest, longest), hovers=hovers)

"""The 270 heads of a language model on a sentence of one's own, for notebook 11."""

import functools

import ipywidgets as widgets
import torch

from mha_course.exercises.engine import run_code
from mha_course.models.language import LanguageModel, load_language_model
from mha_course.p11_can_your_class_write.broken import ATTENTION, BREAKS, GIVEN
from mha_helpers.masks import causal_mask
from mha_helpers.panel import Explorer, Panel
from mha_helpers.sentence import tokenize
from mha_helpers.style import number

LAYERS, NUM_HEADS, MOST_TOKENS, LIKELIEST = 30, 9, 24, 5
SENTENCES = (
    "When Mary and John went to the store, John gave a drink to",
    "The capital of France is",
    "The cat eats the fish because it is",
)


def language_explorer():
    """Return a ``Panel`` with all heads of the language model on one sentence. Used in notebook 11.

    ``state()`` holds, for n tokens: tokens; weights ``(30, 9, n, n)``; rivals, the likeliest next token and
    the second, or the one named; total, the difference of their logits; writes ``(30, 9)``, what each head
    adds to it; before and after, the probabilities ``(vocabulary)`` as trained and as changed.

    Source: Elhage et al. (2021), "A Mathematical Framework for Transformer Circuits", for what a head writes.
    Raises ``ModelMissing`` where the model is not installed.

    >>> panel = language_explorer()  # doctest: +SKIP
    >>> panel.click(1, 23, 3)  # doctest: +SKIP
    """
    load_language_model()
    return Panel(explorer=LanguageExplorer())


class LanguageExplorer(Explorer):
    title, asks, height = "The 270 heads of a language model", "click a head in the map", 368
    more = ("layer", "head", "against")

    def controls(self):
        return {
            "sentence": widgets.Combobox(value=SENTENCES[0], options=SENTENCES, layout={"width": "560px"}),
            "break": widgets.Dropdown(options=list(BREAKS)),
            "off": widgets.Checkbox(False, description="head off", indent=False),
            "layer": widgets.IntSlider(23, 0, LAYERS - 1, layout={"width": "190px"}),
            "head": widgets.IntSlider(3, 0, NUM_HEADS - 1, layout={"width": "170px"}),
            "against": widgets.Text(placeholder="the second", layout={"width": "190px"}),
        }

    def plays(self, sentence, off, layer, head, **menus):
        """Tell whether a page without a kernel keeps this: lines are broken with the first sentence alone."""
        is_whole, is_first = menus["break"] == "nothing", sentence == SENTENCES[0]
        if off:  # of heads that the page asks to switch off
            return is_whole and is_first and (layer, head) in {(1, 5), (20, 0), (23, 3)}
        return is_whole or is_first

    def click(self, values, heatmap, row, column):
        """A cell of the map chooses its head, which is on again; the large heatmap has nothing to choose."""
        return {"layer": row, "head": column, "off": False} if heatmap else {}

    def compute(self, sentence, off, layer, head, against, **menu):
        chosen, name = (layer, head), menu["break"]
        right, shown = run(sentence, "nothing", None), run(sentence, name, None)
        rivals = shown["next"].topk(2).indices  # before a head is off, so that both maps compare the same two
        if against.strip():
            rivals[1] = load_language_model().encode(f" {against.strip()}")[0]
        off_head, rivals = chosen if off else None, tuple(rivals.tolist())
        shown = run(sentence, name, off_head)
        writes, total = _written(sentence, name, off_head, rivals)
        return {
            "tokens": shown["tokens"], "weights": shown["weights"], "chosen": chosen,
            "rivals": list(rivals), "writes": writes, "total": total,
            "before": right["next"], "after": shown["next"],
        }  # fmt: skip

    def draw(self, drawing, state):
        (layer, head), tokens, writes = state["chosen"], state["tokens"], state["writes"]
        off = " is off" if state["off"] else ""
        style = {"title": f"layer {layer}, head {head}{off}", "colour": "faint" if off else "head 1"}
        weights, last = state["weights"][layer, head], (len(tokens) - 1, None)
        drawing.heatmap((0, 0, 400, drawing.height), weights, tokens, tokens, last, **style)
        style = {"title": "what each writes", "kind": "scores", "axes": ("layer", "head"), "index": 1}
        style["limit"], numbers = float(writes.abs().max()) or 1.0, [str(i) for i in range(LAYERS)]
        box = (400, 0, 210, drawing.height)
        drawing.heatmap(box, writes, numbers, numbers[:NUM_HEADS], (layer, head), **style)
        title = "nothing changed" if changed(state) == "nothing changed" else "changed"  # the words say how
        _draw_next_words(drawing, 0, "as trained", state["before"], "head 1")
        _draw_next_words(drawing, 186, title, state["after"], "head 2")

    def words(self, state):
        layer, head = state["chosen"]
        first, second = (f"“{_word(token)}”" for token in state["rivals"])
        row, writes = state["weights"][layer, head, -1].nan_to_num(), state["writes"][layer, head]
        heads, total = number(state["writes"].sum()), number(state["total"])
        last, most = (f"“{state['tokens'][i]}”" for i in (-1, int(row.argmax())))
        lines = [
            f"{first} against {second}: head {layer}.{head} writes {number(writes)}, all heads {heads},"
            f" and with the networks it is {total}.",
            f"In head {layer}.{head} {last} looks most at {most} ({number(row.max(), trim=False)}).",
        ]
        if changed(state) != "nothing changed":
            most, likeliest = (int(state[name].argmax()) for name in ("before", "after"))
            now = f"“{_word(most)}” {state['before'][most]:.2f} → {state['after'][most]:.2f}"
            lines.append(f"With {changed(state)}: {now}; likeliest is “{_word(likeliest)}”.")
        return lines


def _draw_next_words(drawing, top, title, probabilities, colour):
    drawing.text(622, top + 14, f"next word, {title}", 13, bold=True)
    values, ids = probabilities.topk(LIKELIEST)
    drawing.bars((622, top + 26, 238, 150), values, [_word(token) for token in ids], colour, (0, 1))


def changed(state):
    """Say in a few words what was changed."""
    parts = [state["break"]] * (state["break"] != "nothing") + ["the head off"] * state["off"]
    return ", ".join(parts) or "nothing changed"


def _word(token):
    return load_language_model().decode([token]).strip() or "␣"


# --- the model --------------------------------------------------------------------------------------------


@functools.cache
def model_with(name):
    """Return the model with the attention of the page, perhaps broken, which keeps what it computes."""
    kept = {"weights @ v": "self.kept(weights, v)"}
    base = run_code("Attention", ATTENTION, BREAKS[name] | kept, GIVEN)

    class Keeping(base):
        def kept(self, weights, v):
            self.weights, self.heads = weights[0], (weights @ v)[0] * self.on  # (h, n, n), (h, n, d_v)
            return self.heads[None]

    trained = load_language_model()
    with torch.device("meta"):  # the numbers are those of the learner's model, which stays as it is
        model = LanguageModel(trained.tokenizer, trained.sizes, Keeping)
    model.load_state_dict(trained.state_dict(), assign=True)
    return model.requires_grad_(False)


@functools.lru_cache(maxsize=32)
@torch.no_grad()
def run(sentence, name, off):  # no defaults: the cache would hold one run under several keys
    """Run the model, perhaps broken, perhaps with a head off, and return what it computes on its way."""
    tokenize(sentence)  # refuses an empty one
    model = model_with(name)
    ids = model.encode(sentence)
    if len(ids) > MOST_TOKENS:
        raise ValueError(f"These are {len(ids)} tokens and {MOST_TOKENS} fit in the picture: shorten it.")
    x, mask = model.embedding(ids)[None], causal_mask(len(ids))
    weights, heads = [], []
    for layer, block in enumerate(model.blocks):
        is_on = [(layer, head) != off for head in range(NUM_HEADS)]
        block.attention.on = torch.tensor(is_on)[:, None, None]
        x = block(x, mask)
        weights.append(block.attention.weights)
        heads.append(block.attention.heads[:, -1])
    return {
        "tokens": [_word(token) for token in ids], "stream": x[0, -1],
        "weights": torch.stack(weights), "heads": torch.stack(heads),
        "next": model.logits(x[0, -1]).softmax(dim=-1),
    }  # fmt: skip


def _towards(stream, rivals):
    """Return how much each number of the last stream counts for one token against another, and the sum."""
    model = load_language_model()
    scale = (stream.square().mean() + model.norm.eps).rsqrt()
    first, second = model.embedding.weight[rivals]
    direction = model.norm.weight * scale * (first - second)  # (d_model)
    return direction, (stream @ direction).item()


@functools.lru_cache(maxsize=32)
def _written(sentence, name, off, rivals):
    """Return what each head adds to the difference of two logits, ``(layers, h)``, and this difference."""
    shown = run(sentence, name, off)
    direction, total = _towards(shown["stream"], list(rivals))
    blocks = load_language_model().blocks
    towards = [direction if name == "no W_O" else direction @ block.attention.w_o.weight for block in blocks]
    towards = torch.stack(towards).view(shown["heads"].shape)  # (layers, h·d_v) -> (layers, h, d_v)
    return (shown["heads"] * towards).sum(dim=-1), total

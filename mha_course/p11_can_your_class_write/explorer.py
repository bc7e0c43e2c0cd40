"""All 72 heads of a real model on a sentence of one's own, for notebook 11."""

import functools
import random

import ipywidgets as widgets
import torch

from mha_course.models.real import heads_off, load_minilm, sentence_vector, tendencies
from mha_helpers.panel import Panel

MOST_TOKENS = 24  # with [CLS] and [SEP]
KINDS = {
    "previous": "the previous word", "next": "the next word", "itself": "the word itself",
    "same word": "the same word elsewhere", "[CLS]": "[CLS]", "[SEP]": "[SEP]",
}  # fmt: skip
SHUFFLED, OFF = "shuffle the words", "switch this head off"


def real_model_explorer():
    """Return a ``Panel`` with the 72 heads of all-MiniLM-L6-v2 on one sentence. Used in notebook 11.

    ``state()`` holds: tokens (n), weights ``(6, 12, n, n)``, tendencies: those of all heads (a dict of
    ``(6, 12)``), even: those of even weights, cosine: the sentence's vector as shown against unchanged.

    Raises ``ModelMissing`` where transformers or the model is not there.

    >>> panel = real_model_explorer()  # doctest: +SKIP
    >>> panel.set(layer=1, head=9)  # doctest: +SKIP
    """
    load_minilm()
    controls = {
        "sentence": widgets.Text("the cat eats the fish because it is hungry"),
        "layer": widgets.IntSlider(1, 1, 6),
        "head": widgets.IntSlider(3, 1, 12),
        "change": widgets.Dropdown(options=["nothing", SHUFFLED, OFF]),
    }
    more = {"kind": widgets.Dropdown(options=list(KINDS), description="weight on")}
    title = "The 72 heads of a real model"
    return Panel(title, controls, compute, draw, words, more, click=click, height=336)


def click(values, head, row, column):
    """A cell of the table of 72 chooses its head; the heatmap, head 0, has nothing to choose."""
    return {"layer": row + 1, "head": column + 1} if head else {}


def compute(sentence, layer, head, change, kind):
    spoken, index = sentence.split(), (layer - 1, head - 1)
    before = run(" ".join(spoken))
    if change == SHUFFLED:
        random.Random(3).shuffle(spoken)  # always the same order
    shown = run(" ".join(spoken), *([index] if change == OFF else []))
    return {**shown, "head": index, "cosine": (before["vector"] @ shown["vector"]).item()}


@functools.lru_cache(maxsize=16)
def run(sentence, *off):
    """Run the model on one sentence, perhaps with a head off."""
    tokenizer, model = load_minilm()
    batch = tokenizer(sentence, return_tensors="pt")
    tokens = tokenizer.convert_ids_to_tokens(batch["input_ids"][0])
    if not 2 < len(tokens) <= MOST_TOKENS:
        raise ValueError(f"The model takes 1 to {MOST_TOKENS - 2} tokens here; these are {len(tokens) - 2}.")
    with torch.no_grad(), heads_off(model, *off):
        result = model(**batch, output_attentions=True)
    weights = torch.cat(result.attentions)  # layers of (1, h, n, n) -> (layers, h, n, n)
    return {
        "tokens": tokens, "weights": weights, "tendencies": tendencies(weights, tokens),
        "even": tendencies(torch.full(weights.shape[-2:], 1 / len(tokens)), tokens),
        "vector": sentence_vector(result.last_hidden_state, batch["attention_mask"])[0],
    }  # fmt: skip


def draw(drawing, state):
    (layer, head), off = state["head"], state["change"] == OFF
    colour = "faint" if off else "head 1"
    title = f"layer {layer + 1}, head {head + 1}{' is off' if off else ''}"
    tokens, weights = state["tokens"], state["weights"][layer, head]
    drawing.heatmap((0, 0, 430, 336), weights, tokens, tokens, colour=colour, title=title)
    averages, numbers = state["tendencies"][state["kind"]].nan_to_num(), [str(i) for i in range(1, 13)]
    style = {"map": 1, "colour": "head 1", "chosen": state["head"], "axes": ("layer", "head")}
    style["title"] = f"average weight on {KINDS[state['kind']]}"
    drawing.heatmap((450, 0, 410, 206), averages, numbers[:6], numbers, **style)
    drawing.text(462, 226, f"head {layer + 1}.{head + 1}: average weight of the words on", 13, bold=True)
    values = [state["tendencies"][kind][layer, head].nan_to_num() for kind in KINDS]
    drawing.bars((460, 236, 390, 98), values, list(KINDS), colour, (0, 1), list(KINDS).index(state["kind"]))


def words(state):
    layer, head = state["head"]
    values = {kind: state["tendencies"][kind][layer, head].nan_to_num().item() for kind in KINDS}
    most = max(values, key=values.get)
    much = f"{values[most]:.2f} on average; even weights: {state['even'][most]:.2f}"
    lines = [f"Head {layer + 1}.{head + 1}: most on {KINDS[most]}, {much}."]
    if state["change"] != "nothing":
        done = "the words shuffled" if state["change"] == SHUFFLED else "this head off"
        lines.append(f"With {done} the sentence's vector has cosine {state['cosine']:.2f} with before.")
    return [*lines, "What a head looks at is not yet what it is for."]

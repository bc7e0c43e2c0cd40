"""Notebook 11: all 72 heads of all-MiniLM-L6-v2 on a sentence of one's own."""

import functools
import random

import ipywidgets as widgets
import torch

from mha_helpers.checks import check_count
from mha_helpers.explorers.e11_picture import RealModelPicture
from mha_helpers.inspector import matrix_table
from mha_helpers.panel import Panel
from mha_helpers.real_model import (
    heads_off,
    load_minilm,
    run_minilm,
    sentence_vectors_of,
    tendencies,
)
from mha_helpers.style import number

SENTENCE = "the cat eats the fish because it is hungry"
NUM_LAYERS, NUM_HEADS = 6, 12
MOST_TOKENS = 24  # with [CLS] and [SEP]
WARNING = "What a head looks at is not yet what it is for: test it on other sentences, and switch it off."


def real_model_explorer(sentence=SENTENCE, layer=1, head=3):
    """Return a ``Panel`` that shows the 72 heads of all-MiniLM-L6-v2 on one sentence.

    Controls: sentence, layer, head, shuffle (the words in another order), off (the chosen head writes
    zeros). Used in notebook 11.

    ``state()`` holds: tokens (n), weights ``(6, 12, n, n)``, the tendencies of all heads (a dict of
    ``(6, 12)``), ``even`` (the same of even weights) and ``similarity``, the cosine of the sentence's
    vector as shown and as it was before words were shuffled and the head switched off.

    Raises ``ModelMissing`` where transformers or the model is not there, ``TypeError`` or ``ValueError`` for
    a layer or a head that it does not have.

    >>> panel = real_model_explorer()  # doctest: +SKIP
    >>> panel.controls["head"].value = 9  # doctest: +SKIP
    """
    check_count("layer", layer, largest=NUM_LAYERS)
    check_count("head", head, largest=NUM_HEADS)
    load_minilm()
    controls = {
        "sentence": widgets.Text(sentence, description="sentence"),
        "layer": widgets.IntSlider(layer, 1, NUM_LAYERS, description="layer"),
        "head": widgets.IntSlider(head, 1, NUM_HEADS, description="head"),
        "shuffle": widgets.Checkbox(False, description="shuffle the words", indent=False),
        "off": widgets.Checkbox(False, description="switch this head off", indent=False),
    }
    return Panel(
        controls,
        compute,
        RealModelPicture(),
        describe,
        details,
        title="The 72 heads of a real model.",
        rows=[["sentence"], ["layer", "head"], ["shuffle", "off"]],
    )


def compute(sentence, layer, head, shuffle, off):
    """Run the model, and say how far the sentence's vector has moved."""
    words = " ".join(sentence.split())
    if not words:
        raise ValueError("The sentence is empty: type a few words.")
    shown = shuffled(words) if shuffle else words
    run = run_on(shown, (layer - 1, head - 1) if off else None)
    return {
        **run,
        "selected_layer": layer - 1,
        "selected_head": head - 1,
        "shuffle": shuffle,
        "off": off,
        "similarity": (run["vector"] @ run_on(words)["vector"]).item(),
    }


def shuffled(words):
    """Put words into another order, always the same."""
    order = words.split()
    random.Random(1).shuffle(order)
    return " ".join(order)


@functools.lru_cache(maxsize=16)
def run_on(words, switched_off=None):
    """Run the model on one sentence, perhaps with a head off; return what the picture needs."""
    tokenizer, model = load_minilm()
    ids = tokenizer(words)["input_ids"]
    if len(ids) > MOST_TOKENS:
        raise ValueError(
            f"The sentence has {len(ids) - 2} tokens; at most {MOST_TOKENS - 2} fit: leave out some words."
        )
    tokens = tuple(tokenizer.convert_ids_to_tokens(ids))
    places = [] if switched_off is None else [switched_off]
    with heads_off(model, *places):
        batch, result = run_minilm([words])
    weights = torch.stack(result.attentions)[:, 0]  # layers of (1, h, n, n) -> (layers, h, n, n)
    n = len(tokens)
    return {
        "tokens": tokens,
        "weights": weights,
        "tendencies": tendencies(weights, tokens),
        "even": tendencies(torch.full((n, n), 1 / n), tokens),
        "vector": sentence_vectors_of(result.last_hidden_state, batch["attention_mask"])[0],
    }


def _chosen(state):
    return state["selected_layer"], state["selected_head"]


def _written(value):
    return "nan (there is none)" if value.isnan() else number(value)


def describe(state):
    """Say what a person would say of the picture."""
    layer, head = _chosen(state)
    found = {name: _written(values[layer, head]) for name, values in state["tendencies"].items()}
    spread = found.pop("spread")
    measured = ", ".join(f"{name} {value}" for name, value in found.items())
    done = [
        words for words, on in (("words shuffled", state["shuffle"]), ("this head off", state["off"])) if on
    ]
    changes, cosine = " and ".join(done), f"{state['similarity']:.2f}"
    moved = f" With {changes}, the sentence's vector has cosine {cosine} with before." if done else ""
    return (
        f"Layer {layer + 1}, head {head + 1} on {len(state['tokens'])} tokens. "
        f"Average weight of the words on: {measured}. Spread: {spread} {'key' if spread == '1' else 'keys'}."
        f"{moved} {WARNING}"
    )


def details(state):
    """Return the numbers of this head beside those of all heads and of even weights, as HTML."""
    layer, head = _chosen(state)
    names = list(state["tendencies"])
    rows = {f"head {layer + 1}.{head + 1}": [state["tendencies"][name][layer, head] for name in names]}
    rows["average of 72 heads"] = [state["tendencies"][name].mean() for name in names]
    rows["largest of 72 heads"] = [state["tendencies"][name].max() for name in names]
    rows["even weights"] = [state["even"][name] for name in names]
    table = torch.stack([torch.stack(values) for values in rows.values()])  # (4, 7)
    return matrix_table(table, list(rows), names, name="tendencies", decimals=2)._repr_html_()

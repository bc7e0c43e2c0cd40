"""The whole of multi-head attention in one panel, for notebooks 00 and 09."""

import functools
import math

import ipywidgets as widgets
import torch

from mha_helpers.attention import (
    attention_scores,
    attention_weights,
    mask_scores,
    merge_heads,
    scale_scores,
    weighted_values,
)
from mha_helpers.checks import check_choice, check_count
from mha_helpers.examples import fixed_matrix, head_projections, sentence_vectors, tokenize
from mha_helpers.explorers.whole_contributions import contribution_bars_html
from mha_helpers.figures.words import count, join, named
from mha_helpers.head_grid import HeadGrid
from mha_helpers.inspector import matrix_table
from mha_helpers.masks import causal_mask, padding_mask, sliding_window_mask
from mha_helpers.panel import Panel
from mha_helpers.style import number, short

D_MODEL = 64
MOST_HEADS = 16
LARGEST_D_K = 64
MOST_TOKENS = 320
MASKS = ("none", "causal", "sliding window", "causal window", "padding")
SENTENCE = "the old cat eats the fish because it is hungry"


def attention_explorer(sentence=SENTENCE, d_k=8, heads=4, mask="none"):
    """Return a ``Panel`` with multi-head attention on your own sentence.

    Controls: sentence, d_k, heads, mask, window or padding where the mask needs it, the query, key and
    head whose arithmetic is shown, and a switch for each head ("head_1" …) that takes it out of the
    output. Used in notebooks 00 and 09.

    ``state()`` holds, for n tokens: x ``(n, d_model)``; q, k, v, heads ``(h, n, d_k)``; scores, scaled,
    masked, weights ``(h, n, n)``; mask ``(n, n)`` or None; concat ``(n, h·d_k)``; contributions
    ``(h, n, d_model)``, what each head adds to the output ``(n, d_model)``; and the matrices w_q, w_k,
    w_v, w_o they come from.

    Raises ``ValueError`` for a mask it does not know, ``TypeError`` if sentence is no text, and either for a
    number that its slider does not have.

    >>> panel = attention_explorer("cat eats fish", heads=2)
    >>> panel.controls["d_k"].value = 16
    >>> panel.state()["weights"].shape
    torch.Size([2, 3, 3])
    """
    if not isinstance(sentence, str):
        raise TypeError(f"sentence must be a text, got {sentence!r}.")
    check_count("d_k", d_k, largest=LARGEST_D_K)
    check_count("heads", heads, largest=MOST_HEADS)
    check_choice("mask", mask, MASKS)
    controls = {
        "sentence": widgets.Text(sentence, description="sentence"),
        "d_k": widgets.IntSlider(d_k, 1, LARGEST_D_K, description="d_k"),
        "heads": widgets.IntSlider(heads, 1, MOST_HEADS, description="heads"),
        "mask": widgets.Dropdown(options=MASKS, value=mask, description="mask"),
        "window": widgets.IntSlider(2, 0, 16, description="window"),
        "padding": widgets.IntSlider(2, 1, 8, description="padding"),
        "head": widgets.IntSlider(1, 1, heads, description="look at: head"),
        "query": widgets.SelectionSlider(options=[("", 0)], description="query"),
        "key": widgets.SelectionSlider(options=[("", 0)], description="key"),
    }
    switches = [f"head_{head}" for head in range(1, MOST_HEADS + 1)]
    for head, name in enumerate(switches, start=1):
        controls[name] = widgets.Checkbox(
            True, description=str(head), indent=False, layout=widgets.Layout(width="44px")
        )
    controls["head_1"].description = "heads in the output: 1"
    controls["head_1"].layout.width = "max-content"
    return Panel(
        controls,
        compute,
        HeadGrid("weights"),
        describe,
        details,
        title="Multi-head attention on your sentence. The numbers are untrained: they show how"
        " attention is computed, not what a trained model has learned.",
        rows=[
            ["sentence"],
            ["d_k", "heads", "mask", "window", "padding"],
            ["head", "query", "key"],
            switches,
        ],
        adjust=adjust,
    )


def adjust(controls, values):
    """Show the controls that matter now, and let the pickers offer the tokens there are."""
    for name, needed in (("window", "window" in values["mask"]), ("padding", values["mask"] == "padding")):
        _show(controls[name], needed)
    for head in range(1, MOST_HEADS + 1):
        _show(controls[f"head_{head}"], head <= values["heads"])
    controls["head"].max = values["heads"]
    tokens = _tokens(values["sentence"], values["mask"], values["padding"])
    options = tuple((f"{i + 1} {short(token, 8)}", i) for i, token in enumerate(tokens))
    for name, start in (("query", len(tokens) - 1), ("key", 0)):
        picker = controls[name]
        if picker.options != options:
            place = min(picker.value, len(tokens) - 1) if len(picker.options) > 1 else start
            with picker.hold_trait_notifications():
                picker.options = options
            picker.value = place


def compute(sentence, d_k, heads, mask, window, padding, head, query, key, **switches):
    """Compute attention with every intermediate, from the functions of ``mha_helpers.attention``."""
    tokens = _tokens(sentence, mask, padding)
    x = sentence_vectors(" ".join(tokens), D_MODEL)[1]
    w_q, w_k, w_v, w_o = (w[:heads] for w in _all_projections())
    w_q, w_k, w_v = (w[:, :, :d_k] for w in (w_q, w_k, w_v))
    w_o = w_o[:, :d_k] / math.sqrt(heads * d_k)  # (h, d_k, d_model)
    on = [switches[f"head_{i + 1}"] for i in range(heads)]
    q, k, v = x @ w_q, x @ w_k, x @ w_v  # (n, d_model) @ (h, d_model, d_k) -> (h, n, d_k)
    scores = attention_scores(q, k)
    scaled = scale_scores(scores, d_k)
    allowed = _mask(mask, len(tokens), window, padding)
    masked = scaled if allowed is None else mask_scores(scaled, allowed)
    weights = attention_weights(masked)
    # A head that is switched off hands on zeros.
    each = weighted_values(weights, v) * torch.tensor(on)[:, None, None]
    concat = merge_heads(each)
    return {
        "tokens": tokens,
        "x": x,
        "w_q": w_q,
        "w_k": w_k,
        "w_v": w_v,
        "w_o": w_o.flatten(0, 1),  # (h, d_k, d_model) -> (h·d_k, d_model)
        "q": q,
        "k": k,
        "v": v,
        "scores": scores,
        "scaled": scaled,
        "mask": allowed,
        "masked": masked,
        "weights": weights,
        "heads": each,
        "concat": concat,
        "contributions": each @ w_o,  # (h, n, d_k) @ (h, d_k, d_model): their sum is the output
        "output": concat @ w_o.flatten(0, 1),
        "d_k": d_k,
        "mask_name": mask,
        "heads_on": on,
        "selected": (min(query, len(tokens) - 1), min(key, len(tokens) - 1)),
        "selected_head": min(head, heads) - 1,
    }


def describe(state):
    """Say what a person would say of the picture."""
    tokens, weights = state["tokens"], state["weights"]
    row = state["selected"][0]
    heads, n = weights.shape[:2]
    mask, hidden = "no mask", ""
    if state["mask"] is not None:
        mask, masked = f"{state['mask_name']} mask", ~state["mask"]
        cells = count(masked.numel(), "cell")
        hidden = f" {int(masked.sum())} of {cells} masked, {int(masked[0].sum())} in row 1."
    found = []
    for head in range(min(heads, 8)):
        column = int(weights[head, row].argmax())
        found.append(f"head {head + 1} most to {named(tokens, column)} ({weights[head, row, column]:.2f})")
    more = f"; and {count(heads - 8, 'more head')}" if heads > 8 else ""
    off = [str(head + 1) for head, on in enumerate(state["heads_on"]) if not on]
    without = f" Off: head{'s' if len(off) > 1 else ''} {join(off)}." if off else ""
    return (
        f"{count(heads, 'head')}, {count(n, 'token')}, d_k {state['d_k']}, {mask}.{hidden}"
        f" “{tokens[row]}” (row {row + 1}) attends: {', '.join(found)}{more}.{without}"
    )


def details(state):
    """Write out the arithmetic of the chosen cell, what each head adds, and the shape of every step."""
    parts = (_arithmetic(state), _contributions(state), _shapes(state))
    return f'<div style="max-width: 880px">{"".join(parts)}</div>'


def _arithmetic(state):
    head, (row, column) = state["selected_head"], state["selected"]
    q, k = state["q"][head, row], state["k"][head, column]
    asks, answers = (short(state["tokens"][i]) for i in (row, column))
    d_k = len(q)
    table = matrix_table(
        torch.stack([q, k, q * k]),
        rows=[f"q of “{asks}”", f"k of “{answers}”", "product"],
        columns=[f"d{i}" for i in range(d_k)],
        name=f"Head {head + 1}, row {row + 1}, column {column + 1}: “{asks}” asks, “{answers}” answers",
        decimals=2,
        highlight={"rows": [2]},
        shape=False,
    )
    score, scaled = (state[name][head, row, column] for name in ("scores", "scaled"))
    steps = [f"Sum of the products ≈ <b>score {number(score)}</b>", f"÷ √{d_k} ≈ {number(scaled, 4)}"]
    if state["mask"] is None or state["mask"][row, column]:
        total = state["masked"][head, row].exp().sum()
        weight = state["weights"][head, row, column]
        steps.append(f"e<sup>{number(scaled, 4)}</sup> ≈ {number(scaled.exp(), 3)}")
        steps.append(f"÷ {number(total, 3)}, the sum over the row ≈ <b>weight {number(weight, 3)}</b>")
    else:
        steps.append("masked: −∞")
        steps.append("<b>weight 0</b>")
    return f'<div style="overflow-x: auto">{table.html}</div><p>{" → ".join(steps)}</p>'


_STEPS = {
    ("x",): "(n, d_model)",
    ("q", "k", "v"): "(h, n, d_k)",
    ("scores", "scaled", "masked", "weights"): "(h, n, n)",
    ("heads",): "(h, n, d_v)",
    ("concat",): "(n, h·d_v)",
    ("output",): "(n, d_model)",
}


def _contributions(state):
    row = state["selected"][0]
    return contribution_bars_html(state["contributions"][:, row], state["tokens"][row], state["heads_on"])


def _shapes(state):
    cell = "padding: 2px 12px; text-align: left; border: 1px solid rgba(128, 128, 128, .35)"
    rows = (
        ("step", [", ".join(names) for names in _STEPS]),
        ("axes", list(_STEPS.values())),
        ("shape", [str(tuple(state[names[0]].shape)) for names in _STEPS]),
    )
    body = "".join(
        f'<tr style="background: transparent"><th scope="row" style="{cell}">{name}</th>'
        + "".join(f'<td style="{cell}">{text}</td>' for text in texts)
        + "</tr>"
        for name, texts in rows
    )
    table = f'<table style="border-collapse: collapse; color: inherit">{body}</table>'
    return f'<div style="overflow-x: auto">{table}</div>'


def _tokens(sentence, mask, padding):
    tokens = tokenize(sentence)
    if mask == "padding":
        tokens = [*tokens, *["[pad]"] * padding]
    if len(tokens) > MOST_TOKENS:
        padded = ", [pad] among them" if mask == "padding" else ""
        raise ValueError(
            f"The sentence has {len(tokens)} tokens{padded}; this picture holds {MOST_TOKENS}."
            f" Take out at least {len(tokens) - MOST_TOKENS}."
        )
    return tokens


def _mask(name, n, window, padding):
    if name == "none":
        return None
    if name == "padding":
        return padding_mask([n - padding], n)[0, 0].expand(n, n)  # (1, 1, 1, n) -> (n, n)
    causal, near = causal_mask(n), sliding_window_mask(n, window)
    return {"causal": causal, "sliding window": near, "causal window": causal & near}[name]


@functools.cache
def _all_projections():
    # Made once at full size: fewer heads or columns are the first ones of these.
    w_o = [fixed_matrix(f"w_o of head {head}", D_MODEL, LARGEST_D_K).T for head in range(MOST_HEADS)]
    return *head_projections(D_MODEL, MOST_HEADS, LARGEST_D_K), torch.stack(w_o)


def _show(control, needed):
    control.layout.display = None if needed else "none"

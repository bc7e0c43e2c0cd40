"""Notebook 05: masks and their combinations, cell by cell."""

import html
import math
import re

import ipywidgets as widgets
import torch

from mha_helpers.attention import attention_scores, attention_weights, mask_scores, scale_scores
from mha_helpers.examples import fixed_matrix, golden_example, sentence_vectors, tokenize
from mha_helpers.explorers.e05_picture import PAD, MaskSteps
from mha_helpers.figures.words import count, is_or_are, join, largest, named
from mha_helpers.masks import causal_mask, padding_mask, sliding_window_mask
from mha_helpers.panel import Panel
from mha_helpers.style import COLOURS, number, short

D_MODEL = 64
D_K = 8
D_HEAD = 2  # d_k of "cat eats fish"
MOST_TOKENS = 64
SENTENCE = "the cat eats the fresh fish today"
OWN = "your sentence, untrained"
SCORES = (OWN, *(f"“cat eats fish”, head {head}" for head in (1, 2, 3)))


def mask_explorer(sentence=SENTENCE, causal=True, padding=False, sliding=False):
    """Return a ``Panel`` that shows a mask, the masked scores and the weights side by side.

    Controls: ``scores`` (your sentence, or a head of "cat eats fish"), sentence, the kinds of mask
    ``causal``, ``padding`` and ``sliding`` (ticked ones are combined with ``&``, none = no mask), the
    ``length`` of the sentence in real tokens, the ``window``, and the cell: ``query``, ``key``,
    ``may_attend``. Cells set by hand stand in ``by_hand``, as row and column counted from 1 and 1 for may
    attend or 0: ``panel.controls["by_hand"].value = "(3, 6)=1 (1, 1)=0"``. Taught in notebook 05.

    ``state()`` holds, for n tokens: scaled, mask, masked, weights and unmasked (the weights without a
    mask), each ``(n, n)``; and real, bool ``(n,)``, False for padding.

    >>> panel = mask_explorer("cat eats fish")
    >>> panel.set(causal=False, sliding=True, window=0)
    >>> panel.state()["mask"].sum()
    tensor(3)
    """
    controls = {
        "scores": widgets.Dropdown(options=SCORES, description="scores of"),
        "sentence": widgets.Text(sentence, description="sentence"),
        "causal": widgets.Checkbox(causal, description="causal", indent=False),
        "padding": widgets.Checkbox(padding, description="padding", indent=False),
        "sliding": widgets.Checkbox(sliding, description="sliding window", indent=False),
        "length": widgets.IntSlider(MOST_TOKENS, 0, MOST_TOKENS, description="real tokens"),
        "window": widgets.IntSlider(1, 0, 8, description="window"),
        "query": widgets.SelectionSlider(options=[("", 0)], description="query"),
        "key": widgets.SelectionSlider(options=[("", 0)], description="key"),
        "may_attend": widgets.Checkbox(True, description="this cell may attend", indent=False),
        "by_hand": widgets.Text(
            "", description="set by hand", placeholder="(row, column)=1 or 0", continuous_update=False
        ),
    }
    return Panel(
        controls,
        compute,
        MaskSteps(),
        describe,
        details,
        title="Tick the masks you want. A key may be attended to if every ticked mask allows it.",
        rows=[
            ["scores", "sentence"],
            ["causal", "padding", "sliding", "length", "window"],
            ["query", "key", "may_attend", "by_hand"],
        ],
        adjust=_Adjust(),
    )


class _Adjust:
    """Keeps the pickers inside the sentence, and the tick of the picked cell in step with the mask."""

    def __init__(self):
        self.shown = None  # the tick as it was last written; a difference means that the learner moved it

    def __call__(self, controls, values):
        own = values["scores"] == OWN
        controls["sentence"].layout.display = None if own else "none"
        controls["window"].layout.display = None if values["sliding"] else "none"
        words = _tokens(values["scores"], values["sentence"])
        at_full_length = controls["length"].value == controls["length"].max
        controls["length"].max = len(words)
        if at_full_length:
            controls["length"].value = len(words)
        _offer_tokens(controls, _padded(words, controls["length"].value))
        self._follow_the_cell(controls)

    def _follow_the_cell(self, controls):
        values = {name: control.value for name, control in controls.items()}
        tick, cell = controls["may_attend"], (values["query"], values["key"])
        n = len(controls["query"].options)
        mask = _mask(n, values)
        moved = self.shown is not None and tick.value != self.shown
        if moved:
            set_cells = {**_cells(values["by_hand"], MOST_TOKENS), cell: tick.value}
            if bool(_mask(n, {**values, "by_hand": ""})[cell]) == tick.value:
                del set_cells[cell]  # what the ticked kinds say anyway
            controls["by_hand"].value = " ".join(
                f"({i + 1}, {j + 1})={int(may)}" for (i, j), may in sorted(set_cells.items())
            )
        else:
            tick.value = bool(mask[cell])
        self.shown = tick.value


def compute(scores, sentence, length, query, key, may_attend, **values):
    """Compute the steps 05 and 06 with the functions of ``mha_helpers``; also the weights without a mask."""
    words = _tokens(scores, sentence)
    n = len(words)
    real = torch.arange(n) < length
    if scores == OWN:
        x = torch.cat([sentence_vectors(" ".join(tokens), D_MODEL)[1] for tokens in (words, [PAD] * n)])
        w_q, w_k = (
            fixed_matrix(f"{name} of head 0", D_MODEL, D_K) / math.sqrt(D_MODEL) for name in ("w_q", "w_k")
        )
    else:
        example, head = golden_example(), SCORES.index(scores) - 1
        x = torch.cat([example.x, torch.zeros_like(example.x)])  # here, padding is a row of zeros
        w_q, w_k = (w[:, head * D_HEAD : (head + 1) * D_HEAD] for w in (example.w_q, example.w_k))
    # Words and padding for every place: so the scale stays while words give way to padding.
    everything = scale_scores(attention_scores(x @ w_q, x @ w_k), w_q.shape[-1])  # (2n, 2n)
    here = torch.where(real, torch.arange(n), n + torch.arange(n))
    scaled = everything[here][:, here]  # (2n, 2n) -> (n, n)
    mask = _mask(n, {"length": length, **values})
    masked = mask_scores(scaled, mask)
    return {
        "words": words,
        "tokens": _padded(words, length),
        "real": real,
        "scaled": scaled,
        "mask": mask,
        "masked": masked,
        "weights": attention_weights(masked),
        "unmasked": attention_weights(scaled),
        "kinds": [kind for kind in ("causal", "padding", "sliding") if values[kind]],
        "by_hand": len(_cells(values["by_hand"], n)),
        "score_limit": math.ceil(everything.abs().max().item()),
        "selected": (min(query, n - 1), min(key, n - 1)),
    }


def describe(state):
    """Say what a person would say of the picture, and what to beware of."""
    tokens, mask, (row, column) = state["tokens"], state["mask"], state["selected"]
    masked = int((~mask).sum())
    said = [
        f"{_kinds_in_words(state)}: {masked} of {count(mask.numel(), 'cell')} {is_or_are(masked)} masked.",
        f"“{tokens[row]}” (row {row + 1}) may attend to {int(mask[row].sum())} of {count(len(tokens), 'key')}"
        + (
            f", {_most(tokens, state['weights'][row], mask[row])}"
            f" ({number(state['weights'][row].max(), trim=False)})."
            if mask[row].any()
            else ": its weights are all 0."
        ),
        f"Column {column + 1}, “{tokens[column]}”: {_cell_in_words(state)}.",
    ]
    if state["by_hand"]:
        said.insert(1, f"{count(state['by_hand'], 'cell')} {is_or_are(state['by_hand'])} set by hand.")
    empty = [str(i + 1) for i in range(len(tokens)) if not mask[i].any()]
    if empty:
        rows = f"Row {empty[0]} has" if len(empty) == 1 else f"Rows {join(empty)} have"
        said.append(f"{rows} no key left. A plain softmax gives NaN there.")
    ahead = int(mask.triu(diagonal=1).sum())
    if "causal" in state["kinds"] and ahead:
        said.append(f"A leak: {ahead} cell{'s look' if ahead > 1 else ' looks'} ahead.")
    on_padding = (state["weights"] * ~state["real"])[state["real"]].sum(dim=-1)  # one sum a real query
    if len(on_padding) and on_padding.max() > 0:
        share = 100 * on_padding.max()
        up_to = f"up to {number(share, decimals=0)} %" if share >= 0.5 else "less than 1 %"
        said.append(f"Real tokens attend to padding: {up_to} of a row.")
    return " ".join(said)


def _cell_in_words(state):
    if not state["mask"][state["selected"]]:
        return "masked"
    score, weight = (number(state[name][state["selected"]], trim=False) for name in ("scaled", "weights"))
    return f"scaled score {score}, weight {weight}"


def _kinds_in_words(state):
    kinds = " & ".join("sliding window" if kind == "sliding" else kind for kind in state["kinds"])
    if kinds:
        return f"{kinds.capitalize()} mask"
    return "No kind of mask" if state["by_hand"] else "No mask"


def _most(tokens, weights, allowed):
    winners = largest(weights, allowed)
    if len(winners) > 1 and len(winners) == int(allowed.sum()):
        return "equally to all of them"
    return f"most to {join([named(tokens, column) for column in winners])}"


def details(state):
    """Write out the row of the picked query: score, mask, masked score, exponential, weight."""
    row, column = state["selected"]
    mask, masked = state["mask"][row], state["masked"][row]
    # Shown without the shift by the maximum: these scores are small, and the page has not met it yet.
    powers = masked.exp()
    lines = {
        "key": [html.escape(short(token)) for token in state["tokens"]],
        "scaled score": [number(value, trim=False) for value in state["scaled"][row]],
        "may attend": ["True" if may else "False" for may in mask],
        "masked score": [number(value, trim=False) for value in masked],
        "e<sup>masked score</sup>": [number(value, trim=False) for value in powers],
        "weight": [number(value, trim=False) for value in state["weights"][row]],
        "weight without a mask": [number(value, trim=False) for value in state["unmasked"][row]],
    }
    sums = {
        "e<sup>masked score</sup>": f"sum {number(powers.sum(), trim=False)}",
        "weight": f"sum {number(state['weights'][row].sum(), trim=False)}",
    }
    body = "".join(
        f'<tr><th scope="row" style="text-align: left; white-space: nowrap; padding: 0 8px 0 0">{name}</th>'
        + "".join(_cell(text, j == column, bool(mask[j]), name == "key") for j, text in enumerate(cells))
        + f'<td style="padding-left: 10px; white-space: nowrap">{sums.get(name, "")}</td></tr>'
        for name, cells in lines.items()
    )
    asks = html.escape(short(state["tokens"][row]))
    caption = f'<caption style="text-align: left"><b>Row {row + 1}:</b> “{asks}” asks.</caption>'
    return (
        f'<div style="overflow-x: auto; max-width: 900px" tabindex="0"><table>{caption}{body}</table></div>'
    )


def _cell(text, picked, may, heads_column):
    look = f"font-weight: {'bold' if picked else 'normal'};"
    look += f" outline: 2px solid {COLOURS['lit']};" if picked else ""
    look += "" if may else " opacity: 0.6;"
    kind = 'th scope="col"' if heads_column else "td"
    return (
        f'<{kind} style="text-align: right; padding: 0 6px; white-space: nowrap; {look}">{text}</{kind[:2]}>'
    )


def _tokens(scores, sentence):
    tokens = tokenize(sentence) if scores == OWN else list(golden_example().tokens)
    if len(tokens) > MOST_TOKENS:
        raise ValueError(
            f"The sentence has {len(tokens)} tokens; this picture holds {MOST_TOKENS}."
            f" Take out at least {len(tokens) - MOST_TOKENS}."
        )
    return tokens


def _padded(tokens, length):
    return [*tokens[:length], *[PAD] * (len(tokens) - length)]


def _mask(n, values):
    mask = torch.ones(n, n, dtype=torch.bool)
    if values["causal"]:
        mask = mask & causal_mask(n)
    if values["padding"]:
        mask = mask & padding_mask([min(values["length"], n)], n)[0, 0]  # (1, n): the same for every query
    if values["sliding"]:
        mask = mask & sliding_window_mask(n, values["window"])
    for cell, may in _cells(values["by_hand"], n).items():
        mask[cell] = may
    return mask


def _cells(text, n):
    """Read "(3, 6)=1 (1, 1)=0", rows and columns counted from 1, as {(2, 5): True, (0, 0): False}."""
    pattern = r"\(\s*([1-9]\d*)\s*,\s*([1-9]\d*)\s*\)\s*=\s*([01])"
    if re.sub(pattern, "", text).strip(" ;,"):
        raise ValueError(
            f"“{text}” is no list of cells. Write (row, column)=1 for may attend or =0 for masked, such as"
            " (3, 6)=1 (1, 1)=0."
        )
    cells = {(int(i) - 1, int(j) - 1): may == "1" for i, j, may in re.findall(pattern, text)}
    # A shorter sentence has fewer cells: the others wait until it grows again.
    return {(i, j): may for (i, j), may in cells.items() if i < n and j < n}


def _offer_tokens(controls, tokens):
    options = tuple((f"{i + 1} {short(token)}", i) for i, token in enumerate(tokens))
    for name, start in (("query", 2), ("key", 3)):
        picker = controls[name]
        if picker.options != options:
            place = picker.value if len(picker.options) > 1 else start
            with picker.hold_trait_notifications():
                picker.options = options
            picker.value = min(place, len(tokens) - 1)

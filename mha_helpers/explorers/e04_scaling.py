"""The scale of the scores, and what the softmax makes of it, for notebook 04."""

import functools
import math

import ipywidgets as widgets
import torch

from mha_helpers import style
from mha_helpers.checks import check_choice, check_number
from mha_helpers.examples import fixed_matrix
from mha_helpers.explorers.e04_picture import ScalePicture
from mha_helpers.panel import Panel

D_MODEL = 512
D_KS = (1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128, 192, 256, 384, 512)
SENTENCES, TOKENS = 64, 16
SIZES, ALIGNMENTS = (0.5, 2.0), (0.0, 1.0)  # where their sliders begin and end
MOST_BITS = math.log2(TOKENS)  # entropy of a row in which all keys share equally
ROW = (0, 5)  # the sentence and the query whose row of weights is shown: one as good as any
STILL = 0.01  # a row with a smaller gradient learns next to nothing

# name -> what the scores are multiplied by
SCALES = {
    "none": lambda d_k: 1.0,
    "÷√d_k": lambda d_k: d_k**-0.5,
    "÷d_k": lambda d_k: 1 / d_k,
    "×√d_k": lambda d_k: d_k**0.5,
    "÷√d_model": lambda d_k: D_MODEL**-0.5,
}


def scaling_explorer(d_k=64, scale="none", size=1.0, alignment=0.0):
    """Return a ``Panel`` that shows the scores of random queries and keys, and their softmax.

    Controls: d_k (1 … 512); scale, a name of ``SCALES``; size, the spread of each number in q and k;
    alignment, the correlation of each query with the key of its own token. The data are 64 sentences
    of 16 tokens, the same on every machine. Used in notebook 04.

    ``state()`` holds q, k ``(64, 16, d_k)``; scores, scaled, weights ``(64, 16, 16)``; and, one number
    for each d_k of ``D_KS``: spread, largest, entropy (in bits), gradient, still.

    Raises ``ValueError`` for a value that its control does not have, ``TypeError`` for a size or an alignment
    that is no number.

    >>> panel = scaling_explorer(d_k=64)
    >>> panel.controls["scale"].value = "÷√d_k"
    >>> round(panel.state()["scaled"].std().item(), 1)
    1.0
    """
    check_choice("d_k", d_k, D_KS)
    check_choice("scale", scale, SCALES)
    check_number("size", size, *SIZES)
    check_number("alignment", alignment, *ALIGNMENTS)
    controls = {
        "d_k": widgets.SelectionSlider(options=D_KS, value=d_k, description="d_k"),
        "scale": widgets.ToggleButtons(
            options=list(SCALES), value=scale, description="scale", style={"button_width": "100px"}
        ),
        "size": widgets.FloatSlider(
            size, min=SIZES[0], max=SIZES[1], step=0.1, description="spread in q and k"
        ),
        "alignment": widgets.FloatSlider(
            alignment,
            min=ALIGNMENTS[0],
            max=ALIGNMENTS[1],
            step=0.05,
            description="q aligned with own key",
        ),
    }
    for name, width in {"d_k": "330px", "scale": "600px", "size": "330px", "alignment": "360px"}.items():
        controls[name].layout.width = width
    return Panel(
        controls,
        compute,
        ScalePicture(D_KS, SCALES, query=ROW[1] + 1, keys=TOKENS, bits=MOST_BITS),
        describe,
        details,
        title=f"{SENTENCES} sentences of {TOKENS} tokens, with random queries and keys",
        rows=[["d_k"], ["scale"], ["size", "alignment"]],
    )


def compute(d_k, scale, size, alignment):
    """Compute scores and weights for the chosen d_k, and the numbers of the curves for every d_k."""
    raw = _raw_scores(size, alignment)  # (d_ks, sentences, n, n)
    factors = torch.tensor([SCALES[scale](each) for each in D_KS], dtype=torch.float32)
    weights = torch.softmax(raw * factors[:, None, None, None], dim=-1)
    place = D_KS.index(d_k)
    q, k = _queries_and_keys(d_k, size, alignment)
    return {
        "d_k": d_k,
        "scale": scale,
        "size": size,
        "alignment": alignment,
        "place": place,
        "q": q,
        "k": k,
        "scores": raw[place],
        "scaled": raw[place] * factors[place],
        "weights": weights[place],
        "row": weights[place][ROW],
        "spread": raw.flatten(1).std(dim=-1) * factors,
        **measures(weights),
    }


def measures(weights):
    """Return what tells a sharp softmax from a flat one, averaged over all rows of weights.

    Shape: weights ``(…, sentences, n, n)`` -> a dict of four tensors ``(…)``. ``gradient`` is Σ α (1 − α),
    the sum over the keys of how fast a weight follows its own score.
    """
    gradient = (weights * (1 - weights)).sum(dim=-1)  # (…, sentences, n, n) -> (…, sentences, n)
    entropy = torch.special.entr(weights).sum(dim=-1) / math.log(2)
    every_row = (-2, -1)
    return {
        "largest": weights.amax(dim=-1).mean(dim=every_row),
        "entropy": entropy.mean(dim=every_row),
        "gradient": gradient.mean(dim=every_row),
        "still": (gradient < STILL).float().mean(dim=every_row),
    }


def describe(state):
    """Say what a person would say of the picture."""
    place = state["place"]
    row = state["row"]
    key = int(row.argmax())
    assumed = state["size"] == 1 and state["alignment"] == 0
    return (
        f"d_k = {state['d_k']}, {_said(state['scale'])}:"
        f" the scores have spread {_number(state['spread'][place])}"
        + (f" (the theory says {_number(_theory(state))})" if assumed else "")
        + f". On average over {SENTENCES * TOKENS} rows, the largest weight is"
        f" {_number(state['largest'][place])}, the entropy {_number(state['entropy'][place])} of"
        f" {MOST_BITS:.0f} bits, the gradient {_number(state['gradient'][place])};"
        f" {state['still'][place]:.0%} of the rows stand still (gradient below {STILL})."
        f"{_on_own_key(state)} In the row of query {ROW[1] + 1}, key {key + 1} takes {_number(row[key])}."
    )


def _on_own_key(state):
    if not state["alignment"]:
        return ""
    own = state["scaled"].diagonal(dim1=-2, dim2=-1).mean()
    return f" The score of a query on its own key is {_number(own)} on average."


def details(state):
    """Return the five scales side by side at the present d_k, as an HTML table."""
    heads = (
        "scale",
        "spread",
        "largest weight",
        f"entropy, of {MOST_BITS:.0f} bits",
        "gradient",
        "rows standing still",
    )
    cell = "text-align: right; padding: 1px 12px"
    rows = []
    for name, factor in SCALES.items():
        scaled = state["scores"] * factor(state["d_k"])
        found = measures(torch.softmax(scaled, dim=-1))
        texts = [_number(x) for x in (scaled.std(), found["largest"], found["entropy"], found["gradient"])]
        cells = "".join(f'<td style="{cell}">{text}</td>' for text in (*texts, f"{found['still']:.0%}"))
        chosen = name == state["scale"]
        mark = (
            f"border-left: 4px solid {style.COLOURS['lit'] if chosen else 'transparent'}; padding: 1px 12px"
        )
        rows.append(
            f'<tr style="font-weight: {"bold" if chosen else "normal"}">'
            f'<th scope="row" style="text-align: left; font-weight: inherit; {mark}">{name}</th>{cells}</tr>'
        )
    head = "".join(f'<th scope="col" style="{cell}">{text}</th>' for text in heads)
    return f"<p>All scales at d_k = {state['d_k']}:</p><table><tr>{head}</tr>{''.join(rows)}</table>"


def _theory(state):
    return SCALES[state["scale"]](state["d_k"]) * math.sqrt(state["d_k"])


def _said(scale):
    return "no scale" if scale == "none" else scale


def _number(value):
    return style.number(value, trim=False)


def _queries_and_keys(d_k, size, alignment):
    q, noise = _fixed_numbers()
    own = math.sqrt(1 - alignment**2)
    # A key that repeats part of its token's query: correlation `alignment`, and still variance size².
    k = alignment * q[..., :d_k] + own * noise[..., :d_k]
    return size * q[..., :d_k], size * k


def _raw_scores(size, alignment):
    with_queries, with_noise = _products()
    return size**2 * (alignment * with_queries + math.sqrt(1 - alignment**2) * with_noise)


@functools.cache
def _products():
    """q·q and q·noise for every d_k of D_KS: scores of any alignment are a mixture of the two."""
    q, noise = _fixed_numbers()
    pairs = []
    for other in (q, noise):
        by_d_k = [q[..., :d_k] @ other[..., :d_k].transpose(-2, -1) for d_k in D_KS]
        pairs.append(torch.stack(by_d_k))  # (d_ks, sentences, n, n)
    return pairs


@functools.cache
def _fixed_numbers():
    shape = (SENTENCES, TOKENS, D_MODEL)
    return tuple(
        fixed_matrix(f"scaling {name}", SENTENCES * TOKENS, D_MODEL).view(shape)
        for name in ("queries", "keys")
    )

"""Notebook 08: the same columns of W_Q, cut into more or fewer heads."""

import ipywidgets as widgets

from mha_helpers import style
from mha_helpers.attention import split_heads
from mha_helpers.checks import check_choice, check_count
from mha_helpers.examples import fixed_matrix
from mha_helpers.figures.f08_splitting_heads import (
    Stage,
    Tracks,
    heads_holding,
    misplaced,
    number_labels,
    verdict,
)
from mha_helpers.figures.words import count
from mha_helpers.panel import Panel

D_MODEL = 8
HEADS = (1, 2, 4, 8)  # every count that divides d_model
MOST_TOKENS = 5


def splitting_explorer(heads=4, tokens=3, transpose=True, follow=None):
    """Return a ``Panel`` that shows where every number of q goes when it is cut into heads.

    Controls: heads (1, 2, 4 or 8, at d_model = 8, so d_k follows), tokens, transpose (off: the same
    shape by ``view`` alone, which scrambles), follow (the token whose numbers are outlined; unless you say,
    token 1, or 0 where it is the only one). Used in notebook 08.

    ``state()`` holds x and q ``(n, d_model)``; w_q ``(d_model, d_model)``; heads ``(h, n, d_k)``, cut as
    the switch says; and, as numbers 100·t + 10·h + d, labels ``(n, d_model)`` and cut ``(h, n, d_k)``;
    misplaced ``(h, n, d_k)``, True where a number is not where it belongs.

    Raises ``TypeError`` or ``ValueError`` for a number that its slider does not have.

    >>> panel = splitting_explorer(heads=2)
    >>> panel.controls["heads"].value = 8
    >>> panel.state()["heads"].shape
    torch.Size([8, 3, 1])
    """
    check_choice("heads", heads, HEADS)
    check_count("tokens", tokens, largest=MOST_TOKENS)
    if follow is None:
        follow = min(1, tokens - 1)
    check_count("follow", follow, smallest=0, largest=tokens - 1)
    controls = {
        "heads": widgets.SelectionSlider(options=HEADS, value=heads, description="heads"),
        "tokens": widgets.IntSlider(tokens, 1, MOST_TOKENS, description="tokens"),
        "follow": widgets.IntSlider(follow, 0, tokens - 1, description="follow token t"),
        "transpose": widgets.Checkbox(transpose, description="transpose after view", indent=False),
    }
    return Panel(
        controls,
        compute,
        SplitPicture(),
        describe,
        details,
        title="One matrix, cut into heads. A label says where a number comes from: token, head, place in it.",
        rows=[["heads", "tokens"], ["follow", "transpose"]],
        adjust=adjust,
    )


def adjust(controls, values):
    """Offer only the tokens there are."""
    controls["follow"].max = values["tokens"] - 1


def compute(heads, tokens, follow, transpose):
    """Project, and cut q and its labels in the same way."""
    n, d_k = tokens, D_MODEL // heads
    x = fixed_matrix("tokens to split", D_MODEL, n).T  # one token more leaves the others as they were
    w_q = fixed_matrix("w_q to split", D_MODEL, D_MODEL)
    q = x @ w_q  # (n, d_model) @ (d_model, d_model) -> (n, d_model)
    labels = number_labels(n, heads, d_k)

    def cut(matrix):
        if transpose:
            return split_heads(matrix, heads)  # (n, d_model) -> (n, h, d_k) -> (h, n, d_k)
        return matrix.reshape(heads, n, d_k)  # the mistake: the shape of the line above, other numbers

    return {
        "x": x,
        "w_q": w_q,
        "q": q,
        "heads": cut(q),
        "labels": labels,
        "cut": cut(labels),
        "misplaced": misplaced(cut(labels)),
        "num_heads": heads,
        "n": n,
        "d_k": d_k,
        "transpose": transpose,
        "follow": min(follow, n - 1),
    }


class SplitPicture:
    """W_Q, q and the heads, one below the other, every number with its label."""

    def layout(self, state):
        return state["num_heads"], state["n"], state["transpose"]

    def draw(self, state):
        h, n, d_k = state["cut"].shape
        columns = number_labels(1, h, d_k).view(h, 1, d_k)
        matrices = "1 matrix" if h == 1 else f"{h} matrices"
        call = (
            f"q.view({n}, {h}, {d_k}).transpose(0, 1)" if state["transpose"] else f"q.view({h}, {n}, {d_k})"
        )
        stages = [
            Stage(
                f"W_Q, cut by columns into {matrices} ({D_MODEL}, {d_k})",
                columns,
                block="head",
                row="W_Q",
                of_tokens=False,
            ),
            Stage(f"q = x @ W_Q → ({n}, {D_MODEL})", state["labels"]),
            Stage(f"{call} → ({h}, {n}, {d_k})", state["cut"], block="head", note=verdict(state["cut"])),
        ]
        with style.drawing():
            tracks = Tracks(stages)
            return tracks.figure, tracks.outlines()

    def update(self, artists, state):
        for outline in artists:
            outline.follow(state["follow"])


def describe(state):
    """Say what a person would say of the picture."""
    h, n, d_k = state["cut"].shape
    t = state["follow"]
    where = f"The numbers of t{t} are in {heads_holding(state['cut'], t)}."
    return f"{count(h, 'head')} of d_k = {d_k}, {count(n, 'token')}. {verdict(state['cut'])} {where}"


def details(state):
    """Count what more heads cost: nothing in parameters, nothing in multiply-adds."""
    h, n, d_k = state["cut"].shape
    rows = (
        ("features of a head", "d_k = d_model ÷ h", f"{D_MODEL} ÷ {h} = {d_k}"),
        ("parameters of W_Q", "h · (d_model · d_k)", f"{h} · {D_MODEL * d_k} = {state['w_q'].numel()}"),
        ("multiply-adds for all scores", "h · (n² · d_k)", f"{h} · {n * n * d_k} = {h * n * n * d_k}"),
        ("scores to keep", "h · n²", f"{h} · {n * n} = {h * n * n}"),
    )
    cells = "".join(
        f'<tr><th scope="row" style="text-align: left; padding: 0 12px 0 0">{name}</th>'
        f'<td style="text-align: left; padding: 0 12px">{formula}</td>'
        f'<td style="text-align: left; padding: 0 12px">{value}</td></tr>'
        for name, formula, value in rows
    )
    return f"<table>{cells}</table>"

"""Page 01: a batch of sentences as a block of numbers, each number with its three positions."""

import ipywidgets as widgets

from mha_helpers.panel import WIDTH, Panel, index_menu, offer
from mha_helpers.sentence import fixed_matrix
from mha_helpers.svg import Drawing

MOST = (4, 6, 8)  # sentences, tokens, features
HEIGHT = 300


def shapes_explorer():
    """Return a ``Panel`` that draws x of shape ``(b, n, d_model)`` and says where a number is. Page 01.

    ``state()`` holds x ``(b, n, d_model)``, chosen ``(b, t, d)`` and before, how many numbers come before the
    chosen one in memory.

    >>> panel = shapes_explorer()
    >>> panel.click(1, 0, 2)
    >>> panel.state()["before"]  # one whole sentence of 3 · 6 numbers, and two more
    20
    """
    return Panel(
        "A batch of sentences is one block of numbers",
        controls={
            "b": widgets.IntSlider(2, 1, MOST[0], description="b sentences"),
            "n": widgets.IntSlider(3, 1, MOST[1], description="n tokens"),
            "d_model": widgets.IntSlider(6, 1, MOST[2]),
        },
        more={name: index_menu(name) for name in ("sentence", "token", "feature")},
        compute=compute,
        draw=draw,
        words=words,
        adjust=adjust,
        click=lambda values, sentence, token, feature: {
            "sentence": sentence,
            "token": token,
            "feature": feature,
        },
    )


def adjust(controls, values):
    for name, size in (("sentence", "b"), ("token", "n"), ("feature", "d_model")):
        offer(controls[name], [f"{name} {i}" for i in range(values[size])], numbered=False)


def compute(b, n, d_model, sentence, token, feature):
    sentences, tokens, features = MOST
    block = fixed_matrix("shapes", features, sentences * tokens).T.view(MOST)
    return {
        "x": block[:b, :n, :d_model].contiguous(),  # a larger block keeps the numbers of a smaller one
        "chosen": (sentence, token, feature),
        "before": (sentence * n + token) * d_model + feature,
    }


def draw(state):
    x, (sentence, token, feature) = state["x"], state["chosen"]
    b, n, d_model = x.shape
    drawing = Drawing(WIDTH, HEIGHT)
    width = WIDTH / max(b, 2)
    for i in range(b):
        drawing.heatmap(
            (i * width, 0, width - 12, HEIGHT),
            x[i],
            [f"token {t}" for t in range(n)],
            [f"feature {d}" for d in range(d_model)],
            chosen=(token, feature) if i == sentence else None,
            kind="vectors",
            colour="positive",  # grey below 0, so that the frame is seen everywhere
            title=f"sentence {i}",
            map=i,
            limit=1.8,
            axes=("", ""),
        )
    return drawing


def words(state):
    x = state["x"]
    b, n, d_model = x.shape
    sentence, token, feature = state["chosen"]
    count = f"{x.numel()} number{'s' * (x.numel() > 1)}"
    return [
        f"x has the shape ({b}, {n}, {d_model}): {b} · {n} · {d_model} = {count}.",
        f"The frame is on x[{sentence}, {token}, {feature}]: sentence, token, feature, counted from 0.",
        f"In memory {state['before']} numbers come before it:"
        f" {sentence} · {n} · {d_model} + {token} · {d_model} + {feature}.",
    ]

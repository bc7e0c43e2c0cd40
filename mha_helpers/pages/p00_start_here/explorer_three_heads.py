"""The three named heads of "cat eats fish", to be pointed at: the first picture of the course, on page 00."""

import torch

from mha_helpers.golden import golden_example
from mha_helpers.panel import WIDTH, Panel, index_menu, offer
from mha_helpers.style import head_label, number
from mha_helpers.svg import Drawing


def cat_eats_fish_heads():
    """Return a ``Panel`` with the weights of the golden example. Used in notebook 00.

    ``state()`` holds the weights ``(h, n, n)``, the tokens, the names of the heads and the chosen cell.

    >>> panel = cat_eats_fish_heads()
    >>> panel.click(0, 1, 0)
    >>> panel.description().splitlines()[0]
    'Head 1: who acts. “eats” gives “cat” 0.919 of its attention, “eats” 0.027, “fish” 0.054.'
    """
    menus = {name: index_menu(name, start) for name, start in (("head", 0), ("query", 1), ("key", 0))}
    return Panel(
        "Three heads look at “cat eats fish”",
        controls={},
        more=menus,
        compute=compute,
        draw=draw,
        words=words,
        adjust=adjust,
    )


def adjust(controls, values):
    example = golden_example()
    offer(controls["head"], example.head_names)
    offer(controls["query"], example.tokens)
    offer(controls["key"], example.tokens)


def compute(head, query, key):
    example = golden_example()
    with torch.no_grad():
        _, weights = example.attention()(example.x)
    return {
        "tokens": example.tokens,
        "names": example.head_names,
        "weights": weights,
        "chosen": (head, query, key),
    }


def draw(state):
    head, row, column = state["chosen"]
    drawing = Drawing(WIDTH, 310)
    for i, weights in enumerate(state["weights"]):
        drawing.heatmap(
            (i * 290, 0, 280, 310),
            weights,
            state["tokens"],
            state["tokens"],
            chosen=(row, column if i == head else None),
            title=head_label(i, state["names"]),
            map=i,
        )
    return drawing


def words(state):
    tokens, (head, row, _) = state["tokens"], state["chosen"]
    first, *others = (
        f"“{token}” {number(weight, 3)}"
        for token, weight in zip(tokens, state["weights"][head, row], strict=True)
    )
    name = head_label(head, state["names"]).capitalize()
    rest = ", ".join(others)
    return [
        f"{name}. “{tokens[row]}” gives {first} of its attention, {rest}.",
        "A row shows where one word looks; its three weights add up to 1.",
    ]

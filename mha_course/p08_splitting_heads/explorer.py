"""Where the numbers of a token go when q is cut into heads, rightly and wrongly, for notebook 08."""

import ipywidgets as widgets
import numpy
import torch

from mha_helpers.panel import WIDTH, Panel

WIDE, RIGHT, BELOW = 402, WIDTH - 402, 180  # each of the four tensors; where the next stands
CELL, GAP, NAMES = (60, 25), 10, 62  # at most; between two blocks; what a row is called


def splitting_explorer():
    """Return a ``Panel`` that follows a token, or a head, from q into the heads. Used in notebook 08.

    A number is known by its position in q, token · (h · d_k) + feature, counted from 0. ``state()`` holds
    these positions: q ``(n, h·d_k)``, viewed ``(n, h, d_k)``, right and wrong ``(h, n, d_k)``.

    >>> panel = splitting_explorer()
    >>> panel.set(tokens=2, heads=2, d_k=1)
    >>> panel.state()["right"].tolist(), panel.state()["wrong"].tolist()
    ([[[0], [2]], [[1], [3]]], [[[0], [1]], [[2], [3]]])
    """
    controls = {
        "tokens": widgets.IntSlider(3, 1, 4),
        "heads": widgets.IntSlider(3, 1, 4),
        "d_k": widgets.IntSlider(2, 1, 3),
    }
    more = {"follow": widgets.Dropdown(options=[("token 2", ("token", 1))])}
    title, asks = "A token, or a head, followed from q into the heads", "click a number, then again"
    return Panel(title, controls, compute, draw, words, more, adjust, click, asks, height=338)


def adjust(controls, values):
    menu, counts = controls["follow"], {"token": values["tokens"], "head": values["heads"]}
    what, index = menu.value
    menu.options = [(f"{name} {i + 1}", (name, i)) for name, count in counts.items() for i in range(count)]
    menu.value = (what, min(index, counts[what] - 1))


def click(values, head, token, feature):
    is_followed = values["follow"] == ("token", token)
    return {"follow": ("head", head) if is_followed else ("token", token)}


def compute(tokens, heads, d_k, follow):
    q = torch.arange(tokens * heads * d_k).view(tokens, heads * d_k)
    viewed, wrong = q.view(tokens, heads, d_k), q.view(heads, tokens, d_k)
    return {"q": q, "viewed": viewed, "right": viewed.transpose(0, 1), "wrong": wrong}


def draw(drawing, state):
    n, h, d_k = state["viewed"].shape
    drawing.readout = (240, BELOW - 14)  # between the arrows, whatever the sizes
    for x, y, blocks, title, block_is, row_is in (
        (0, 0, state["q"][None], f"q = x @ W_Q: ({n}, {h * d_k})", "", "token"),
        (RIGHT, 0, state["viewed"], f"q.view({n}, {h}, {d_k})", "token", "head"),
        (RIGHT, BELOW, state["right"], f"then .transpose(0, 1): ({h}, {n}, {d_k})", "head", "token"),
        (0, BELOW, state["wrong"], f"the wrong way: q.view({h}, {n}, {d_k})", "head", "token"),
    ):
        drawing.text(x, y + 14, title, 14, bold=True)
        _draw_blocks(drawing, state, x + NAMES, y + 46, blocks, block_is, row_is)
    drawing.line(WIDE - 150, 9, RIGHT - 12, 9, "label", 2, arrow=True)
    drawing.line(RIGHT + 30, BELOW - 32, RIGHT + 30, BELOW - 4, "label", 2, arrow=True)
    drawing.line(30, BELOW - 32, 30, BELOW - 4, "masked", 2, arrow=True, dashed=True)


def _draw_blocks(drawing, state, start, top, blocks, block_is, row_is):
    """Draw (blocks, rows, d) side by side; a number has the colour of the head it belongs to."""
    (count, _, columns), (_, h, d_k) = blocks.shape, state["viewed"].shape
    wide = min(CELL[0], (WIDE - NAMES - GAP * (count - 1)) / (count * columns))
    for (block, row, column), position in numpy.ndenumerate(blocks):
        left = start + block * (columns * wide + GAP)
        x, y = left + column * wide, top + row * CELL[1]
        if block == column == 0:
            drawing.text(left - 8, y + 17, f"{row_is} {row + 1}", 13, "end")
        if block_is and row == column == 0:
            colour = f"head {block + 1}" if block_is == "head" else "ink"
            drawing.text(left, top - 8, f"{block_is} {block + 1}", 13, colour=colour, bold=True)
        token, feature = divmod(position, h * d_k)
        head = feature // d_k
        lit = state["follow"] in (("token", token), ("head", head))
        hover = f"token {token + 1}, feature {feature + 1}: it belongs to head {head + 1}"
        marks = (f"head {head + 1}", 1 if lit else 0.2, hover, (head, token, feature))
        drawing.rect(x + 1, y + 1, wide - 2, CELL[1] - 2, *marks)
        t, f = f"t{token + 1}", f"f{feature + 1}"
        for name, down in [(f"{t} {f}", 17)] if wide > 44 else [(t, 11), (f, 22)]:
            drawing.text(x + wide / 2, y + down, name, 11, "middle", "#ffffff" if lit else "ink", lit)


def words(state):
    (n, h, d_k), (what, index), wrong = state["viewed"].shape, state["follow"], state["wrong"]
    if what == "token":
        kept = f"Token {index + 1} has a row in each head, with {d_k} of its {h * d_k} numbers."
        lost = f"its numbers are in {_listed('head', state['q'][index] // (n * d_k))}"
    else:
        owned = _listed("feature", state["viewed"][0, index]).removesuffix(" only")
        kept = f"Head {index + 1} owns {owned} of every token."
        lost = f"head {index + 1} is filled with numbers of {_listed('token', wrong[index] // (h * d_k))}"
    count = int((state["right"] != wrong).sum())
    if not count:
        return [kept, "With one head, or with one token, the wrong way gives the same: no test can tell."]
    misplaced = f"Same shape, and {count} of {n * h * d_k} numbers in a wrong place."
    return [kept, f"The wrong way: {lost}.", misplaced]


def _listed(name, indices):
    """Write indices, counted from 0, as a person would: "head 2 only", "heads 1, 2 and 3"."""
    *others, last = [str(index + 1) for index in indices.unique().tolist()]
    return f"{name}s {', '.join(others)} and {last}" if others else f"{name} {last} only"

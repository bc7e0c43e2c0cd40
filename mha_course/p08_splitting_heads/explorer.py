"""Where the numbers of a token go when q is cut into heads, and how heads then attend, for notebook 08."""

import ipywidgets as widgets
import numpy
import torch

from mha_helpers import attention_weights, fixed_matrix, scale_scores
from mha_helpers.panel import WIDTH, Explorer, Panel
from mha_helpers.style import number

WIDE, RIGHT, BELOW = 402, WIDTH - 402, 148  # each of the four tensors; where the next stands
CELL, GAP, NAMES = (60, 22), 10, 62  # at most; between two blocks; what a row is called
WEIGHTS, WEIGHT = 303, (28, 15)  # where the heatmaps begin; a cell of them, at most


def splitting_explorer():
    """Return a ``Panel`` that follows a token, or a head, from q into the heads. Used in notebook 08.

    A number is known by its position in q, token · (h · d_k) + feature, counted from 0. ``state()`` holds
    these positions: q ``(n, h·d_k)``, viewed ``(n, h, d_k)``, right and wrong ``(h, n, d_k)``; and
    the weights ``(h, n, n)`` of random queries and keys that are cut in either way.

    >>> panel = splitting_explorer()
    >>> panel.set(tokens=2, heads=2, d_k=1)
    >>> panel.state()["right"].tolist(), panel.state()["wrong"].tolist()
    ([[[0], [2]], [[1], [3]]], [[[0], [1]], [[2], [3]]])
    """
    return Panel(explorer=SplittingExplorer())


class SplittingExplorer(Explorer):
    title, asks = "A token, or a head, followed from q into the heads", "click a number, then again"
    height, more = 364, ("follow",)

    def controls(self):
        sliders = {"tokens": (3, 1, 4), "heads": (3, 1, 4), "d_k": (2, 1, 3)}  # all three in one row
        return {
            **{name: widgets.IntSlider(*at, layout={"width": "270px"}) for name, at in sliders.items()},
            "follow": widgets.Dropdown(options=[("token 2", ("token", 1))]),
        }

    def adjust(self, controls, values):
        menu, counts = controls["follow"], {"token": values["tokens"], "head": values["heads"]}
        what, index = menu.value
        choices = [(name, i) for name, count in counts.items() for i in range(count)]
        menu.options = [(f"{name} {i + 1}", (name, i)) for name, i in choices]
        menu.value = (what, min(index, counts[what] - 1))

    def click(self, values, head, token, feature):
        is_followed = values["follow"] == ("token", token)
        return {"follow": ("head", head) if is_followed else ("token", token)}

    def compute(self, tokens, heads, d_k, follow):
        q = torch.arange(tokens * heads * d_k).view(tokens, heads * d_k)
        viewed, wrong = q.view(tokens, heads, d_k), q.view(heads, tokens, d_k)
        state = {"q": q, "viewed": viewed, "right": viewed.transpose(0, 1), "wrong": wrong}
        asks, answers = (1.5 * fixed_matrix(f"cut {role}", 1, q.numel())[0] for role in ("query", "key"))
        for name in ("right", "wrong"):  # the numbers that stand at these positions
            scores = asks[state[name]] @ answers[state[name]].mT  # (h, n, d_k) @ (h, d_k, n) -> (h, n, n)
            state[f"{name} weights"] = attention_weights(scale_scores(scores, d_k))
        return state

    def draw(self, drawing, state):
        n, h, d_k = state["viewed"].shape
        drawing.readout = (240, BELOW - 2)  # between the arrows, whatever the sizes
        for x, y, blocks, title, block_is, row_is in (
            (0, 0, state["q"][None], f"q = x @ W_Q: ({n}, {h * d_k})", "", "token"),
            (RIGHT, 0, state["viewed"], f"q.view({n}, {h}, {d_k})", "token", "head"),
            (RIGHT, BELOW, state["right"], f"then .transpose(0, 1): ({h}, {n}, {d_k})", "head", "token"),
            (0, BELOW, state["wrong"], f"the wrong way: q.view({h}, {n}, {d_k})", "head", "token"),
        ):
            drawing.text(x, y + 14, title, 14, bold=True)
            _draw_blocks(drawing, state, (x + NAMES, y + 46), blocks, block_is, row_is)
        for x, name in ((0, "wrong"), (RIGHT, "right")):
            title = "weights of each head: a row asks, a column answers"
            drawing.text(x, WEIGHTS - 6, title, 13, colour="label")
            _draw_weights(drawing, x + NAMES, state[f"{name} weights"])
        drawing.line(WIDE - 150, 9, RIGHT - 12, 9, "label", 2, arrow=True)
        for x, rows, style in ((RIGHT + 30, h, {}), (30, n, {"dashed": True})):
            colour = "masked" if style else "label"
            drawing.line(x, 48 + rows * CELL[1], x, BELOW, colour, 2, arrow=True, **style)

    def words(self, state):
        (n, h, d_k), (what, index), wrong = state["viewed"].shape, state["follow"], state["wrong"]
        if what == "token":
            kept = f"Token {index + 1} has a row in each head, with {d_k} of its {h * d_k} numbers."
            lost = f"its numbers are in {_listed('head', state['q'][index] // (n * d_k))}"
        else:
            owned = _listed("feature", state["viewed"][0, index]).removesuffix(" only")
            kept = f"Head {index + 1} owns {owned} of every token."
            lost = f"head {index + 1} is filled with numbers of {_listed('token', wrong[index] // (h * d_k))}"
        moved = (state["right weights"] - state["wrong weights"]).abs().flatten(1).amax(dim=-1)  # (h)
        count, differ = int((state["right"] != wrong).sum()), int((moved > 0.005).sum())
        if not count:
            return [kept, "With one head, or with one token, the wrong way gives the same: no test can tell."]
        misplaced = f"{count} of {n * h * d_k} numbers are in the wrong place"
        attend = f"Same shape, but {misplaced}, and {differ} of {h} heads attend differently."
        return [kept, f"The wrong way: {lost}.", attend]


def _draw_blocks(drawing, state, corner, blocks, block_is, row_is):
    """Draw (blocks, rows, d) side by side, with their names."""
    count, _, columns = blocks.shape
    width = min(CELL[0], (WIDE - NAMES - GAP * (count - 1)) / (count * columns))
    for (block, row, column), position in numpy.ndenumerate(blocks):
        left, y = corner[0] + block * (columns * width + GAP), corner[1] + row * CELL[1]
        if block == column == 0:
            drawing.text(left - 8, y + 16, f"{row_is} {row + 1}", 13, "end")
        if block_is and row == column == 0:
            colour = f"head {block + 1}" if block_is == "head" else "ink"
            drawing.text(left, y - 8, f"{block_is} {block + 1}", 13, colour=colour, bold=True)
        _draw_number(drawing, state, position, left + column * width, y, width)


def _draw_number(drawing, state, position, x, y, width):
    """Draw one number of q in the colour of the head it belongs to."""
    _, h, d_k = state["viewed"].shape
    token, feature = divmod(position, h * d_k)
    head = feature // d_k
    lit = state["follow"] in (("token", token), ("head", head))
    hover = f"token {token + 1}, feature {feature + 1}: it belongs to head {head + 1}"
    style = (f"head {head + 1}", 1 if lit else 0.2, hover, (head, token, feature))
    drawing.rect(x + 1, y + 1, width - 2, CELL[1] - 2, *style)
    names = (f"t{token + 1}", f"f{feature + 1}")
    for name, down in [(" ".join(names), 16)] if width > 44 else zip(names, (10, 19), strict=True):
        drawing.text(x + width / 2, y + down, name, 11, "middle", "#ffffff" if lit else "ink", lit)


def _draw_weights(drawing, start, weights):
    (h, n, _), height = weights.shape, WEIGHT[1]
    width = min(WEIGHT[0], (WIDE - NAMES - GAP * (h - 1)) / (h * n))
    for (head, query, key), weight in numpy.ndenumerate(weights.float().numpy()):
        x, y = start + head * (n * width + GAP) + key * width, WEIGHTS + query * height
        hover = f"head {head + 1}: token {query + 1} → token {key + 1}: {number(weight, trim=False)}"
        drawing.rect(x, y, width - 1, height - 1, f"head {head + 1}", 0.06 + 0.94 * float(weight), hover)


def _listed(name, indices):
    """Write indices, counted from 0, as a person would: "head 2 only", "heads 1, 2 and 3"."""
    *others, last = [str(index + 1) for index in indices.unique().tolist()]
    return f"{name}s {', '.join(others)} and {last}" if others else f"{name} {last} only"

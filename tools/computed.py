"""What an explorer that a browser computes is given by Python: its heads in numbers, colours and places."""

import math

import torch

from mha_helpers.layout import lay_out_heads
from mha_helpers.panel import WIDTH
from mha_helpers.sentence import LARGEST_D_K, TURNS, hand_made_heads, sinusoidal_positions
from mha_helpers.style import COLOURS, HEAD_COLOURS, ink_on, tint


def heads_in_numbers(num_heads, num_words):
    """Return the heads' names, the columns of W_Q and W_K in whole multiples of a step, and the positions."""
    w_q, w_k, _, names = hand_made_heads(num_heads, LARGEST_D_K)
    step = math.sqrt(12 / w_q.shape[1]) / (2 * 65_535)  # numbers of random heads are whole multiples of it
    steps = [step if name == "random" else 1e-9 for name in names]
    by_head = torch.tensor(steps, dtype=torch.float64)[:, None, None]
    columns = [(w.mT / by_head).round().long().tolist() for w in (w_q, w_k)]
    steady = [0 if name in ("same word", "random") else 2 * len(TURNS) - 4 for name in names]
    positions = sinusoidal_positions(num_words).double().round(decimals=9).tolist()
    heads = {"names": names, "steps": steps, "columns": columns, "steady": steady}
    return heads | {"positions": positions}


def drawn_so(height, num_heads):
    """Return colours, from which opacity on numbers on each are white, and where so many heads stand."""
    box, counts = (0, 0, WIDTH, height), range(1, num_heads + 1)
    hues = (*COLOURS.values(), *HEAD_COLOURS)
    white = {hue: sum(ink_on(tint(hue, i / 100)) == "black" for i in range(101)) / 100 for hue in hues}
    places = [lay_out_heads(box, count * (count > 1)) for count in counts]
    return {"colours": COLOURS, "heads": HEAD_COLOURS, "places": places, "white": white}

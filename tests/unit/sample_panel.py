"""A panel that belongs to no page, for the tests of how panels behave."""

import io

import ipywidgets as widgets
import numpy as np
import torch
from PIL import Image

from mha_helpers.head_grid import HeadGrid
from mha_helpers.panel import Panel


def weights_of(n, heads=2, shift=0.0):
    numbers = torch.arange(heads * n * n, dtype=torch.float32).view(heads, n, n)
    return torch.softmax(torch.sin(numbers + shift), dim=-1)


def compute(n, shift, word):
    if word == "bad":
        raise ValueError('the word <b>"bad"</b> is not allowed; type another.')
    if word == "broken":
        raise KeyError("a mistake of ours")
    return {
        "weights": weights_of(n, shift=shift),
        "tokens": [f"{word}{i}" for i in range(n)],
        "mask": torch.ones(n, n, dtype=torch.bool).tril(),
    }


def describe(state):
    return f"{len(state['tokens'])} tokens <&>"


def make_panel(**options):
    controls = {
        "n": widgets.IntSlider(3, 1, 40),
        "shift": widgets.FloatSlider(0.0, min=0.0, max=9.0, continuous_update=False),
        "word": widgets.Text("t"),
    }
    return Panel(controls, compute, HeadGrid(), describe, **{"title": "A <panel>", **options})


def pixels(png):
    return np.asarray(Image.open(io.BytesIO(png)).convert("RGB")).astype(int)

"""HeadGrid: the picture most explorers show, one heatmap for each head, for use in a ``Panel``."""

import math

import matplotlib
import numpy as np
from matplotlib.cm import ScalarMappable
from matplotlib.collections import PolyCollection
from matplotlib.colors import Normalize
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle
from matplotlib.transforms import Bbox, IdentityTransform, TransformedBbox

from mha_helpers import style
from mha_helpers.checks import check_length
from mha_helpers.heatmap_cells import NUMBERS_FROM, HeatmapCells
from mha_helpers.placement import POINTS, Placement, fitting

_EMPTY = "#EDEDED"  # behind the hatching


class HeadGrid:
    """Heatmaps of all heads on one scale, with one colour bar. Rows are queries, columns are keys.

    ``name`` says which tensor of the state to draw, ``(h, rows, columns)`` or ``(rows, columns)``;
    ``kind`` is "weights" (scale 0 … 1), "scores" or "vectors" (a scale around 0, which grows in round
    steps). ``axes`` are the words on the two axes. ``below`` pixels stay free under the heatmaps: a
    picture that shows more there extends ``draw`` and ``update``.

    Read from the state if present: ``tokens`` (or ``row_labels`` and ``column_labels``), ``mask`` (bool,
    True = may attend, any shape that broadcasts to the tensor), ``head_names``, ``selected`` (row,
    column), ``selected_head``, and ``heads_on`` (a bool for each head; the others are shown faded).

    Where the mask is False, or the number is not finite, no cell is drawn and the hatching behind
    shows. Numbers are written into the cells as long as they fit.
    """

    def __init__(self, name="weights", kind="weights", axes=("query", "key"), bar_label=None, below=0):
        if kind not in style.CMAPS:
            raise ValueError(f"kind must be one of {', '.join(style.CMAPS)}, got {kind!r}.")
        self.name, self.kind, self.axes, self.below = name, kind, axes, below
        self.bar_label = bar_label or {"weights": "weight", "scores": "score"}.get(kind, name)

    def layout(self, state):
        values = self._values(state)
        names = tuple(state.get("head_names") or ())
        rows, columns = self._labels(state, values)
        return (values.shape, rows, columns, names, self._limit(values))

    def draw(self, state):
        values = self._values(state)
        heads, n_rows, n_columns = values.shape
        row_labels, column_labels = self._labels(state, values)
        self._check(state, values, row_labels, column_labels)
        place = Placement(
            heads, n_rows, n_columns, row_labels, column_labels, self.below, self.least_width(state)
        )
        limit = self._limit(values)
        low, high = (0.0, 1.0) if self.kind == "weights" else (-limit, limit)
        cmap = style.CMAPS[self.kind]
        with style.drawing(), matplotlib.rc_context({"font.size": POINTS}):
            size = (place.width / style.SCREEN_DPI, place.height / style.SCREEN_DPI)
            figure = Figure(figsize=size, dpi=style.SCREEN_DPI, facecolor="white")
            names = state.get("head_names") or [f"head {head + 1}" for head in range(heads)]
            scale = (low, high, cmap)
            grids = [self._draw_head(figure, place, head, names[head], scale) for head in range(heads)]
            self._draw_labels(figure, place, row_labels, column_labels)
            masked = self._draw_bar(figure, place, scale)
            selected = [
                # All heads in one artist: drawn one by one, they would take as long as the cells.
                figure.add_artist(
                    PolyCollection(
                        [], facecolor="none", edgecolor=edge, linewidth=width, transform=IdentityTransform()
                    )
                )
                for edge, width in ((style.COLOURS["ink"], 3.2), (style.COLOURS["lit"], 1.6))
            ]
        return figure, {"heads": grids, "masked": masked, "selected": selected}

    def update(self, artists, state):
        values = self._values(state)
        switches = state.get("heads_on")
        switches = [True] * len(values) if switches is None else switches
        for head, parts in enumerate(artists["heads"]):
            on = bool(switches[head])
            parts["cells"].values = values[head]
            parts["cells"].shows_numbers = on
            parts["veil"].set_visible(not on)
            parts["off"].set_visible(not on)
            parts["frame"].set_visible(state.get("selected_head") == head)
        chosen = state.get("selected")
        for mark in artists["selected"]:
            mark.set_verts([parts["cells"].outline(*chosen) for parts in artists["heads"] if chosen])
        for artist in artists["masked"]:
            artist.set_visible(bool(np.ma.is_masked(values)))

    def legend(self, state):
        """Return, in HTML, which token each number stands for where no font has the characters."""
        own = [state.get("row_labels"), state.get("column_labels")]
        legends = [style.display_labels(list(labels))[1] for labels in own if labels is not None]
        if len(legends) < 2 and state.get("tokens") is not None:
            legends.append(style.display_labels(list(state["tokens"]))[1])
        return "".join(dict.fromkeys(legends))

    def least_width(self, state):
        """Return the pixels that what is shown ``below`` needs; one short token makes narrow heatmaps."""
        return 0

    def _values(self, state):
        values = _as_array(state[self.name])
        values = values.reshape(-1, *values.shape[-2:])
        mask = state.get("mask")
        if mask is not None:
            mask = _as_array(mask)
            while mask.ndim > 3:
                mask = mask[0]
            values = np.where(mask, values, np.nan)
        return np.ma.masked_invalid(values)

    def _labels(self, state, values):
        n_rows, n_columns = values.shape[1:]
        tokens = state.get("tokens")
        labels = []
        for key, length in (("row_labels", n_rows), ("column_labels", n_columns)):
            own = state.get(key, tokens)
            own = range(1, length + 1) if own is None else own
            labels.append(tuple(style.display_labels([str(label) for label in own])[0]))
        return labels

    def _check(self, state, values, row_labels, column_labels):
        # Only where the picture is drawn anew: a slider that moves must not wait for it.
        for key in (self.name, "mask"):
            shape = () if state.get(key) is None else tuple(np.shape(state[key]))
            if any(size > 1 for size in shape[:-3]):
                raise ValueError(
                    f"{key} {shape} holds more than one sentence, and this picture shows one. Try {key}[0]."
                )
        heads, n_rows, n_columns = values.shape
        for labels, key, size, axis in (
            (row_labels, "row_labels", n_rows, "row"),
            (column_labels, "column_labels", n_columns, "column"),
        ):
            name = key if state.get(key) is not None else "tokens"
            check_length(name, labels, size, f"{axis} of {self.name}")
        for key in ("head_names", "heads_on"):
            if state.get(key) is not None:
                check_length(key, state[key], heads, "head")

    def _limit(self, values):
        if self.kind == "weights":
            return 1.0
        largest = np.abs(values).max() if values.count() else 1.0
        step = 10.0 ** math.floor(math.log10(max(float(largest), 1e-6)))
        return next(step * times for times in (1, 2, 5, 10) if step * times >= largest * (1 - 1e-6))

    def _draw_head(self, figure, place, head, name, scale):
        n_rows, n_columns = place.n_rows, place.n_columns
        pixels, in_cells = place.pixels(figure), place.cells(figure, head)
        colour, ink = style.head_colour(head), style.COLOURS["ink"]

        def box(**look):
            return figure.add_artist(Rectangle((0, 0), n_columns, n_rows, transform=in_cells, **look))

        box(facecolor=_EMPTY, edgecolor=style.COLOURS["masked"], hatch=style.MASKED_HATCH, linewidth=0.8)
        # The colour is a square beside the name: pale head colours would not be readable as text.
        left, top = place.left(head), place.top(head)
        figure.add_artist(Rectangle((left, top - 15), 10, 10, color=colour, transform=pixels))
        name = fitting(style.drawable_text(name, f"head {head + 1}"), place.side_width - 14)
        figure.text(left + 14, top - 5, name, transform=pixels, va="bottom", parse_math=False)

        where = TransformedBbox(Bbox([[0, n_rows], [n_columns, 0]]), in_cells)
        decimals = (2 if self.kind == "weights" else 1) if place.cell >= NUMBERS_FROM else None
        cells = figure.add_artist(HeatmapCells(where, scale, decimals))
        middle = {"ha": "center", "va": "center", "fontsize": 12, "color": ink}
        return {
            "cells": cells,
            "veil": box(color="white", alpha=0.78),
            "off": figure.text(n_columns / 2, n_rows / 2, "off", transform=in_cells, **middle),
            "frame": box(fill=False, edgecolor=colour, linewidth=3),
        }

    def _draw_labels(self, figure, place, row_labels, column_labels):
        pixels = place.pixels(figure)
        look = {"transform": pixels, "fontsize": place.points}
        for row in range(0, len(row_labels), place.step):
            for head in range(0, place.heads, place.across):
                y = place.top(head) + (row + 0.5) * place.cell_height
                x = place.left(head) - 4
                figure.text(x, y, row_labels[row], ha="right", va="center_baseline", **look)
        for column in range(0, len(column_labels), place.step):
            for head in range(max(0, place.heads - place.across), place.heads):
                x = place.left(head) + (column + 0.5) * place.cell_width
                y = place.top(head) + place.side_height + 4
                turned = {"ha": "center", "va": "top", "rotation": 0 if place.flat_labels else 90}
                figure.text(x, y, column_labels[column], **turned, **look)
        bold = {"transform": pixels, "fontweight": "bold", "ha": "center"}
        middle_x = (place.left(0) + place.left(place.across - 1) + place.side_width) / 2
        middle_y = (place.top(0) + place.top(place.heads - 1) + place.side_height) / 2
        figure.text(8, middle_y, self.axes[0], rotation=90, va="center", color=style.COLOURS["query"], **bold)
        figure.text(
            middle_x, place.grid_height - 4, self.axes[1], va="bottom", color=style.COLOURS["key"], **bold
        )

    def _draw_bar(self, figure, place, scale):
        low, high, cmap = scale
        pixels = place.pixels(figure)
        height = min(220, place.grid_height - place.top(0) - 42)
        axes = figure.add_axes(place.fractions(place.bar_left, place.top(0), 12, height))
        figure.colorbar(ScalarMappable(Normalize(low, high), cmap), cax=axes, label=self.bar_label)
        axes.yaxis.set_label_position("right")
        left, top = place.bar_left, place.top(0) + height + 14
        swatch = Rectangle((left, top), 13, 13, facecolor=_EMPTY, hatch=style.MASKED_HATCH, transform=pixels)
        swatch.set_edgecolor(style.COLOURS["masked"])
        word = figure.text(left + 17, top + 6, "masked", va="center", transform=pixels)
        return [figure.add_artist(swatch), word]


def _as_array(values):
    if hasattr(values, "detach"):
        values = values.detach().cpu()
        if values.is_floating_point():
            values = values.float()  # numpy has no bfloat16
        return values.numpy()
    return np.asarray(values)
